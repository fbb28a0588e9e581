//! Truncates the view: hides the messages before a cut; the log keeps them.

use super::{Plan, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::model::exchange::Cuts;
use crate::model::session::Session;
use crate::model::view::{Item, View};

/// Where to cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutPoint {
    /// Keep this many of the newest exchanges.
    LastExchanges(usize),
    /// Keep at least this many of the newest messages; the cut moves outward so that calls keep their results.
    LastMessages(usize),
    /// Keep this message and all later ones.
    Before(String),
}

/// Plans the cut: one `truncate` event with the id from `stamp`.
pub fn plan(session: &Session, cut: &CutPoint, stamp: impl FnOnce(&str) -> Result<Stamp>) -> Result<Plan> {
    let view = View::replay(session);
    let going = |kept: usize| {
        view.items[..kept]
            .iter()
            .filter(|item| !item.survives_truncate(session))
            .count()
    };
    let all = view.items.len();
    let kept = match cut {
        CutPoint::LastExchanges(0) | CutPoint::LastMessages(0) => (going(all) > 0).then_some(all),
        CutPoint::LastExchanges(keep) => Cuts::of(session, &view).last_exchanges(*keep),
        CutPoint::LastMessages(keep) => Cuts::of(session, &view).last_messages(*keep),
        CutPoint::Before(id) => before(session, &view, id)?,
    };
    // A message that a compaction inserted before another has no line of its own and is kept with that message.
    let bound = |mut kept: usize| {
        while kept < all && kept > 0 && matches!(view.items[kept - 1], Item::Inserted(_)) {
            kept -= 1;
        }
        kept
    };
    let Some(kept) = kept.map(bound).filter(|kept| going(*kept) > 0) else {
        return Ok(Plan::Nothing("nothing to drop".to_string()));
    };
    let target = view.items[kept..].iter().find_map(|item| match item {
        Item::Line(index) | Item::Edited(index, _) => Some(*index),
        Item::Inserted(_) | Item::Summary(_) => None,
    });
    let id = match target {
        Some(index) if kept < all => session.id(index),
        _ => None,
    };
    let stamp = stamp(id.as_deref().unwrap_or("all"))?;
    let mut event = stamp.event("truncate");
    match &id {
        Some(id) => event.text("before", id),
        None => event.raw("before", "null"),
    };
    // An imported id may repeat; then an occurrence number is needed.
    if let (Some(id), Some(target)) = (&id, target)
        && let Some(nth @ 1..) = session.all_of(id).iter().position(|index| *index == target)
    {
        event.raw("nth", (nth + 1).to_string());
    }
    let count = view
        .items
        .iter()
        .filter(|item| !matches!(item, Item::Summary(_)))
        .count();
    let reported = format!("dropped {} of {count} messages", going(kept));
    Ok(Plan::Lines(vec![event.finish()], reported))
}

/// The item of this message, moved outward to a valid cut.
fn before(session: &Session, view: &View, id: &str) -> Result<Option<usize>> {
    let message = session.all_of(id).first().copied();
    let is = |item: &Item| match item {
        Item::Line(index) | Item::Edited(index, _) => Some(*index) == message,
        Item::Inserted(_) | Item::Summary(_) => false,
    };
    match view.items.iter().position(is) {
        Some(item) => Ok(Cuts::of(session, view).outward(item)),
        None => Err(Error::new(
            ErrorKind::No,
            format!("no such message in the view: {id}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::materialize::materialize;
    use crate::model::record::Record;
    use proptest::prelude::*;

    fn stamp(_: &str) -> Result<Stamp> {
        Ok(Stamp {
            id: "evt_1".into(),
            at: "2026-01-01T00:00:00Z".into(),
        })
    }

    fn session(roles: &str) -> Session {
        let mut session = Session::default();
        for (index, role) in roles.chars().enumerate() {
            session.push_new(match role {
                's' => br#"{"role":"system","content":"s"}"#.to_vec(),
                'u' => format!("{{\"role\":\"user\",\"content\":\"{index}\"}}").into_bytes(),
                'c' => br#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#.to_vec(),
                't' => br#"{"role":"tool","tool_call_id":"c","content":"r"}"#.to_vec(),
                'x' => b"not json".to_vec(),
                _ => format!("{{\"role\":\"assistant\",\"content\":\"{index}\"}}").into_bytes(),
            }.as_slice());
        }
        session
    }

    fn kept(roles: &str, cut: &CutPoint) -> String {
        let mut session = session(roles);
        if let Plan::Lines(lines, _) = plan(&session, cut, stamp).unwrap() {
            session.push_new(&lines[0]);
        }
        let view = View::replay(&session);
        view.items
            .iter()
            .map(|item| match item {
                Item::Line(index) => roles.as_bytes()[*index] as char,
                _ => '?',
            })
            .collect()
    }

    #[test]
    fn cuts_between_exchanges() {
        assert_eq!(kept("suauctaua", &CutPoint::LastExchanges(1)), "sua");
        assert_eq!(kept("suauctaua", &CutPoint::LastExchanges(2)), "suctaua");
        assert_eq!(kept("suauctaua", &CutPoint::LastExchanges(0)), "s");
        assert_eq!(kept("suauctaua", &CutPoint::LastExchanges(3)), "suauctaua");
        assert_eq!(kept("suauctaua", &CutPoint::LastMessages(4)), "suctaua");
        assert_eq!(kept("suauctaua", &CutPoint::LastMessages(0)), "s");
        assert_eq!(kept("sua", &CutPoint::LastExchanges(9)), "sua");
    }

    #[test]
    fn a_cut_at_a_result_moves_to_the_question() {
        let session = session("uauct");
        let cut = CutPoint::Before(session.id(4).unwrap());
        assert_eq!(kept("uauct", &cut), "uct");
        assert!(plan(&session, &CutPoint::Before("nobody".into()), stamp).is_err());
    }

    proptest! {
        #[test]
        fn kept_lines_are_unchanged(roles in "[suactx]{0,30}", keep in 0usize..6, messages: bool) {
            let cut = if messages { CutPoint::LastMessages(keep) } else { CutPoint::LastExchanges(keep) };
            let before = session(&roles);
            let mut after = before.clone();
            if let Plan::Lines(lines, _) = plan(&before, &cut, stamp).unwrap() {
                after.push_new(&lines[0]);
            }
            let mut out = Vec::new();
            materialize(&after, &View::replay(&after), &mut out).unwrap();
            // The result is the remaining lines in order; damaged lines and instructions are always present.
            let mut rest = (0..before.len()).map(|index| before.full(index));
            for line in out.split_inclusive(|byte| *byte == b'\n') {
                prop_assert!(rest.any(|full| full == line));
            }
            let stays = |full: &[u8]| full.starts_with(b"not") || full.starts_with(b"{\"role\":\"system\"");
            let count = |text: &[u8]| text.split_inclusive(|b| *b == b'\n').filter(|full| stays(full)).count();
            prop_assert_eq!(count(&out), (0..before.len()).filter(|index| stays(before.full(*index))).count());
            // A repeated cut changes nothing.
            let mut again = Session::default();
            for line in out.split_inclusive(|byte| *byte == b'\n') {
                again.push(&Record::parse(line, crate::error::Position { line: 1, offset: 9 }));
            }
            prop_assert!(matches!(plan(&again, &cut, stamp).unwrap(), Plan::Nothing(_)));
        }
    }
}
