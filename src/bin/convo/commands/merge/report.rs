//! Reports the result of a merge.

use crate::context::Context;
use crate::output::count_of;
use convo::error::{Error, ErrorKind};
use convo::filter::merge::Merged;
use convo::format::Format;
use serde_json::json;

/// Maximum number of conflicts that are listed.
const NAMED: usize = 10;

/// Reports totals and conflicts.
pub fn report_merge(context: &Context, label: &str, merged: &Merged<'_>, is_dry: bool) {
    let totals = &merged.totals;
    for conflict in merged.conflicts.iter().take(NAMED) {
        let Some(id) = &conflict.id else { continue };
        let of = &conflict.of;
        let what = format!("both sides changed {of} (event {id}); decide with --resolve {of} ours or theirs");
        context.output.notice(label, &what);
    }
    if let Some(more) = merged.conflicts.len().checked_sub(NAMED).filter(|more| *more > 0) {
        context
            .output
            .notice(label, &format!("{} more", count_of(more as u64, "conflict")));
    }
    let counts = [
        (
            totals.kept,
            "deleted record",
            "; one side lacks them, leave them out with --deletions",
        ),
        (
            totals.suspended,
            "change",
            " of the view in the second input; not in force (see restore --list)",
        ),
        (
            totals.refused,
            "change",
            " of events in the second input; not taken",
        ),
    ];
    for (count, thing, what) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        context
            .output
            .notice(label, &format!("kept {}{what}", count_of(count, thing)));
    }
    let mut done = format!(
        "{} {}",
        if is_dry { "would add" } else { "added" },
        count_of(totals.from_b, "record")
    );
    let more = [
        (totals.branches, "branch", "es"),
        (totals.deleted, "deletion", "s"),
        (merged.conflicts.len() as u64, "conflict", "s"),
    ];
    for (count, thing, ending) in more.into_iter().filter(|(count, ..)| *count > 0) {
        done += &format!(", {count} {thing}{}", if count == 1 { "" } else { ending });
    }
    context.output.notice(label, &done);
}

/// Encodes conflicts and totals as JSON.
pub fn lines(merged: &Merged<'_>) -> Vec<String> {
    let conflict = |conflict: &convo::filter::merge::Conflict| {
        let line = json!({
            "schema": "convo.merge/1", "op": "conflict", "session": conflict.session, "id": conflict.id, "of": conflict.of,
        });
        line.to_string()
    };
    let totals = &merged.totals;
    let total = json!({
        "schema": "convo.merge/1", "op": "total", "from_a": totals.from_a, "from_b": totals.from_b, "both": totals.both,
        "conflicts": merged.conflicts.len(), "branches": totals.branches, "kept": totals.kept,
        "deleted": totals.deleted, "suspended": totals.suspended,
    });
    merged
        .conflicts
        .iter()
        .map(conflict)
        .chain([total.to_string()])
        .collect()
}

/// The error of conflicts in a format that cannot hold both versions.
pub fn refused(merged: &Merged<'_>, format: Format) -> Error {
    let mut ids: Vec<&str> = merged
        .conflicts
        .iter()
        .map(|conflict| conflict.of.as_str())
        .collect();
    let more = if ids.len() > NAMED { ", ..." } else { "" };
    ids.truncate(NAMED);
    let what = format!(
        "both sides changed {}{more}; {} files cannot hold both versions",
        ids.join(", "),
        format.name()
    );
    Error::new(ErrorKind::No, what).hint("decide with --ours or --theirs")
}
