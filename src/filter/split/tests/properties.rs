//! Properties of random splits of random sessions.

use super::super::*;
use crate::filter::join::join;
use crate::filter::tests::histories::{history, materialized, reread, sent, step};
use crate::model::chain::{self, ChainLinks};
use crate::model::exchange::Cuts;
use crate::model::json;
use crate::model::session::Class;
use crate::model::view::Item;
use crate::tokens::{Tokenizer, usage};
use proptest::prelude::*;
use std::time::Duration;

/// Adds times to some messages of a session.
fn timed(session: &Session, minutes: &[Option<u16>]) -> Session {
    let mut timed = Session::default();
    for index in 0..session.len() {
        let body = session.record(index).body;
        let minute = minutes.get(index % minutes.len().max(1)).copied().flatten();
        let line = minute
            .filter(|_| matches!(session.class(index), Class::Message(_)))
            .and_then(|minute| {
                let time = format!(
                    "\"2026-01-{:02}T{:02}:{:02}:00Z\"",
                    1 + minute / 1440,
                    minute / 60 % 24,
                    minute % 60
                );
                json::with_members(body, &[("timestamp", Some(time.as_bytes()))]).ok()
            });
        timed.push_new(line.as_deref().unwrap_or(body));
    }
    timed
}

fn conditions() -> impl Strategy<Value = SplitConditions> {
    let some = |range: std::ops::Range<u64>| proptest::option::weighted(0.5, range);
    (
        some(1..12),
        some(1..200),
        some(1..4),
        some(0..50_000),
        any::<bool>(),
    )
        .prop_map(
            |(max_messages, max_tokens, every_turns, gap, per_day)| SplitConditions {
                max_messages,
                max_tokens,
                every_turns,
                gap: gap.map(Duration::from_secs),
                per_day,
                at: Vec::new(),
            },
        )
}

fn is_copy(body: &[u8]) -> bool {
    json::member(body, "metadata").is_some_and(|raw| json::member(raw, "copied_from").is_some())
}

/// The bodies of a log's messages and damaged lines, without copies.
fn message_lines(session: &Session) -> Vec<Vec<u8>> {
    let kept = |index: &usize| matches!(session.class(*index), Class::Message(_) | Class::Unreadable);
    let bodies = (0..session.len())
        .filter(kept)
        .map(|index| session.record(index).body.to_vec());
    bodies.filter(|body| !is_copy(body)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn pieces_are_the_session(
        steps in proptest::collection::vec(step(), 0..40),
        repeated: bool,
        minutes in proptest::collection::vec(proptest::option::of(0u16..4000), 1..40),
        conditions in conditions(),
        picks in proptest::collection::vec(any::<usize>(), 0..3),
        carry in prop_oneof![Just(CopyPolicy::System), Just(CopyPolicy::Context), Just(CopyPolicy::None)],
    ) {
        let session = timed(&history(&steps, repeated), &minutes);
        let view = View::replay(&session);
        let mut conditions = conditions;
        conditions.at = picks.iter().filter_map(|pick| {
            let item = view.items.get(pick % view.items.len().max(1))?;
            session.id(item.line()?)
        }).collect();
        let counter = Counter::of(Tokenizer::DEFAULT, &session);
        let split = match PlannedSplit::plan(&session, &conditions, carry, Some(counter)) {
            Ok(split) => split,
            Err(error) => {
                prop_assert!(matches!(error.kind, crate::error::ErrorKind::Usage), "{error}");
                return Ok(());
            }
        };
        let pieces: Vec<Session> = (0..split.parts.len()).map(|nth| split.build_part(nth).unwrap().session).collect();

        // Every line occurs once and in order, and the views together equal the original.
        let lines: Vec<_> = pieces.iter().flat_map(message_lines).collect();
        let put_in = |body: &&Vec<u8>| !String::from_utf8_lossy(body).contains("put in");
        prop_assert!(lines.iter().filter(put_in).eq(message_lines(&session).iter().filter(put_in)));
        let shown: Vec<_> = pieces.iter().flat_map(sent).filter(|body| !is_copy(body.as_bytes())).collect();
        prop_assert_eq!(shown, sent(&session));

        // Joining restores the session; repeated ids are replaced.
        if !repeated {
            let links: Vec<ChainLinks> = pieces.iter().map(ChainLinks::of).collect();
            let order = chain::order(&links, None).unwrap();
            prop_assert!(order.faults.is_empty(), "{:?}", order.faults);
            let joined = join(&pieces, &order, None).unwrap();
            prop_assert_eq!((joined.kept, joined.renamed), (0, 0));
            // An event that names a message without an id gives the message one.
            let bare = |line: &String| match json::with_members(line.as_bytes(), &[("id", None)]) {
                Ok(bare) => String::from_utf8(bare).unwrap(),
                Err(_) => line.clone(),
            };
            let bares = |lines: Vec<String>| lines.iter().map(bare).collect::<Vec<_>>();
            prop_assert_eq!(bares(sent(&joined.session)), bares(sent(&session)));
        }

        // No part splits a message group.
        let cuts = Cuts::of(&session, &view);
        let mut places = std::collections::HashMap::new();
        for (nth, part) in split.parts.iter().enumerate() {
            for atom in part.items.clone().filter_map(|item| cuts.atom(item)) {
                prop_assert_eq!(*places.entry(atom).or_insert(nth), nth);
            }
        }

        for (nth, (part, piece)) in split.parts.iter().zip(&pieces).enumerate() {
            let own = View::replay(piece);
            prop_assert!(own.dangling.is_empty(), "{:?}", own.dangling);
            prop_assert_eq!(own.items.len() as u64, part.messages);
            let tokens: u64 = own.items.iter().map(|item| usage::of_item(piece, item, counter)).sum();
            prop_assert_eq!(tokens, part.tokens);
            let over = |limit: Option<u64>, size: u64| limit.is_some_and(|limit| size > limit);
            let large = over(conditions.max_messages, part.messages) || over(conditions.max_tokens, part.tokens);
            prop_assert_eq!(large, part.is_too_large);
            prop_assert!(!large || part.exchanges == 1);
            prop_assert!(!over(conditions.every_turns, part.exchanges));
            let copies = own.items.iter().take_while(|item| is_copy(item.body(piece))).count();
            prop_assert!(nth > 0 || copies == 0);
            prop_assert!(own.items[copies..].iter().all(|item| !matches!(item, Item::Line(_)) || !is_copy(item.body(piece))));
            // The same holds as a stream.
            prop_assert_eq!(sent(&reread(&materialized(piece))), sent(piece));
            prop_assert_eq!(split.build_part(nth).unwrap().session.text(), piece.text());
        }
    }
}
