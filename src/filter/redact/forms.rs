//! Finds secrets by structure rather than prefix: private keys, web tokens, URLs with a password, HTTP headers.

use super::hit::Hit;
use super::kind::Certainty;
use super::proof::is_wif;
use super::value::{is_example, is_reference};
use crate::format::base64;
use std::ops::Range;

/// Finds all of them.
pub fn find(text: &str, found: &mut Vec<Hit>) {
    private_keys(text, found);
    web_tokens(text, found);
    addresses(text, found);
    headers(text, found);
    words(text, found);
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// The run of characters of a set around a position.
fn run(text: &str, at: usize, has: impl Fn(u8) -> bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..at].iter().rev().take_while(|byte| has(**byte)).count();
    let after = bytes[at..].iter().take_while(|byte| has(**byte)).count();
    at - before..at + after
}

/// Finds text from `-----BEGIN` to `-----END ...-----`, even if line breaks are written as `\n`.
fn private_keys(text: &str, found: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("-----BEGIN ") {
        let start = from + at;
        let label = &text[start + 11..];
        let Some(length) = label.find("-----").filter(|length| *length < 60) else {
            from = start + 11;
            continue;
        };
        let label = &label[..length];
        let after = start + 11 + length + 5;
        from = after;
        if !label.contains("PRIVATE KEY") {
            continue;
        }
        let closing = format!("-----END {label}-----");
        // A truncated key ends with its last valid line.
        let end = text[after..].find(&closing).map_or_else(
            || {
                let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n\\ -:,".contains(byte);
                after
                    + text.as_bytes()[after..]
                        .iter()
                        .take_while(|byte| is_key(byte))
                        .count()
            },
            |at| after + at + closing.len(),
        );
        if end - after < 64 || is_example(text[after..end].trim()) {
            continue;
        }
        let kind = if label.contains("PGP") {
            "pgp-private-key"
        } else {
            "private-key"
        };
        found.push(Hit::new(start..end, kind, Certainty::Definite));
        from = end;
    }
}

/// Finds three base64url parts separated by dots, of which the first two decode to JSON objects.
fn web_tokens(text: &str, found: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("eyJ") {
        let start = from + at;
        let run = run(text, start, |byte| is_word(byte) || byte == b'.');
        from = run.end.max(start + 3);
        let token = &text[start..run.end];
        let mut parts = token.split('.');
        let is_object = |part: Option<&str>| {
            let bytes = part.and_then(|part| base64::decode(part.as_bytes()));
            bytes.is_some_and(|(_, bytes)| {
                serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes).is_ok()
            })
        };
        if start == run.start
            && is_object(parts.next())
            && is_object(parts.next())
            && parts.next().is_some_and(|signature| signature.len() >= 16)
        {
            found.push(Hit::new(start..run.end, "jwt", Certainty::Definite));
        }
    }
}

/// Finds `scheme://user:password@host`, and `sig=` in the query of an Azure URL.
fn addresses(text: &str, found: &mut Vec<Hit>) {
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let after = from + at + 3;
        from = after;
        let is_end = |c: char| c.is_whitespace() || "\"'<>`\\".contains(c);
        let rest = &text[after..];
        let rest = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let authority = rest.find(['/', '?']).unwrap_or(rest.len());
        // A password may contain any of these characters if a host follows.
        let authority = match rest[..authority].contains('@') {
            true => &rest[..authority],
            false => rest,
        };
        if let Some((user, _)) = authority.rsplit_once('@')
            && let Some((name, password)) = user.split_once(':')
            && !name.contains('/')
            && !password.is_empty()
            && !is_reference(password)
            && !is_example(password)
            && !matches!(password, "password" | "pass" | "secret" | "pw" | "***")
        {
            let start = after + name.len() + 1;
            found.push(Hit::new(
                start..start + password.len(),
                "url-password",
                Certainty::Definite,
            ));
        }
        if let Some(at) = rest.find("sig=").filter(|at| rest[..*at].ends_with(['?', '&']))
            && rest.contains("sv=")
        {
            let value = &rest[at + 4..];
            let value = &value[..value.find('&').unwrap_or(value.len())];
            if value.len() >= 40 {
                let start = after + at + 4;
                found.push(Hit::new(
                    start..start + value.len(),
                    "azure-sas",
                    Certainty::Likely,
                ));
            }
        }
    }
}

/// Finds `Bearer X`, `Basic X`, and the values of session cookies.
fn headers(text: &str, found: &mut Vec<Hit>) {
    let lower = text.to_ascii_lowercase();
    let token = |from: usize| {
        let has = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        from..from
            + text.as_bytes()[from..]
                .iter()
                .take_while(|byte| has(byte))
                .count()
    };
    for (at, _) in lower.match_indices("bearer ") {
        let range = token(at + 7);
        let value = text[range.clone()].trim_end_matches('.');
        let has_digit = value.contains(|c: char| c.is_ascii_digit());
        if value.len() >= 20 && has_digit && !is_reference(value) && !is_example(value) {
            found.push(Hit::new(
                range.start..range.start + value.len(),
                "bearer-token",
                Certainty::Likely,
            ));
        }
    }
    for (at, _) in lower.match_indices("basic ") {
        let range = token(at + 6);
        let decoded = base64::decode(text[range.clone()].as_bytes())
            .and_then(|(_, bytes)| String::from_utf8(bytes).ok());
        let is_pair = decoded.is_some_and(|pair| {
            let printable = !pair.chars().any(char::is_control);
            printable
                && pair
                    .split_once(':')
                    .is_some_and(|(_, password)| !password.is_empty() && !is_example(password))
        });
        if range.len() >= 8 && is_pair {
            found.push(Hit::new(range, "basic-auth", Certainty::Definite));
        }
    }
    for (at, _) in lower.match_indices("cookie:") {
        let line = at + 7
            ..lower[at..]
                .find(['\n', '\r', '\'', '"'])
                .map_or(lower.len(), |end| at + end);
        let mut start = line.start;
        for pair in text[line].split(';') {
            let offset = start;
            start += pair.len() + 1;
            let Some((name, value)) = pair.split_once('=') else {
                continue;
            };
            let name_lower = name.trim().to_ascii_lowercase();
            let names_session = ["sess", "auth", "token", "sid", "jwt"]
                .iter()
                .any(|part| name_lower.contains(part));
            if names_session && value.len() >= 16 && !is_reference(value) && !is_example(value) {
                let from = offset + name.len() + 1;
                found.push(Hit::new(
                    from..from + value.trim_end().len(),
                    "session-cookie",
                    Certainty::Likely,
                ));
            }
        }
    }
}

/// Finds tokens without a prefix: Discord, Telegram, Mailchimp, Terraform, and Bitcoin private keys.
fn words(text: &str, found: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(".atlasv1.") {
        let before = run(text, at, |byte| byte.is_ascii_alphanumeric()).start..at;
        let after = bytes[at + 9..].iter().take_while(|byte| is_word(**byte)).count();
        if before.len() == 14 && after >= 60 {
            found.push(Hit::new(
                before.start..at + 9 + after,
                "terraform-token",
                Certainty::Definite,
            ));
        }
    }
    for (at, _) in text.match_indices(":AA") {
        let digits = bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let after = bytes[at + 1..].iter().take_while(|byte| is_word(**byte)).count();
        if (8..=10).contains(&digits) && after == 35 {
            found.push(Hit::new(
                at - digits..at + 1 + after,
                "telegram-bot-token",
                Certainty::Definite,
            ));
        }
    }
    for (at, _) in text.match_indices("-us") {
        let before = bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let after = bytes[at + 3..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if before == 32 && (1..=2).contains(&after) {
            found.push(Hit::new(
                at - 32..at + 3 + after,
                "mailchimp-key",
                Certainty::Definite,
            ));
        }
    }
    let mut from = 0;
    while let Some(at) = text[from..].find('.') {
        let at = from + at;
        from = at + 1;
        let first = bytes[..at]
            .iter()
            .rev()
            .take(30)
            .take_while(|byte| is_word(**byte))
            .count();
        let middle = bytes[at + 1..]
            .iter()
            .take(8)
            .take_while(|byte| is_word(**byte))
            .count();
        let last = at + 2 + middle;
        if !(23..=28).contains(&first) || middle != 6 || bytes.get(last - 1) != Some(&b'.') {
            continue;
        }
        let after = bytes[last..].iter().take_while(|byte| is_word(**byte)).count();
        // The first part encodes the account number.
        let account = base64::decode(&bytes[at - first..at]);
        let is_number = account.is_some_and(|(_, account)| account.iter().all(u8::is_ascii_digit));
        if (27..=40).contains(&after) && is_number {
            found.push(Hit::new(
                at - first..last + after,
                "discord-token",
                Certainty::Definite,
            ));
            from = last + after;
        }
    }
    let mut start = 0;
    while start < bytes.len() {
        let length = bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        if matches!(length, 51 | 52) && b"5KL".contains(&bytes[start]) && is_wif(&text[start..start + length])
        {
            found.push(Hit::new(
                start..start + length,
                "bitcoin-wif",
                Certainty::Definite,
            ));
        }
        start += length.max(1);
    }
}
