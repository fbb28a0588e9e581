//! The text of an error in the command line, in the words of the project.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::ffi::OsStr;

/// The text without `error:`.
pub fn text(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::InvalidUtf8
        && let Some(argument) = std::env::args_os().find(|argument| argument.to_str().is_none())
    {
        return unreadable(&argument);
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return text.to_string();
    };
    let mut lines: Vec<&str> = text.split('\n').collect();
    let Some((what, why)) = lines[0].rsplit_once(": ") else {
        return text.to_string();
    };
    let first = number_error(value, why).map(|why| format!("{what}: {why}"));
    if let Some(first) = &first {
        lines[0] = first;
    }
    lines.join("\n")
}

/// The hint of the parser that refused a value.
pub fn hint(error: &clap::Error) -> Option<&str> {
    let refused = error.source()?.downcast_ref::<convo::error::Error>()?;
    refused.hint.as_deref()
}

fn unreadable(argument: &OsStr) -> String {
    format!(
        "{}: not UTF-8\nhint: name the directory of the file, or redirect standard input from it",
        argument.as_encoded_bytes().escape_ascii()
    )
}

/// The words for an error of the parsers of numbers; none for other errors.
fn number_error(value: &str, why: &str) -> Option<String> {
    if let Some(range) = why.strip_prefix(&format!("{value} is not in ")) {
        let (least, most) = range.split_once("..")?;
        return Some(match most.strip_prefix('=') {
            Some(most) => format!("expected a number from {least} to {most}"),
            None => format!("expected at least {least}"),
        });
    }
    match why {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            Some("expected a number".to_string())
        }
        "number too large to fit in target type" => Some("expected a smaller number".to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command, value_parser};
    use std::os::unix::ffi::OsStrExt;

    fn error(parser: impl Into<clap::builder::ValueParser>, value: &str) -> String {
        let command = Command::new("c").arg(Arg::new("n").long("n").value_name("N").value_parser(parser));
        text(
            &command
                .try_get_matches_from(["c", &format!("--n={value}")])
                .unwrap_err(),
        )
    }

    #[test]
    fn errors_of_numbers_state_what_is_expected() {
        let begins = |text: String, why: &str| assert!(text.starts_with(why), "{text}");
        let positive = || value_parser!(u64).range(1..);
        begins(
            error(positive(), "x"),
            "invalid value 'x' for '--n <N>': expected a number\n",
        );
        begins(
            error(positive(), "0"),
            "invalid value '0' for '--n <N>': expected at least 1\n",
        );
        begins(
            error(value_parser!(u8).range(1..=9), "10"),
            "invalid value '10' for '--n <N>': expected a number from 1 to 9\n",
        );
        begins(
            error(value_parser!(usize), &"9".repeat(30)),
            &format!(
                "invalid value '{}' for '--n <N>': expected a smaller number\n",
                "9".repeat(30)
            ),
        );
    }

    #[test]
    fn a_parser_hints_at_what_it_expects() {
        let refuse = |_: &str| Err::<String, _>(convo::Error::usage("no").hint("try x"));
        let command = Command::new("c").arg(Arg::new("n").value_parser(refuse));
        assert_eq!(
            hint(&command.try_get_matches_from(["c", "v"]).unwrap_err()),
            Some("try x")
        );
        let command = Command::new("c").arg(Arg::new("n").value_parser(value_parser!(u64)));
        assert_eq!(hint(&command.try_get_matches_from(["c", "v"]).unwrap_err()), None);
    }

    #[test]
    fn an_argument_that_is_not_utf_8_is_named() {
        let shown = unreadable(OsStr::from_bytes(b"nu/caf\xe9.jsonl"));
        assert!(
            shown.starts_with("nu/caf\\xe9.jsonl: not UTF-8\nhint: "),
            "{shown}"
        );
    }
}
