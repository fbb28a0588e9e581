//! Data that a store keeps outside a session's log, which a native file therefore lacks: archived lines and aliases.

use super::inspect::{ExaminedFile, FoundSession, Refusal};
use convo::error::{Error, Result};
use convo::format::report::Loss;
use convo::model::json;
use convo::store::{Store, foreign};
use std::collections::HashMap;

/// Aliases of stored sessions, by id.
pub fn aliases_by_id(store: Option<&Store>) -> Result<HashMap<String, Vec<String>>> {
    let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
    for (alias, ids) in store.map(Store::aliases).transpose()?.unwrap_or_default() {
        for id in ids {
            aliases.entry(id).or_default().push(alias.clone());
        }
    }
    Ok(aliases)
}

/// Adds what native files lack to the losses of each source, or refuses the source with `strict`.
pub fn report_losses(examined: &mut [ExaminedFile], store: Option<&Store>, strict: bool) -> Result<()> {
    let aliases = aliases_by_id(store)?;
    for examined in examined {
        let found = || examined.found.iter().flatten();
        let archived: u64 = found().map(|found| found.archived).sum();
        let unnamed = |found: &FoundSession| {
            let (key, own) = (
                json::member_text(&found.header, "key"),
                foreign::aliases(&found.header),
            );
            let known = aliases.get(&found.id).into_iter().flatten();
            let lost = known.filter(|alias| key.as_deref() != Some(alias) && !own.contains(alias));
            lost.count() as u64
        };
        let aliases: u64 = match examined.stored {
            true => found().map(unnamed).sum(),
            false => 0,
        };
        for (loss, count) in [(Loss::Archived, archived), (Loss::Alias, aliases)] {
            if count > 0 {
                *examined.losses.entry(loss).or_default() += count;
            }
        }
        if strict && archived + aliases > 0 {
            let error = Error::data("lossy conversion; not imported (--strict)");
            examined.found = Err(Refusal::Damaged(error));
        }
    }
    Ok(())
}
