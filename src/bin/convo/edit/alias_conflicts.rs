//! Assigns additional names to a stored session and reports conflicts.

use crate::context::Context;
use crate::errors::named;
use convo::store::{AliasClaim, Store};

/// Assigns names that other sessions may also claim, and reports ambiguous ones.
pub fn share(
    context: &Context,
    store: &Store,
    id: &str,
    names: &[String],
    is_new: bool,
) -> convo::Result<()> {
    for name in names {
        match store.alias_share(name, id).map_err(|error| named(error, name))? {
            AliasClaim::Made(ids) if ids.len() > 1 => {
                let what = format!(
                    "alias is now claimed by {} sessions, so that it selects none of them",
                    ids.len()
                );
                context.output.notice(name, &what);
            }
            AliasClaim::Own(other) if is_new => {
                let what = format!("is the id of {other}; adopt its history with: convo alias promote {id}");
                context.output.notice(name, &what);
            }
            _ => {}
        }
    }
    Ok(())
}
