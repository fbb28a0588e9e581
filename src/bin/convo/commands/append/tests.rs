//! The command line of `append` without the parser.

use super::AppendCommand;
use crate::args::Global;
use crate::commands::Run;
use clap::{Args, Command, FromArgMatches};
use std::ffi::OsString;

/// The arguments as the parser reads them; none where it refuses them.
fn parsed(given: &[OsString]) -> Option<(AppendCommand, Global)> {
    let command = AppendCommand::augment_args(Command::new("append").no_binary_name(true));
    let matches = Global::augment_args(command).try_get_matches_from(given).ok()?;
    AppendCommand::from_arg_matches(&matches)
        .ok()
        .zip(Global::from_arg_matches(&matches).ok())
}

#[test]
fn operands_and_usual_options_are_read_as_the_parser_reads_them() {
    let words = [
        "chat", "", "two words", "-", "-r", "--role", "-rx", "--", "-q", "--json", "-1",
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
        if let Some(append) = AppendCommand::plain(&line) {
            assert_eq!(
                format!("{:?}", Some(append)),
                format!("{:?}", parsed(&line)),
                "{line:?}"
            );
            plain += 1;
        }
    }
    // Up to two operands, with none, one or both of --quiet and --json; the same with a role, up to four words.
    assert_eq!(plain, 13 + 68 + 128 + 204 + 240 + 36);
}
