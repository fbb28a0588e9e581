//! Command lines that need no parser.

use super::Global;
use std::ffi::OsString;

/// A command line of operands and a few options, each given once at most.
#[derive(Debug, Default)]
pub struct Plain<'g> {
    pub operands: Vec<&'g str>,
    pub value: Option<&'g str>,
    /// Whether the flag is given.
    pub flag: bool,
    /// `--quiet`.
    quiet: bool,
}

impl Plain<'_> {
    /// Options of every command.
    pub fn global(&self) -> Global {
        Global {
            quiet: self.quiet,
            ..Global::default()
        }
    }
}

/// Reads a command line whose only options are the one with these names, this flag and `--quiet`. `None` for any other
/// command line: the parser reads or refuses it.
pub fn plain<'g>(given: &'g [OsString], names: [&str; 2], flag: &str) -> Option<Plain<'g>> {
    let mut plain = Plain::default();
    let once = |flag: &mut bool| (!std::mem::replace(flag, true)).then_some(());
    let mut given = given.iter();
    while let Some(argument) = given.next() {
        match argument.to_str()? {
            "-q" | "--quiet" => once(&mut plain.quiet)?,
            argument if argument == flag => once(&mut plain.flag)?,
            argument if names.contains(&argument) => {
                if plain.value.replace(given.next()?.to_str()?).is_some() {
                    return None;
                }
            }
            argument => plain.operands.push(argument),
        }
    }
    let mut values = plain.operands.iter().chain(&plain.value);
    values.all(|value| !value.starts_with('-')).then_some(plain)
}
