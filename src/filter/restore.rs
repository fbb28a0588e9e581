//! Takes an event back: it counts as never written.

use super::{Plan, Stamp};
use crate::error::{Error, Kind, Result};
use crate::model::json::ObjectBuilder;
use crate::model::session::{Class, Session};

/// Plans to take back the event of this id, or the newest cut, compaction or summary that still counts.
pub fn plan(session: &Session, id: Option<&str>, stamp: impl FnOnce(&str) -> Result<Stamp>) -> Result<Plan> {
    let (id, kind) = match id {
        Some(id) => (id.to_string(), named(session, id)?),
        None => newest(session).ok_or_else(|| Error::new(Kind::No, "nothing to undo"))?,
    };
    let stamp = stamp(&id)?;
    let mut event = ObjectBuilder::default();
    event
        .text("type", "restore")
        .text("id", &stamp.id)
        .text("at", &stamp.at)
        .text("of", &id);
    Ok(Plan::Lines(
        vec![event.finish()],
        format!("{kind} {id} is taken back"),
    ))
}

/// Changes of the view that still count, newest last: id and type.
pub fn changes(session: &Session) -> Vec<(String, String)> {
    let found = session.live_events().into_iter().filter_map(|index| {
        let record = session.record(index);
        let event = record.event()?;
        let kind = event.name();
        matches!(kind.as_ref(), "truncate" | "compact" | "summary")
            .then(|| Some((event.id()?.into_owned(), kind.into_owned())))?
    });
    found.collect()
}

fn newest(session: &Session) -> Option<(String, String)> {
    changes(session).pop()
}

/// The type of the event of this id, which must still count.
fn named(session: &Session, id: &str) -> Result<String> {
    let has_id = |index: &usize| {
        let record = session.record(*index);
        record
            .event()
            .and_then(|event| event.id())
            .is_some_and(|own| own == id)
    };
    let all: Vec<usize> = (0..session.len())
        .filter(|index| session.class(*index) == Class::Event)
        .collect();
    let Some(index) = all.into_iter().rev().find(has_id) else {
        return Err(Error::new(Kind::No, format!("no event {id} in this session")));
    };
    let record = session.record(index);
    let kind = record
        .event()
        .map(|event| event.name().into_owned())
        .unwrap_or_default();
    if kind != "restore" && !session.live_events().contains(&index) {
        return Err(Error::new(
            Kind::No,
            format!("the event {id} is taken back already"),
        ));
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::view::View;

    fn session(lines: &[&str]) -> Session {
        let mut session = Session::default();
        lines.iter().for_each(|line| session.push_new(line.as_bytes()));
        session
    }

    fn undo(session: &mut Session, id: Option<&str>, new: &str) -> Result<()> {
        let stamp = |_: &str| {
            Ok(Stamp {
                id: new.into(),
                at: "2026-01-01T00:00:00Z".into(),
            })
        };
        let Plan::Lines(lines, _) = plan(session, id, stamp)? else {
            return Ok(());
        };
        lines.iter().for_each(|line| session.push_new(line));
        Ok(())
    }

    #[test]
    fn undoes_the_newest_change_then_the_one_before() {
        let mut session = session(&[
            r#"{"role":"user","content":"1","id":"a"}"#,
            r#"{"role":"user","content":"2","id":"b"}"#,
            r#"{"type":"truncate","id":"e1","at":"x","before":"b"}"#,
            r#"{"type":"truncate","id":"e2","at":"x","before":null}"#,
        ]);
        let seen = |session: &Session| View::replay(session).items.len();
        assert_eq!(seen(&session), 0);
        undo(&mut session, None, "r1").unwrap();
        assert_eq!(seen(&session), 1);
        undo(&mut session, None, "r2").unwrap();
        assert_eq!(seen(&session), 2);
        assert_eq!(undo(&mut session, None, "r3").unwrap_err().kind, Kind::No);
        assert!(undo(&mut session, Some("e1"), "r3").is_err());
        // Taking the undo back does the change again.
        undo(&mut session, Some("r2"), "r3").unwrap();
        assert_eq!(seen(&session), 1);
    }
}
