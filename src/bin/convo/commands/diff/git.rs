//! Parses the arguments that git passes to a diff driver.

use crate::context::Context;
use convo::error::{Error, Result};

/// The path that git passes for a missing side.
pub const NOTHING: &str = "/dev/null";

/// Returns the two files from the arguments of a driver: path, old file, its hash and mode, new file, its hash and
/// mode; for a renamed file also the new path and a description.
pub fn operands(context: &Context, arguments: &[String]) -> Result<Vec<String>> {
    match arguments {
        [path, old, _, _, new, _, _, rest @ ..] if rest.is_empty() || rest.len() == 2 => {
            let to = rest.first().unwrap_or(path);
            // The sides are temporary files, so only this line shows which file differs.
            let _ = context.output.print(&format!("diff --convo a/{path} b/{to}"));
            Ok(vec![old.clone(), new.clone()])
        }
        // Git passes only the path of an unmerged file.
        [_] => Ok(Vec::new()),
        _ => Err(
            Error::usage("--git takes the arguments that git gives to a driver")
                .hint("git config diff.convo.command 'convo diff --git'"),
        ),
    }
}
