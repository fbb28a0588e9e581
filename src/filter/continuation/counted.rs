//! Token counts computed before the lock is taken, so that other writers do not wait for the slow part.

use crate::model::session::{Class, Session};
use crate::tokens::Counter;

/// A snapshot of a session and the token count of each message.
#[derive(Debug)]
pub struct CountedSession {
    session: Session,
    counter: Counter,
    /// One count per line.
    tokens: Vec<u64>,
}

impl CountedSession {
    /// Counts every message of a session.
    pub fn of(session: Session, counter: Counter) -> CountedSession {
        let tokens = (0..session.len()).map(|index| cost(&session, index, counter));
        CountedSession {
            tokens: tokens.collect(),
            session,
            counter,
        }
    }

    /// The snapshot.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Tokens of a line of the current session, if the snapshot has the same line at this index and used the same
    /// counter.
    pub(super) fn tokens(&self, now: &Session, index: usize, counter: Counter) -> Option<u64> {
        let known = *self.tokens.get(index)?;
        (self.counter == counter && self.session.full(index) == now.full(index)).then_some(known)
    }
}

/// Counts the tokens of a line.
pub(super) fn cost(session: &Session, index: usize, counter: Counter) -> u64 {
    match session.class(index) {
        Class::Message(_) => {
            let record = session.record(index);
            record.message().map_or(0, |message| counter.message(message))
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::continuation::{EarlierSessions, NewSession, plan, plan_counted};
    use crate::tokens::Tokenizer;

    fn session(texts: &[&str]) -> Session {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"one"}"#);
        for text in texts {
            session.push_new(format!(r#"{{"role":"user","content":"{text}","id":"{text}"}}"#).as_bytes());
        }
        session
    }

    #[test]
    fn cached_counts_apply_to_identical_lines_only() {
        let named = |name: &str| Counter::new(Tokenizer::named(name).unwrap(), None);
        let counter = named("chars4");
        let before = EarlierSessions::guessed(&session(&[]));
        let new = NewSession {
            id: "one.1",
            created_at: None,
            layout: super::super::SessionLayout::Native,
            limit: None,
        };
        let mut counted = CountedSession::of(session(&["a", "b b b b b b b b"]), counter);
        for texts in [
            &["a", "b b b b b b b b"][..],
            &["a", "b b b b b b b b", "more of it all"],
            &["a"],
            &["a", "another one altogether, which is longer", "c"],
        ] {
            let now = session(texts);
            let whole = plan(&now, counter, &before, &new).unwrap();
            assert_eq!(
                plan_counted(&now, counter, &before, &new, Some(&counted)).unwrap(),
                whole
            );
            let other = named("o200k_base");
            let whole = plan(&now, other, &before, &new).unwrap();
            assert_eq!(
                plan_counted(&now, other, &before, &new, Some(&counted)).unwrap(),
                whole
            );
        }
        // The cached count is used.
        counted.tokens[1] = 1000;
        let now = session(&["a", "b b b b b b b b"]);
        let whole = plan(&now, counter, &before, &new).unwrap();
        assert_ne!(
            plan_counted(&now, counter, &before, &new, Some(&counted)).unwrap(),
            whole
        );
    }
}
