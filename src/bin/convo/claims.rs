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
                let what = format!("names {} sessions now, and means none of them", ids.len());
                context.output.tell(name, &what);
            }
            Claim::Own(other) if is_new => {
                let what =
                    format!("is the own name of {other}: `convo alias promote {id}` takes its history over");
                context.output.tell(name, &what);
            }
            _ => {}
        }
    }
    Ok(())
}
