//! Undoes appends: hides the newest appended messages from the view; the log keeps them.

use super::compact::event::{CompactionInfo, ItemChange, ViewEdit};
use super::{Plan, Stamp};
use crate::error::Result;
use crate::model::event::Event;
use crate::model::exchange::Cuts;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{chain, json};

/// The strategy of the event that undoes an append.
const STRATEGY: &str = "undo";

pub fn is_undo(event: &Event<'_>) -> bool {
    let strategy = json::member_text(event.raw, "strategy");
    event.name() == "compact" && strategy.as_deref() == Some(STRATEGY)
}

/// The newest appended messages of a view.
pub struct AppendedMessages {
    view: View,
    items: Vec<usize>,
}

/// Finds the newest appended messages after line `behind`: with `exchange` the last exchange, else the last message
/// and its message group. Returns none when the last message is an initial instruction or a copy from another
/// session.
pub fn newest(session: &Session, after: Option<usize>, exchange: bool) -> Option<AppendedMessages> {
    let view = View::replay(session);
    let is_copy = |item: &Item| {
        let message = item.message(session);
        message.is_some_and(|message| chain::copied_from(&message).is_some())
    };
    let first = view
        .items
        .iter()
        .position(|item| !item.is_never_dropped(session))?;
    let mut items = first..view.items.len();
    let last = items.rfind(|at| view.items[*at].line().is_some())?;
    if view.items[last].line() < after || is_copy(&view.items[last]) {
        return None;
    }
    let cuts = Cuts::of(session, &view);
    let start = cuts.exchange_starts().into_iter().next_back();
    let goes = |at: &usize| match (exchange, cuts.atom(*at)) {
        _ if matches!(view.items[*at], Item::Summary(_)) || is_copy(&view.items[*at]) => false,
        (true, Some(_)) => start.is_some_and(|start| *at >= start),
        (false, Some(atom)) => cuts.atom(last) == Some(atom),
        (_, None) => *at == last,
    };
    let items = (first..view.items.len()).filter(goes).collect();
    Some(AppendedMessages { view, items })
}

impl AppendedMessages {
    /// Plans the event that hides these messages.
    pub fn undo(&self, session: &Session, stamp: impl FnOnce(&str) -> Result<Stamp>) -> Result<Plan> {
        let mut reshaping = ViewEdit::of(&self.view);
        self.items
            .iter()
            .for_each(|at| reshaping.changes[*at] = ItemChange::Drop);
        let about = CompactionInfo {
            strategy: STRATEGY.to_string(),
            sizes: None,
        };
        let count = self.items.len();
        let event = reshaping.event(session, &self.view, &about, &stamp(&count.to_string())?)?;
        let ending = if count == 1 { "" } else { "s" };
        let what = format!("undid the append of {count} message{ending}");
        Ok(Plan::Lines(vec![event], what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::restore::{self, UndoTarget};
    use crate::model::session::of_lines as session;

    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"c1"}"#;

    fn undo(session: &mut Session, exchange: bool) -> Result<()> {
        let target = match exchange {
            true => UndoTarget::Exchange,
            false => UndoTarget::ChangeOrAppend,
        };
        let id = format!("e{}", session.len());
        let stamp = |_: &str| Ok(Stamp { id, at: "x".into() });
        let Plan::Lines(lines, _) = restore::plan(session, target, stamp)? else {
            return Ok(());
        };
        lines.iter().for_each(|line| session.push_new(line));
        Ok(())
    }

    fn ids(session: &Session) -> String {
        let view = View::replay(session);
        let ids = view
            .messages(session)
            .map(|message| message.id().unwrap_or_default().into_owned());
        ids.collect::<Vec<_>>().join(" ")
    }

    const LOG: [&str; 8] = [
        r#"{"type":"session","version":1,"id":"s"}"#,
        r#"{"role":"system","content":"0","id":"s1"}"#,
        r#"{"role":"user","content":"1","id":"u1"}"#,
        CALL,
        r#"{"role":"tool","tool_call_id":"c","content":"r","id":"t1"}"#,
        r#"{"type":"truncate","id":"cut","at":"x","before":"u1"}"#,
        r#"{"role":"assistant","content":"a","id":"a1"}"#,
        r#"{"role":"user","content":"2","id":"u2"}"#,
    ];

    #[test]
    fn appends_and_events_are_undone_in_their_order() {
        let mut session = session(&LOG);
        let mut seen = vec![ids(&session)];
        for _ in 0..12 {
            if undo(&mut session, false).is_err() {
                break;
            }
            seen.push(ids(&session));
        }
        // The cut hid nothing but can still be undone; the instructions were not appended.
        let steps = [
            "s1 u1 c1 t1 a1 u2", "s1 u1 c1 t1 a1", "s1 u1 c1 t1", "s1 u1 c1 t1", "s1 u1", "s1",
        ];
        assert_eq!(seen, steps);
    }

    #[test]
    fn an_exchange_is_undone_at_once() {
        let mut session = session(&LOG);
        undo(&mut session, true).unwrap();
        assert_eq!(ids(&session), "s1 u1 c1 t1 a1");
        undo(&mut session, true).unwrap();
        assert_eq!(ids(&session), "s1");
        assert!(undo(&mut session, true).is_err());
    }
}
