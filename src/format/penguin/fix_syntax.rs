//! Corrects small damage: superfluous commas and raw control characters.

/// The growth of a control character by escaping it, in bytes.
pub(super) const GROWTH: usize = 5;

/// Escapes raw control characters in strings, and replaces superfluous commas by spaces, so that only escapes change
/// offsets. Returns the bytes and the offsets of the escapes; `None` if there is nothing to correct. Both are syntax
/// errors, so bytes before the first fault are unchanged.
pub(super) fn fix_syntax(bytes: &[u8]) -> Option<(Vec<u8>, Vec<usize>)> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut escaped = Vec::new();
    let mut blanked = false;
    let mut in_string = false;
    // The last byte outside of strings that is not white space, and its offset in `out`.
    let (mut last, mut last_at) = (0, 0);
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        i += 1;
        match byte {
            b'\\' if in_string => {
                out.push(byte);
                if let Some(&next) = bytes.get(i) {
                    out.push(next);
                    i += 1;
                }
                continue;
            }
            0..0x20 if in_string => {
                escaped.push(out.len());
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                continue;
            }
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.push(byte);
                continue;
            }
            b',' if matches!(last, b',' | b'[' | b'{') => {
                out.push(b' ');
                blanked = true;
                continue;
            }
            b']' | b'}' if last == b',' => {
                out[last_at] = b' ';
                blanked = true;
            }
            _ => {}
        }
        (last, last_at) = if in_string {
            (b'"', out.len())
        } else {
            (byte, out.len())
        };
        out.push(byte);
    }
    (blanked || !escaped.is_empty()).then_some((out, escaped))
}
