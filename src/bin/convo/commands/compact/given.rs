//! Which options stand on the command line, and where: a default and a wish look the same in the parsed values.

use super::compat::Compat;
use super::options::Strategy;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use std::collections::BTreeMap;

/// The names of the options that were given, each with its places. It must be read ahead of what takes the values
/// out of the matches.
#[derive(Clone, Debug, Default)]
pub struct Given(BTreeMap<String, Vec<usize>>);

impl Given {
    /// Whether an option was given.
    pub fn has(&self, option: &str) -> bool {
        self.0.contains_key(option)
    }

    /// Where each of its values stands.
    pub fn places(&self, option: &str) -> &[usize] {
        self.0.get(option).map_or(&[], Vec::as_slice)
    }

    /// The options that were given and say what is to be done.
    pub fn strategies(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, Error> {
        let all = Compat::augment_args(Strategy::augment_args(Command::new("compact")));
        let names = all.get_arguments().map(|argument| argument.get_id().as_str());
        let given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let places = |name: &str| matches.indices_of(name).into_iter().flatten().collect();
        Ok(Given(
            names
                .filter(given)
                .map(|name| (name.to_string(), places(name)))
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
