//! Finds long runs of letters and digits that may be or contain a secret.

use super::proof::is_wif;
use crate::format::base64;

/// Minimum length of a run.
const MINIMUM: usize = 16;

/// The characters of both Base64 alphabets.
const DIGIT: [bool; 256] = {
    let mut digit = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        digit[byte] = c.is_ascii_alphanumeric() || c == b'+' || c == b'/' || c == b'-' || c == b'_';
        byte += 1;
    }
    digit
};

/// Whether a text has a run that may be a secret: Base64 of text, a Bitcoin private key, a Discord token.
pub fn has_run(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(window) = text.get(at..at + MINIMUM) {
        if let Some(last) = window.iter().rposition(|byte| !DIGIT[usize::from(*byte)]) {
            at += last + 1;
            continue;
        }
        let more = text[at + MINIMUM..]
            .iter()
            .take_while(|byte| DIGIT[usize::from(**byte)]);
        let end = at + MINIMUM + more.count();
        if may_be_secret(text, at, end) {
            return true;
        }
        at = end + 1;
    }
    false
}

fn may_be_secret(text: &[u8], start: usize, end: usize) -> bool {
    // The character of an escape is not part of the run after it.
    let start = match start.checked_sub(1).map(|before| text[before]) {
        Some(b'\\') if text[start] == b'u' => start + 5,
        Some(b'\\') => start + 1,
        _ => start,
    };
    let run = &text[start.min(end)..end];
    let is_discord = || {
        let rest = &text[end..];
        run.len() >= 20 && rest.first() == Some(&b'.') && rest.get(7) == Some(&b'.')
    };
    run.len() >= MINIMUM && (is_encoded(run) || is_discord()) || has_wif(run)
}

/// Whether Base64 decodes to text at its beginning.
fn is_encoded(run: &[u8]) -> bool {
    let Some((_, bytes)) = base64::decode(&run[..MINIMUM]) else {
        return false;
    };
    let is_text = match std::str::from_utf8(&bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_text
        && !bytes
            .iter()
            .any(|byte| byte.is_ascii_control() && !b"\n\r\t".contains(byte))
}

fn has_wif(run: &[u8]) -> bool {
    let is_key = |word: &[u8]| {
        matches!(word.len(), 51 | 52)
            && b"5KL".contains(&word[0])
            && std::str::from_utf8(word).is_ok_and(is_wif)
    };
    run.len() > 50 && run.split(|byte| !byte.is_ascii_alphanumeric()).any(is_key)
}
