//! The command line of `append` without the parser.

use super::Append;
use crate::commands::Run;
use clap::{Args, Command, FromArgMatches};
use std::ffi::OsString;

/// The arguments as the parser reads them; none where it refuses them.
fn parsed(given: &[OsString]) -> Option<Append> {
    let command = Append::augment_args(Command::new("append").no_binary_name(true));
    Append::from_arg_matches(&command.try_get_matches_from(given).ok()?).ok()
}

#[test]
fn operands_and_a_role_are_read_as_the_parser_reads_them() {
    let words = [
        "chat",
        "",
        "two words",
        "-",
        "-r",
        "--role",
        "-rx",
        "--",
        "-q",
        "--json",
        "-1",
    ];
    let mut lines: Vec<Vec<&str>> = vec![Vec::new()];
    for length in 0..4 {
        let longer = |line: &Vec<&'static str>| words.map(|word| [line.as_slice(), &[word]].concat());
        let last = lines.iter().filter(|line| line.len() == length).flat_map(longer);
        lines.extend(last.collect::<Vec<_>>());
    }
    let mut plain = 0;
    for line in lines {
        let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
        if let Some(append) = Append::plain(&line) {
            assert_eq!(
                format!("{:?}", Some(append)),
                format!("{:?}", parsed(&line)),
                "{line:?}"
            );
            plain += 1;
        }
    }
    assert_eq!(plain, 13 + 204, "up to two operands; the same with a role");
}
