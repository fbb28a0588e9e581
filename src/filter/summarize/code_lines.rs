//! Recognizes lines of code, logs and quotations that somebody pasted into a message.

/// Whether a line is quoted, or of code, of a log or of JSON. After one, indented lines are.
pub(super) fn is_code(line: &str, was_code: bool) -> bool {
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    const BEGIN: [&str; 14] = [
        "|", "//", "/*", "<!--", "> ", "#!", "$ ", "@@", "+++", "---", "npm ", "at ", "Traceback", "{\"",
    ];
    // A list may be indented, too.
    let is_list = bare.starts_with(['-', '*', '\u{2022}']) || bare.starts_with(|c: char| c.is_ascii_digit());
    if BEGIN.iter().any(|begin| bare.starts_with(begin))
        && (bare != "---")
        && !(begins_at(bare) && indent == 0)
    {
        return true;
    }
    let has = |byte| memchr::memchr(byte, bare.as_bytes()).is_some();
    if has(b'"') && ["\":", "\"}"].iter().any(|json| bare.contains(json)) {
        return true;
    }
    if indent >= 4 && !is_list || was_code && indent > 0 && !is_list {
        return true;
    }
    is_log(bare)
        || is_at_line_of_file(bare)
        || bare.ends_with([';', '{', '}'])
        || has(b';') && bare.contains("; --")
}

/// Whether a line begins with the word "at" or "npm" in a sentence, rather than with a frame of a stack or output of npm.
fn begins_at(line: &str) -> bool {
    let mut words = line.split(' ');
    match words.next() {
        Some("at") => true,
        Some("npm") => !words
            .next()
            .is_some_and(|word| word == "ERR!" || word == "WARN" || word == "error"),
        _ => false,
    }
}

/// Whether a line begins with a path and the number of a line, as in output of a compiler.
fn is_at_line_of_file(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else {
        return false;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    path.contains(['.', '/']) && !path.contains(' ') && digits > 0 && rest[digits..].starts_with(':')
}

/// Whether a line begins like one of a log: a time, a level, a name of an error.
fn is_log(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_time = digits == 4 && bytes.get(4) == Some(&b'-') && bytes.get(5).is_some_and(u8::is_ascii_digit)
        || digits == 2 && bytes.get(2) == Some(&b':') && bytes.get(3).is_some_and(u8::is_ascii_digit);
    if is_time {
        return true;
    }
    let head = memchr::memchr2(b':', b'[', bytes).map_or(line, |end| &line[..end]);
    if head.len() == line.len() {
        return line.starts_with("thread '") || line.starts_with("assert ");
    }
    let first = head.split(' ').next().unwrap_or_default();
    let is_level = [
        "error", "warning", "fatal", "remote", "panic", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL",
    ]
    .contains(&first);
    let is_name = !head.contains(' ')
        && ["Error", "Exception", "Warning"]
            .iter()
            .any(|end| head.ends_with(end));
    let has_failed = head.ends_with(" failed") && head.split(' ').count() <= 4;
    is_level || is_name || has_failed || line.starts_with("thread '")
}
