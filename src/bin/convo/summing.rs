//! Options of summaries as they are spelled on the command line.

use crate::context::named;
use convo::error::{Error, Kind};
use convo::filter::summarize::{Dates, Instructions, Rule};

/// How a summary shows dates.
pub fn dates(name: &str) -> Result<Dates, String> {
    match name {
        "short" => Ok(Dates::Short),
        "full" => Ok(Dates::Full),
        "off" => Ok(Dates::Off),
        _ => Err("this must be short, full or off".to_string()),
    }
}

/// Where standing instructions come from: `auto`, `off`, or a file of them.
pub fn instructions(how: &str) -> convo::Result<Instructions> {
    match how {
        "auto" => Ok(Instructions::Auto),
        "off" => Ok(Instructions::Off),
        file => Ok(Instructions::Given(Rule::read(&text(
            file,
            "the instructions are",
        )?))),
    }
}

/// A file's text; `what` is what it is when it is none.
pub fn text(file: &str, what: &str) -> convo::Result<String> {
    let read = std::fs::read(file).map_err(|error| named(Error::io("cannot read", error), file))?;
    String::from_utf8(read).map_err(|_| named(Error::new(Kind::Data, format!("{what} not UTF-8")), file))
}
