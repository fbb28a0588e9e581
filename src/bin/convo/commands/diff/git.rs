//! What git gives to a diff driver.

use crate::context::Context;
use convo::error::{Error, Kind, Result};

/// The file that git names for a side that does not exist.
pub const NOTHING: &str = "/dev/null";

/// The two files among the arguments of a driver: path, old file, its hash and mode, new file, its hash and mode; of a
/// renamed file also the new path and what changed.
pub fn operands(context: &Context, arguments: &[String]) -> Result<Vec<String>> {
    match arguments {
        [path, old, _, _, new, _, _, rest @ ..] if rest.is_empty() || rest.len() == 2 => {
            let to = rest.first().unwrap_or(path);
            // Without it, nobody knows which file of many this is: the sides are temporary files.
            let _ = context.output.print(&format!("diff --convo a/{path} b/{to}"));
            Ok(vec![old.clone(), new.clone()])
        }
        // An unmerged path comes alone.
        [_] => Ok(Vec::new()),
        _ => Err(Error::new(
            Kind::Usage,
            "--git takes the arguments that git gives to a driver",
        )
        .hint("git config diff.convo.command 'convo diff --git'")),
    }
}
