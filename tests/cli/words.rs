//! Checks the wording of help, manual pages, documentation and messages against the expressions that the language
//! guide excludes.

use crate::env::Env;
use predicates::Predicate;
use predicates::str::RegexPredicate;
use std::path::{Path, PathBuf};

/// The excluded expressions. "there is no" is correct and masked first, because the engine has no lookbehind.
const EXCLUDED: &str = r"(?i)\b(told|tells? (which|what|of)|stays?|spel(led|t)|is no [a-z]|beside|ahead of|goes on|gone on|stands? (for|in|ahead|behind)|colour|(summar|sanit|recogn|serial)is|what (is|was|has|had|it) )";

/// Those that no comment of the code needs.
const EXCLUDED_COMMENTS: &str = r"(?i)\b(told|tells? (which|what|of)|spelled|ahead of|goes on|gone on|stands? (for|in|ahead|behind)|colour|neighbour|(summar|sanit|recogn|serial)ise)\b";

/// Exceptions: a part of the text, and why it is correct.
const ALLOWED: [(&str, &str); 2] = [
    (
        "What was said earlier in this conversation",
        "text of stored sessions: other versions recognize it",
    ),
    (
        "Write one text that takes the place of `previous_summary`",
        "the prompt of summarizers: other words give other summaries",
    ),
];

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn excluded() -> RegexPredicate {
    predicates::str::is_match(EXCLUDED).unwrap()
}

/// The lines of a text that match, alone or joined with the next line.
fn matches(pattern: &RegexPredicate, name: &str, text: &str, found: &mut Vec<String>) {
    let lines: Vec<String> = text.lines().map(plain).collect();
    for (nth, line) in lines.iter().enumerate() {
        let next = lines.get(nth + 1).map_or("", String::as_str);
        let both = format!("{line} {next}");
        let allowed = ALLOWED.iter().any(|(part, _)| both.contains(part));
        if !allowed && (pattern.eval(line) || !pattern.eval(next) && pattern.eval(&both)) {
            found.push(format!("{name}:{}: {}", nth + 1, both.trim()));
        }
    }
}

/// A line without markup, with the correct expression masked.
fn plain(line: &str) -> String {
    let line = line.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("here is no ", "here is not any ")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The source files of all packages.
fn sources() -> Vec<PathBuf> {
    let of = |dir: &str| below(&tree().join(dir), &[".rs"]);
    [of("src"), of("crates")].concat()
}

fn below(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap();
            if path.is_dir() {
                dirs.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn pages_and_documents_use_standard_terms() {
    let mut files = below(&tree().join("man"), &[".1", ".5"]);
    assert!(files.len() > 20, "{files:?}");
    files.extend(below(&tree().join("docs"), &[".md"]));
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] {
        files.push(tree().join(name));
    }
    let pattern = excluded();
    let mut found = Vec::new();
    for path in files {
        let name = path.strip_prefix(tree()).unwrap().to_str().unwrap();
        matches(&pattern, name, &read(&path), &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn comments_use_standard_terms() {
    let pattern = predicates::str::is_match(EXCLUDED_COMMENTS).unwrap();
    let mut found = Vec::new();
    for path in sources() {
        let name = path.strip_prefix(tree()).unwrap().to_str().unwrap();
        for (nth, line) in read(&path).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            // Code in a comment names what the program has.
            let words: String = line.split('`').step_by(2).collect();
            if is_comment && pattern.eval(&words) {
                found.push(format!("{name}:{}: {}", nth + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_uses_standard_terms() {
    let env = Env::new();
    let pattern = excluded();
    let mut found = Vec::new();
    let mut check = |arguments: &[&str]| {
        for option in ["-h", "--help"] {
            let run = env.run(&[arguments, &[option]].concat()).status(0);
            let name = format!("convo {} {option}", arguments.join(" "));
            matches(&pattern, &name, run.out(), &mut found);
        }
    };
    check(&[]);
    for page in below(&tree().join("man"), &[".1"]) {
        let stem = page.file_stem().unwrap().to_str().unwrap();
        match stem.strip_prefix("convo-") {
            Some("alias") => {
                check(&["alias"]);
                for action in ["add", "remove", "list", "resolve", "promote"] {
                    check(&["alias", action]);
                }
            }
            Some("llm" | "mcp") => {} // their pages are generated from their help
            Some(command) => check(&[command]),
            None => {}
        }
    }
    for what in ["man", "completions", "formats", "schema"] {
        check(&["generate", what]);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn messages_use_standard_terms() {
    let pattern = excluded();
    let mut found = Vec::new();
    let mut count = 0;
    for path in sources() {
        let name = path.strip_prefix(tree()).unwrap().to_str().unwrap();
        if name.contains("/tests/") || name.ends_with("/tests.rs") {
            continue;
        }
        for (line, text) in literals(&read(&path)) {
            // A single word is a name, not a message.
            if text.trim().contains(' ') {
                count += 1;
                let text = without_placeholders(&text);
                matches(&pattern, &format!("{name}:{line}"), &text, &mut found);
            }
        }
    }
    assert!(count > 1500, "{count} messages");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_check_finds_excluded_words() {
    let pattern = excluded();
    let code = "// \"what is \"\nlet a = '\"'; let b = \"x \\\n    y\"; f(r#\"the \"colour\" of\"#, \"{told} goes\\non\");\n#[cfg(test)]\nmod tests { \"it stays so\" }";
    let texts: Vec<String> = literals(code).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["x y", "the \"colour\" of", "{told} goes\\non"]);
    let found = |text: &str| {
        let mut found = Vec::new();
        matches(&pattern, "text", &without_placeholders(text), &mut found);
        found.len()
    };
    assert_eq!(found("the \"colour\" of"), 1);
    assert_eq!(found("it goes\non and on"), 1);
    assert_eq!(found("it is no file; there is no file"), 1);
    assert_eq!(found("there is no file: {told}, summary, display"), 0);
}

/// A message without placeholders.
fn without_placeholders(text: &str) -> String {
    let mut out = String::new();
    for (nth, part) in text.split('{').enumerate() {
        match part.split_once('}') {
            Some((_, rest)) if nth > 0 => out.push_str(&format!("X{rest}")),
            _ => out.push_str(part),
        }
    }
    out
}

/// String literals of a source file before its tests, each with its line number.
fn literals(source: &str) -> Vec<(usize, String)> {
    let end = source.find("#[cfg(test)]\nmod ").unwrap_or(source.len());
    let bytes = &source.as_bytes()[..end];
    let line_of = |at: usize| 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..end];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(length) = char_literal(rest) {
            at += length;
        } else if rest.starts_with("r\"")
            || rest.starts_with("r#") && rest.trim_start_matches(['r', '#']).starts_with('"')
        {
            let marks = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
            let close = format!("\"{}", "#".repeat(marks));
            let begin = marks + 2;
            let length = rest[begin..].find(&close).unwrap_or(rest.len() - begin);
            found.push((line_of(at), rest[begin..begin + length].to_string()));
            at += begin + length + close.len();
        } else if rest.starts_with('"') {
            let mut length = 1;
            while length < rest.len() && rest.as_bytes()[length] != b'"' {
                length += 1 + usize::from(rest.as_bytes()[length] == b'\\');
            }
            found.push((line_of(at), joined(&rest[1..length.min(rest.len())])));
            at += length + 1;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The length of a character literal at this position, if any; a lifetime is not one.
fn char_literal(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let body = match inner.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.get(1..)?.find('\'')? + 1,
        None => inner.chars().next()?.len_utf8(),
    };
    inner.get(body..)?.starts_with('\'').then_some(body + 2)
}

/// A literal without source line breaks.
fn joined(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |whole, part| whole + part.trim_start())
}
