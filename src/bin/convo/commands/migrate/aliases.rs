//! Adopts the names that sessions have in their source as aliases of the store.

use super::inspect::ExaminedFile;
use super::plan::Step;
use crate::context::Context;
use crate::errors::named;
use convo::store::Store;
use convo::store::foreign;
use std::collections::BTreeMap;

/// Adds the aliases of migrated sessions. If several sessions claim an alias, it names all of them, and using it is an
/// error that lists them.
pub fn claim(
    context: &Context,
    store: &Store,
    examined: &[ExaminedFile],
    steps: &[Step],
) -> anyhow::Result<()> {
    let mut claims: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.outcome.is_complete()) {
        let Ok(found) = &examined[step.file].found else {
            continue;
        };
        for alias in foreign::aliases(&found[step.nth].header) {
            claims.entry(alias).or_default().push(found[step.nth].id.clone());
        }
    }
    for (alias, mut ids) in claims {
        ids.sort();
        ids.dedup();
        let known = store.alias_ids(&alias)?.unwrap_or_default();
        if known == ids {
            continue;
        }
        // An alias of another session is not changed. A single claim takes precedence over the session whose key equals
        // the alias; several claims do not.
        let own = (ids.len() > 1).then(|| store.resolve(&alias).ok()).flatten();
        if let Some(other) = known.iter().chain(&own).find(|id| !ids.contains(id)) {
            let whose = match ids.as_slice() {
                [id] => id.clone(),
                ids => format!("{} sessions claim this alias", ids.len()),
            };
            context
                .output
                .notice(&alias, &format!("alias of {other}, not of {whose}"));
            continue;
        }
        let done = store.alias_claim(&alias, &ids);
        if let Err(error) = done {
            context.output.error(&named(error, &alias));
        }
    }
    Ok(())
}
