//! Reconstructs a branch as a complete session, including the messages before its branch point.

use crate::model::lineage::{Lineage, SideBranch};
use crate::model::message::Message;
use crate::model::session::{Class, Session};
use std::collections::HashMap;

/// Completes a branch: its header, the lines of its ancestors up to the branch point, and its own lines. `before` are
/// the sessions before the branch in its input, starting with the main one; message ids are looked up in them. A
/// session that is not a branch, or whose branch point is unknown, is returned unchanged.
pub fn complete_branch(before: &[Session], branch: Session) -> Session {
    // Prefer the first occurrence: if a branch repeats an id of the main session, the id refers to the main session.
    let mut places: HashMap<String, (usize, usize)> = HashMap::new();
    for (nth, session) in before.iter().enumerate() {
        for (line, _) in session.messages() {
            let record = session.record(line);
            let id = record.message().and_then(Message::id);
            id.map(|id| places.entry(id.into_owned()).or_insert((nth, line)));
        }
    }
    // Walk from the branch to the root; each step leads to an earlier session.
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut from = branch_point(&branch);
    let mut limit = before.len();
    while let Some((nth, line)) = from.and_then(|id| places.get(&id).copied()) {
        if nth >= limit {
            break;
        }
        pieces.push((nth, line));
        from = branch_point(&before[nth]);
        limit = nth;
    }
    if pieces.is_empty() {
        return branch;
    }
    let mut whole = Session::default();
    let headers = (0..branch.len()).take_while(|line| branch.class(*line) == Class::Header);
    let own = headers.count();
    (0..own).for_each(|line| whole.push(&branch.record(line)));
    for (nth, last) in pieces.into_iter().rev() {
        let session = &before[nth];
        (0..=last)
            .filter(|line| session.class(*line) != Class::Header)
            .for_each(|line| whole.push(&session.record(line)));
    }
    (own..branch.len()).for_each(|line| whole.push(&branch.record(line)));
    whole
}

/// The id of the branch point; none when the session is not a branch.
fn branch_point(session: &Session) -> Option<String> {
    let lineage = Lineage::of(session)?;
    (lineage.side_branch() == Some(SideBranch::Branch))
        .then_some(lineage.at)
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::complete_branch;
    use crate::model::session::Session;
    use crate::model::session::of_lines as session;

    fn branch(id: &str, at: &str, say: &str) -> Session {
        let header = format!(
            r#"{{"type":"session","version":1,"id":"{id}","metadata":{{"lineage":{{"kind":"branch","parent":"m","at":"{at}"}}}}}}"#
        );
        session(&[
            &header,
            &format!(r#"{{"role":"user","content":"{say}","id":"{say}"}}"#),
        ])
    }

    #[test]
    fn a_nested_branch_includes_all_earlier_messages() {
        let main = session(&[
            r#"{"type":"session","version":1,"id":"m"}"#,
            r#"{"role":"user","content":"a","id":"a"}"#,
            r#"{"type":"foreign","format":"x","raw":1}"#,
            r#"{"role":"assistant","content":"b","id":"b"}"#,
        ]);
        let before = [main, branch("m.1", "a", "c"), branch("m.2", "c", "d")];
        let last = complete_branch(&before, branch("m.3", "d", "e"));
        let text = last.text();
        let order: Vec<&str> = text.lines().skip(1).map(|line| &line[line.len() - 3..]).collect();
        assert_eq!(order, ["a\"}", "c\"}", "d\"}", "e\"}"]);
        assert!(
            last.text()
                .starts_with(r#"{"type":"session","version":1,"id":"m.3""#)
        );
        // The messages in between come from the main session.
        let second = complete_branch(&before[..1], branch("m.1", "b", "c"));
        assert!(second.text().contains("foreign"));
    }

    #[test]
    fn unknown_or_circular_branch_points_terminate() {
        let before = [branch("m.1", "d", "c"), branch("m.2", "c", "d")];
        let lost = branch("m.3", "nowhere", "e");
        assert_eq!(complete_branch(&before, lost.clone()).text(), lost.text());
        let round = complete_branch(&before, branch("m.3", "d", "e")).text();
        assert_eq!(round.lines().count(), 4, "{round}");
    }
}
