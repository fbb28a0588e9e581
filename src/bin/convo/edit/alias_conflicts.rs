//! Names that a session of the store is given beside its own.

use crate::context::{Context, named};
use convo::store::{Claim, Store};

/// Gives a session of the store names that others may have too, and tells what became of them.
pub fn share(
    context: &Context,
    store: &Store,
    id: &str,
    names: &[String],
    is_new: bool,
) -> convo::Result<()> {
    for name in names {
        match store.alias_share(name, id).map_err(|error| named(error, name))? {
            Claim::Made(ids) if ids.len() > 1 => {
                let what = format!(
                    "alias is now claimed by {} sessions, so that it selects none of them",
                    ids.len()
                );
                context.output.tell(name, &what);
            }
            Claim::Own(other) if is_new => {
                let what = format!("is the id of {other}; adopt its history with: convo alias promote {id}");
                context.output.tell(name, &what);
            }
            _ => {}
        }
    }
    Ok(())
}
