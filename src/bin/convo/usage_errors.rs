//! The text of an error in the command line, in the words of the project.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::ffi::{OsStr, OsString};

/// The error of a negative value of an option, such as `--budget -5`, which the parser takes for an option: that of
/// `--budget=-5`, or a hint to write it this way if the value is valid. Other errors are unchanged.
pub fn of_negative_value(
    mut error: clap::Error,
    command: &mut Command,
    arguments: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_negative = found.starts_with('-') && found[1..].starts_with(|digit: char| digit.is_ascii_digit());
    let starts_with = |argument: &OsString, start: &str| {
        argument.as_encoded_bytes().starts_with(start.as_bytes()) && argument.len() > 1
    };
    let options = arguments
        .windows(2)
        .position(|pair| starts_with(&pair[0], "-") && starts_with(&pair[1], found));
    let Some(option) = options.filter(|_| is_negative && error.kind() == ErrorKind::UnknownArgument) else {
        return error;
    };
    let mut joined = arguments[option].clone();
    joined.push("=");
    joined.push(&arguments[option + 1]);
    let arguments = [&arguments[..option], &[joined], &arguments[option + 2..]].concat();
    match command.try_get_matches_from_mut(&arguments) {
        Err(joined) if joined.kind() == ErrorKind::ValueValidation => joined,
        // The option has no value.
        Err(joined)
            if matches!(
                joined.kind(),
                ErrorKind::TooManyValues | ErrorKind::UnknownArgument
            ) =>
        {
            error
        }
        _ => {
            let hint = format!("give the value as '{}'", arguments[option].display());
            error.insert(
                ContextKind::Suggested,
                ContextValue::StyledStrs(vec![hint.into()]),
            );
            error
        }
    }
}

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
    let first = format!("{what}: {}", number_error(value, why));
    lines[0] = &first;
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

/// The words for an error of the parsers of numbers; other errors are unchanged.
fn number_error(value: &str, why: &str) -> String {
    let range = why.strip_prefix(&format!("{value} is not in "));
    if let Some((least, most)) = range.and_then(|range| range.split_once("..")) {
        return match most.strip_prefix('=') {
            Some(most) => format!("expected a number from {least} to {most}"),
            None => format!("expected at least {least}"),
        };
    }
    let why = match why {
        "invalid digit found in string" | "cannot parse integer from empty string" => "expected a number",
        "number too large to fit in target type" => "expected a smaller number",
        why => why,
    };
    let is_plain = |what: &&str| why.starts_with(&format!("expected a {what}")) && !why.contains(" from ");
    match ["number", "duration"].into_iter().find(is_plain) {
        Some(what) if value.starts_with('-') => why.replacen(what, &format!("positive {what}"), 1),
        _ => why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, value_parser};
    use std::os::unix::ffi::OsStrExt;

    fn error(parser: impl Into<clap::builder::ValueParser>, value: &str) -> String {
        let mut command = Command::new("c").arg(Arg::new("n").long("n").value_name("N").value_parser(parser));
        let arguments = ["c", "--n", value].map(OsString::from);
        let error = command.try_get_matches_from_mut(&arguments).unwrap_err();
        text(&of_negative_value(error, &mut command, &arguments))
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
    fn a_negative_value_is_an_error_of_its_option() {
        for (parser, why) in [
            (value_parser!(usize).into(), "expected a positive number"),
            (value_parser!(u64).range(1..).into(), "expected a positive number"),
            (value_parser!(i64).range(1..).into(), "expected at least 1"),
        ] {
            let parser: clap::builder::ValueParser = parser;
            let error = error(parser, "-5");
            let first = format!("invalid value '-5' for '--n <N>': {why}\n");
            assert!(error.starts_with(&first), "{error}");
        }
        let valid = error(value_parser!(String), "-5k");
        assert!(valid.contains("tip: give the value as '--n=-5k'"), "{valid}");
        for flag in ["-f", "--flag"] {
            let mut command = Command::new("c").arg(
                Arg::new("flag")
                    .short('f')
                    .long("flag")
                    .action(clap::ArgAction::SetTrue),
            );
            let arguments = ["c", flag, "-5"].map(OsString::from);
            let error = command.try_get_matches_from_mut(&arguments).unwrap_err();
            let unchanged = error.render().to_string();
            assert_eq!(
                text(&of_negative_value(error, &mut command, &arguments)),
                unchanged.replace("error: ", "")
            );
        }
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
