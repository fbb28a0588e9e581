//! Adopts the names that sessions have in their source as aliases of the store.

use super::inspect::{ExaminedFile, FoundSession};
use super::plan::MigrationStep;
use crate::context::Context;
use crate::errors::named;
use convo::error::ErrorKind::{Data, Exists, NotFound, Unsafe};
use convo::model::{json, key};
use convo::store::{Store, foreign};
use std::collections::{BTreeMap, HashSet};

/// Adds the aliases of migrated sessions. If several sessions claim an alias, it names all of them, and using it is an
/// error that lists them.
pub fn claim(
    context: &Context,
    store: &Store,
    examined: &[ExaminedFile],
    steps: &[MigrationStep],
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
    claim_keys(context, store, examined, steps);
    Ok(())
}

/// Lets the keys of migrated sessions name the last session of their chain, as in the store from which they were
/// exported. A key that names another session is not changed.
fn claim_keys(context: &Context, store: &Store, examined: &[ExaminedFile], steps: &[MigrationStep]) {
    let complete = steps.iter().filter(|step| step.outcome.is_complete());
    // A session whose link was moved to the metadata may not be the one that the key means.
    let found: Vec<&FoundSession> = complete
        .filter_map(|step| examined[step.file].found.as_ref().ok()?.get(step.nth))
        .filter(|found| found.instead.is_none())
        .collect();
    let text = |found: &FoundSession, name: &str| json::member_string(&found.header, name);
    let parents: Vec<Option<String>> = found.iter().map(|found| text(found, "continued_from")).collect();
    let continued: HashSet<&String> = parents.iter().flatten().collect();
    for (found, _) in found.iter().zip(&parents).filter(|(_, parent)| parent.is_none()) {
        let Some(key) = text(found, "key")
            .filter(|key| key::id_for_key(key) != found.id || continued.contains(&found.id))
        else {
            continue;
        };
        match store.key_claim(&key, &found.id) {
            Ok(None) => {}
            Ok(Some(other)) => {
                let what = format!("key of {other}, not of {}", found.id);
                context.output.notice(&key, &what);
            }
            // The key is ambiguous, has no valid alias, or the chain is incomplete; the session is stored.
            Err(error) if matches!(error.kind, Data | Exists | NotFound | Unsafe) => {
                let error = named(error, &key);
                let hint = error
                    .hint
                    .map(|hint| format!("\nhint: {hint}"))
                    .unwrap_or_default();
                let what = format!("not assigned: {}{hint}", error.message);
                context.output.notice(&key, &what);
            }
            Err(error) => context.output.error(&named(error, &key)),
        }
    }
}
