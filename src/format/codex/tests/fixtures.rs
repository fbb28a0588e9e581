//! What Codex itself wrote, where that is at hand.

use super::session;
use crate::format::tests::truth::{self, Counts};
use crate::model::json;

/// One record of every kind, thrown together: no session, and counted otherwise.
const HEAP: &str = "stage0_all_event_types.jsonl";

#[test]
fn every_log_counts_what_it_is_known_to_hold() {
    let (mut files, mut counts) = (0, 0);
    for (name, bytes, mut known) in truth::files("codex") {
        let (session, report) = session(&bytes);
        let mut ours = Counts::of(std::slice::from_ref(&session));
        // The line that became the header is no message either.
        ours.add("foreign_records", 1);
        if name == HEAP {
            known.remove("foreign_records");
        }
        let (compared, wrong) = ours.compared(&known);
        assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{report:?}");
        let inherited = (0..session.len()).filter(|index| {
            let metadata = json::member(session.record(*index).body, "metadata");
            metadata.and_then(|raw| json::member(raw, "inherited")).is_some()
        });
        let theirs = known.get("inherited_messages").and_then(|known| known.as_u64());
        assert_eq!(inherited.count() as u64, theirs.unwrap_or(0), "{name}");
        files += 1;
        counts += compared;
    }
    eprintln!("codex: {files} files, {counts} counts equal");
    assert!(files == 0 || files == 8);
}
