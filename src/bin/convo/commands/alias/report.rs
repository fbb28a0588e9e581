//! The reports of `alias`.

use crate::context::Context;
use crate::output::visible;
use convo::error::{Error, ErrorKind};

pub fn unknown(alias: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("{alias}: no such alias"))
        .hint("list aliases with: convo alias list")
}

/// Formats an alias and the sessions that it names as a line.
pub fn row(json: bool, exact: bool, alias: &str, ids: &[String]) -> String {
    match (json, exact) {
        (true, _) => serde_json::json!({"schema": "convo.alias/1", "alias": alias, "ids": ids}).to_string(),
        (false, true) => format!("{alias}\t{}", ids.join(",")),
        (false, false) => format!("{}\t{}", visible(alias), visible(&ids.join(","))),
    }
}

/// Reports a change.
pub fn done(context: &Context, json: bool, alias: &str, ids: &[String], what: &str) -> anyhow::Result<()> {
    match json {
        true => context.output.print_done(&row(true, false, alias, ids)),
        false => {
            context.output.notice(alias, what);
            Ok(())
        }
    }
}
