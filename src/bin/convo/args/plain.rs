//! Command lines that need no parser.

use std::ffi::OsString;

/// The operands of a command line with at most one option, the one with these names, and the value of the option.
/// `None` for any other command line: the parser reads or refuses it.
pub fn plain<'g>(given: &'g [OsString], names: [&str; 2]) -> Option<(Vec<&'g str>, Option<&'g str>)> {
    let (mut operands, mut option) = (Vec::new(), None);
    let mut given = given.iter();
    while let Some(argument) = given.next() {
        let argument = argument.to_str()?;
        if !names.contains(&argument) {
            operands.push(argument);
        } else if option.replace(given.next()?.to_str()?).is_some() {
            return None;
        }
    }
    let mut values = operands.iter().chain(&option);
    values
        .all(|value| !value.starts_with('-'))
        .then_some((operands, option))
}
