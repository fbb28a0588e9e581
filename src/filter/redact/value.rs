//! Recognizes values that only look like secrets: placeholders, references, code, examples.

use super::proof::{classes, entropy};
use crate::model::key::is_uuid;

/// Words in example values of documentation.
const EXAMPLES: [&str; 12] = [
    "example", "changeme", "change_me", "your", "dummy", "placeholder", "redacted", "insert", "xxxx",
    "0123456789", "1234567890", "abcdefgh",
];

/// Whether a value is a documentation example: contains such a word, or repeats one character.
pub fn is_example(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    EXAMPLES.iter().any(|word| lower.contains(word)) || has_run(value.as_bytes(), 8)
}

fn has_run(bytes: &[u8], length: usize) -> bool {
    bytes
        .chunk_by(|one, next| one == next)
        .any(|run| run.len() >= length)
}

/// Whether a value is a reference or code: `$VAR`, `{{ x }}`, `<token>`, `process.env.X`, `config.get(..)`.
pub fn is_reference(value: &str) -> bool {
    const BEGINNINGS: [&str; 9] = ["$", "{{", "<", "%(", "#{", "@", "&", "[REDACTED", "..."];
    const PARTS: [&str; 10] = [
        "process.env", "os.environ", "getenv", "${", "{{", "$(", "secrets.", "vault.", "://", "::",
    ];
    if BEGINNINGS.iter().any(|begins| value.starts_with(begins))
        || PARTS.iter().any(|part| value.contains(part))
    {
        return true;
    }
    let calls = value.find('(').is_some_and(|at| at > 0 && is_path(&value[..at])) && value.contains(')');
    calls || value.contains('.') && !value.contains(|c: char| c.is_ascii_digit()) && is_path(value)
}

/// Whether a text consists of names separated by dots.
fn is_path(text: &str) -> bool {
    text.split('.').all(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a value is an identifier: words of letters, of which at most one ends with a digit.
pub fn is_identifier(value: &str) -> bool {
    is_path(value)
        && value.split(['.', '_']).all(|word| {
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            word.len() - letters.len() <= 3 && !letters.contains(|c: char| c.is_ascii_digit())
        })
        && (value.contains('_') || !value.contains(|c: char| c.is_ascii_digit()))
}

/// Whether a value is long and mixed enough for a generated key.
pub fn is_generated(value: &str) -> bool {
    const PUBLIC: [&str; 14] = [
        "sha256", "sha512", "sha1-", "call_", "resp_", "toolu_", "msg_", "req_", "gen-", "evt_", "chatcmpl-",
        "AAAA", "age1", "ssh-",
    ];
    if value.len() < 20
        || is_uuid(value)
        || is_identifier(value)
        || PUBLIC.iter().any(|begins| value.starts_with(begins))
        || !value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.~-".contains(&byte))
    {
        return false;
    }
    if value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return value.len() >= 32 && entropy(value) >= 3.0 && classes(value) >= 2;
    }
    let least = if value.contains(|c: char| c.is_ascii_digit()) {
        3.5
    } else {
        4.2
    };
    classes(value) >= 2 && entropy(value) >= least
}

/// Whether a value may be a password chosen by a person.
pub fn is_password(value: &str, quoted: bool) -> bool {
    let length = value.chars().count();
    if !(6..=128).contains(&length) || value.contains(char::is_whitespace) || is_uuid(value) {
        return false;
    }
    let letters = value.chars().all(|c| c.is_alphabetic() || c == '_' || c == '-');
    let digits = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".,:/".contains(&byte));
    if letters || digits {
        return false;
    }
    quoted || !is_identifier(value) && !value.contains('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_names_and_examples_are_not_secrets() {
        for reference in [
            "$DB_PASS", "${X}", "{{ secrets.X }}", "process.env.KEY", "config.get(\"a\")",
            "settings.password",
        ] {
            assert!(is_reference(reference), "{reference}");
        }
        for name in ["ladder_meadow_v2", "PasswordField", "hash"] {
            assert!(is_identifier(name), "{name}");
        }
        assert!(!is_identifier("eh3L3L9TJhMqga") && !is_identifier("Turbine68e2Ti"));
        assert!(is_example("AKIAIOSFODNN7EXAMPLE") && is_example("sk_test_xxxxxxxxxxxx"));
        assert!(is_password("eh3L3L9TJhMqga", false) && is_password("Saddle59!ptkB", false));
        assert!(!is_password("required", true) && !is_password("12345678", true));
        assert!(is_generated("4e608fd77793f950c85cec2e1795a310"));
        assert!(!is_generated("8f1a5814-77a4-4cf6-9136-44c77c785579"));
    }
}
