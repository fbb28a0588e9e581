//! The given settings and options, and the arguments that accept them.

use super::strategy_args::StrategyArgs;
use super::table::{SETTINGS, Setting, SettingOption, SettingValues, ValueForm, system, tuned, written};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use convo::filter::compat::CompatSystem;
use std::collections::BTreeSet;

const TUNE: &str = "tune";
const COMPAT: &str = "compat";

/// The given settings and options, and the system to imitate.
#[derive(Clone, Debug, Default)]
pub struct CompactSettings {
    pub system: Option<CompatSystem>,
    /// In command-line order.
    settings: Vec<(&'static Setting, String)>,
    /// Names of the options that were given.
    options: BTreeSet<String>,
}

impl CompactSettings {
    /// Whether an option or setting was given; the parsed options do not distinguish a given value from a default.
    pub fn has(&self, name: &str) -> bool {
        self.options.contains(name) || self.values(name).next().is_some()
    }

    /// Returns the names of the given options and settings.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let settings = self.settings.iter().map(|(setting, _)| setting.name);
        settings.chain(self.options.iter().map(String::as_str))
    }

    /// Returns the given values of these settings in command-line order.
    pub fn in_order(&self, names: &'static [&'static str]) -> impl Iterator<Item = (&'static str, &str)> {
        self.settings
            .iter()
            .filter(|(setting, _)| names.contains(&setting.name))
            .map(|(setting, value)| (setting.name, value.as_str()))
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let own = self
            .settings
            .iter()
            .filter(move |(setting, _)| setting.name == name);
        own.map(|(_, value)| value.as_str())
    }

    /// Returns the value of a setting.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// Returns the parsed value of a setting, which the table has validated.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// Returns all values of a setting.
    pub fn list<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let is_list = SETTINGS
            .iter()
            .any(|own| own.name == name && matches!(own.value, ValueForm::List(_)));
        self.values(name)
            .flat_map(|value| match is_list {
                true => value.split(',').collect(),
                false => vec![value],
            })
            .filter_map(read)
            .collect()
    }

    fn read(matches: &ArgMatches) -> Result<CompactSettings, Error> {
        let mut placed: Vec<(usize, &'static Setting, String)> = Vec::new();
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        for setting in SETTINGS.iter().filter(|own| is_given(own.name)) {
            let places = matches.indices_of(setting.name).into_iter().flatten();
            if let ValueForm::Flag = setting.value {
                placed.extend(places.map(|place| (place, setting, String::new())));
                continue;
            }
            let values = matches.get_many::<String>(setting.name).into_iter().flatten();
            placed.extend(
                places
                    .zip(values)
                    .map(|(place, value)| (place, setting, value.clone())),
            );
        }
        let mut take = |place: usize, pairs: &SettingValues| {
            placed.extend(
                pairs
                    .iter()
                    .map(|(setting, value)| (place, *setting, value.clone())),
            );
        };
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let tunes = matches.get_many::<SettingValues>(TUNE).into_iter().flatten();
        places(TUNE)
            .zip(tunes)
            .for_each(|(place, pairs)| take(place, pairs));
        let mut system = None;
        let compats = matches
            .get_many::<(CompatSystem, SettingValues)>(COMPAT)
            .into_iter()
            .flatten();
        for (place, (own, pairs)) in places(COMPAT).zip(compats) {
            if system.replace(*own).is_some_and(|before| before != *own) {
                return Err(conflict("--compat: expected one system".to_string()));
            }
            take(place, pairs);
        }
        // A stable sort keeps the order of the keys of one option.
        placed.sort_by_key(|(place, ..)| *place);
        let mut settings = CompactSettings {
            system,
            ..CompactSettings::default()
        };
        for (_, setting, value) in placed {
            if let (ValueForm::One(_) | ValueForm::Flag, true) = (setting.value, settings.has(setting.name)) {
                return Err(conflict(format!(
                    "'{}' cannot be used multiple times",
                    setting.key
                )));
            }
            settings.settings.push((setting, value));
        }
        let all = StrategyArgs::augment_args(Command::new(COMPAT));
        let names = all.get_arguments().map(|argument| argument.get_id().as_str());
        settings.options = names
            .filter(|name| is_given(name))
            .map(|name| name.replace('_', "-"))
            .collect();
        for (setting, _) in &settings.settings {
            let missing = match setting.of {
                SettingOption::Compat | SettingOption::System(_) if system.is_none() => {
                    "--compat <SYSTEM>".to_string()
                }
                _ if setting.requires.is_empty() || settings.has(setting.requires) => continue,
                _ => written(setting.requires),
            };
            return Err(conflict(format!("{} requires {missing}", setting.written())));
        }
        Ok(settings)
    }
}

fn conflict(what: String) -> Error {
    Error::raw(ErrorKind::ArgumentConflict, format!("{what}\n"))
}

impl FromArgMatches for CompactSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CompactSettings, Error> {
        CompactSettings::read(matches)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = CompactSettings::read(matches)?;
        Ok(())
    }
}

impl Args for CompactSettings {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// The arguments that accept the settings; parsed before all others, but listed in help after the strategies.
#[derive(Clone, Copy, Debug)]
pub struct SettingKeys;

impl FromArgMatches for SettingKeys {
    fn from_arg_matches(_: &ArgMatches) -> Result<SettingKeys, Error> {
        Ok(SettingKeys)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
        Ok(())
    }
}

impl Args for SettingKeys {
    fn augment_args(command: Command) -> Command {
        let long = |head: &str, fits: &dyn Fn(SettingOption) -> bool| {
            let lines = SETTINGS.iter().filter(|own| fits(own.of)).map(Setting::line);
            format!("{head}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
        };
        let tunes = "Set strategy parameters (repeatable)";
        let tune = Arg::new(TUNE)
            .long(TUNE)
            .value_name("KEY=VALUE,...")
            .value_parser(tuned)
            .action(ArgAction::Append)
            .help(tunes)
            .long_help(long(tunes, &|of| of == SettingOption::Tune))
            .help_heading("Strategy settings");
        let compats = "Cut as this system would";
        let mut text = format!(
            "{compats}\n\nOne of {}. Uses the system's algorithm, adjusted so that providers accept the result. An option or \
             key selects one of its functions; docs/compaction.md lists them and the differences.",
            CompatSystem::ALL.map(CompatSystem::name).join(", ")
        );
        for system in [None].into_iter().chain(CompatSystem::ALL.map(Some)) {
            let fits = |of| match system {
                None => of == SettingOption::Compat,
                Some(system) => of == SettingOption::System(system),
            };
            if SETTINGS.iter().any(|own| fits(own.of)) {
                let name = system.map_or("Keys of every system", CompatSystem::name);
                text.push_str("\n\n");
                text.push_str(&long(&format!("{name}:"), &fits).replacen("\n\n", "\n", 1));
            }
        }
        let compat = Arg::new(COMPAT)
            .long(COMPAT)
            .value_name("SYSTEM[:KEY=VALUE,...]")
            .value_parser(system)
            .action(ArgAction::Append)
            .help(compats)
            .long_help(text)
            .help_heading("Compatibility");
        let short = |argument: Arg| argument.hide_short_help(true);
        let command = command.arg(short(tune)).arg(short(compat));
        command.args(SETTINGS.iter().map(|own| match own.name {
            "sanitize" => own.argument().alias("sanitise"),
            _ => own.argument(),
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SettingKeys::augment_args(command)
    }
}
