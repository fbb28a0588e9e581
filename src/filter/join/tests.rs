use super::*;
use crate::filter::continuation::{self, EarlierSessions, NewSession, SessionLayout};
use crate::filter::{Plan, Stamp, truncate};
use crate::model::chain::{ChainLinks, order};
use crate::model::view::Item;
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;

fn counter() -> Counter {
    Counter::new(Tokenizer::named("chars4").unwrap(), None)
}

/// Continues a session and links the two.
fn go_on(session: &mut Session) -> Session {
    let before = EarlierSessions::from_header(session).unwrap();
    let source = session.header_text("id").unwrap();
    let id = continuation::ids(&source, before.sessions + 1).next().unwrap();
    let new = NewSession {
        id: &id,
        created_at: Some("2026-11-20T18:02:03Z"),
        layout: SessionLayout::Native,
        limit: None,
    };
    let built = continuation::plan(session, counter(), &before, &new)
        .unwrap()
        .unwrap();
    let mut next = Session::default();
    built.lines.iter().for_each(|line| next.push_new(line));
    session
        .push_new(format!(r#"{{"type":"link","id":"evt_{id}","at":"x","continued_to":"{id}"}}"#).as_bytes());
    next
}

/// Applies a letter to the last session of a chain: a message by role, or an event.
fn act(chain: &mut Vec<Session>, letter: char, nth: usize) {
    let last = chain.last_mut().unwrap();
    let id = if nth.is_multiple_of(3) {
        String::new()
    } else {
        format!(r#","id":"m{nth}""#)
    };
    let text = format!("text {nth}");
    let message = |role: &str, more: &str| format!(r#"{{"role":"{role}","content":"{text}"{id}{more}}}"#);
    let line = match letter {
        'u' => message("user", ""),
        'a' => message("assistant", ""),
        'c' => message(
            "assistant",
            &format!(
                r#","tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
            ),
        ),
        't' => message(
            "tool",
            &format!(r#","tool_call_id":"c{}""#, nth.saturating_sub(1)),
        ),
        's' => message("system", ""),
        'k' => message("system", r#","category":"context""#),
        'e' => message("user", r#","category":"context""#),
        'x' => format!("by hand {nth}"),
        '|' => {
            let next = go_on(last);
            chain.push(next);
            return;
        }
        'T' | 'S' | 'D' => {
            let ids: Vec<String> = last.messages().filter_map(|(index, _)| last.id(index)).collect();
            let Some((first, end)) = ids.get(nth % ids.len().max(1)).zip(ids.last()) else {
                return;
            };
            match letter {
                'T' => format!(r#"{{"type":"truncate","id":"e{nth}","at":"x","before":"{first}"}}"#),
                'S' => format!(
                    r#"{{"type":"summary","id":"e{nth}","at":"x","content":"summary {nth}","covers":["{first}","{end}"]}}"#
                ),
                _ => format!(
                    r#"{{"type":"compact","id":"e{nth}","at":"x","drop":["{first}",["{first}","{end}"]],"edit":[{{"id":"{end}","content":"edited"}}]}}"#
                ),
            }
        }
        _ => return,
    };
    last.push_new(line.as_bytes());
}

fn chain(script: &str) -> Vec<Session> {
    let mut first = Session::default();
    first.push_new(
        br#"{"type":"session","version":1,"id":"chat","title":"T","created_at":"2026-11-01T10:00:00Z"}"#,
    );
    let mut chain = vec![first];
    script
        .chars()
        .enumerate()
        .for_each(|(nth, letter)| act(&mut chain, letter, nth));
    chain
}

fn joined(chain: &[Session]) -> (JoinResult, ChainOrder) {
    let links: Vec<ChainLinks> = chain.iter().map(ChainLinks::of).collect();
    let order = order(&links, None).unwrap();
    (join(chain, &order, None).unwrap(), order)
}

/// The texts of a session's messages that are not copies, in order.
fn own(session: &Session) -> Vec<String> {
    let text = |(index, origin): (usize, MessageOrigin)| {
        let record = session.record(index);
        let own = origin == MessageOrigin::Own;
        record
            .message()
            .filter(|_| own)
            .map(|message| message.text().into_owned())
    };
    chain::origins(session).into_iter().filter_map(text).collect()
}

fn visible(session: &Session) -> HashSet<usize> {
    View::replay(session)
        .items
        .iter()
        .filter_map(Item::line)
        .collect()
}

proptest! {
    #[test]
    fn after_continue_and_join_each_message_occurs_once(script in "[uactskexTSD|]{0,60}", shuffled: bool) {
        let mut chain = chain(&script);
        let expected: Vec<String> = chain.iter().flat_map(own).collect();
        let letters = script.chars().filter(|letter| "uactske".contains(*letter)).count();
        prop_assert_eq!(expected.len(), letters);
        if shuffled {
            chain.reverse();
        }
        let (joined, order) = joined(&chain);
        if shuffled {
            chain.reverse();
        }
        prop_assert_eq!(&order.faults, &Vec::<String>::new());
        prop_assert_eq!(joined.kept, 0);
        prop_assert_eq!(own(&joined.session), expected);
        // No event refers to a missing message, unless it did before.
        let view = View::replay(&joined.session);
        let dangling: usize = chain.iter().map(|session| View::replay(session).dangling.len()).sum();
        prop_assert!(view.dangling.len() <= dangling, "{:?}\n{}", view.dangling, joined.session.text());
        // The joined session shows the last session's own messages.
        let last = chain.last().unwrap();
        let (there, shown) = (visible(last), visible(&joined.session));
        let own_lines = chain::origins(last).into_iter().filter(|(_, origin)| *origin == MessageOrigin::Own);
        let own_lines: Vec<usize> = own_lines.map(|(index, _)| index).collect();
        let all: Vec<usize> = joined.session.messages().map(|(index, _)| index).collect();
        for (mine, whole) in own_lines.iter().rev().zip(all.iter().rev()) {
            prop_assert_eq!(there.contains(mine), shown.contains(whole), "{}\n{}", last.text(), joined.session.text());
        }
        // Damaged lines are all preserved.
        let by_hand = joined.session.text().matches("by hand").count();
        prop_assert_eq!(by_hand, script.matches('x').count());
    }

    #[test]
    fn a_continuation_copies_active_context_and_the_open_exchange(script in "[uactske|]{0,40}") {
        let mut chain = chain(&script);
        let last = chain.last_mut().unwrap();
        let before = last.clone();
        let next = go_on(last);
        let texts = |session: &Session, is_standing: bool| -> Vec<String> {
            let view = View::replay(session);
            let wanted = |item: &&Item| {
                let traits = item.traits(session).unwrap();
                let is_marker = chain::marks(&item.message(session).unwrap()).is_some();
                !is_marker && is_standing == matches!(traits.category, crate::model::message::Category::System | crate::model::message::Category::Context)
            };
            view.items.iter().filter(wanted).map(|item| item.message(session).unwrap().text().into_owned()).collect()
        };
        // Standing messages occur once, however long the chain is.
        prop_assert_eq!(texts(&next, true), texts(&before, true));
        let markers = next.text().matches("session_transition").count();
        prop_assert_eq!(markers, 1);
        // Messages are copied from the last question on, or not at all.
        let (earlier, preserved) = (texts(&before, false), texts(&next, false));
        prop_assert!(earlier.ends_with(&preserved));
        let answered = before.messages().filter(|(_, t)| matches!(t.category, crate::model::message::Category::Dialog | crate::model::message::Category::SystemOutput)).last();
        let is_open = answered.is_some_and(|(_, t)| t.calls || t.role != crate::model::message::Role::Assistant);
        prop_assert_eq!(is_open, !preserved.is_empty());
    }
}

#[test]
fn ids_shared_by_two_sessions_are_distinguished() {
    let one = |id: &str, text: &str| {
        let mut session = Session::default();
        session.push_new(format!(r#"{{"type":"session","version":1,"id":"{id}"}}"#).as_bytes());
        session.push_new(format!(r#"{{"role":"user","content":"{text} 1","id":"1"}}"#).as_bytes());
        session.push_new(format!(r#"{{"role":"assistant","content":"{text} 2","id":"2"}}"#).as_bytes());
        session.push_new(br#"{"type":"truncate","id":"e","at":"x","before":"2"}"#);
        session.push_new(br#"{"role":"user","content":"same"}"#);
        session
    };
    let (joined, _) = joined(&[one("a", "a"), one("b", "b")]);
    assert_eq!((joined.renamed, joined.left_out), (2, 0));
    let shown: Vec<String> = View::replay(&joined.session)
        .messages(&joined.session)
        .map(|m| m.text().into_owned())
        .collect();
    assert_eq!(shown, ["b 2", "same"], "{}", joined.session.text());
    // A restore in the second session undoes that session's cut.
    let mut b = one("b", "b");
    b.push_new(br#"{"type":"restore","id":"r","at":"x","of":"e"}"#);
    let (joined, _) = self::joined(&[one("a", "a"), b]);
    let view = View::replay(&joined.session);
    assert_eq!(view.items.len(), 5, "{}", joined.session.text());
}

#[test]
fn copies_of_missing_messages_are_kept() {
    let mut all = chain("skua|su|ua");
    assert_eq!(all.len(), 3);
    let last = all.pop().unwrap();
    let (alone, order) = joined(std::slice::from_ref(&last));
    assert_eq!(order.faults, ["missing session: chat.1"]);
    // Two instructions, the context message, and the unanswered question.
    assert_eq!((alone.kept, alone.left_out), (4, 1));
    // With a missing session: messages found in neither of the others are kept.
    let (gap, _) = joined(&[all[0].clone(), last]);
    assert_eq!((gap.kept, gap.left_out), (2, 3));
}

#[test]
fn a_cut_in_a_later_session_cuts_the_whole() {
    let chain = chain("suau|auau");
    let mut last = chain[1].clone();
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_cut".into(),
            at: "x".into(),
        })
    };
    let Plan::Lines(lines, _) = truncate::plan(&last, &truncate::CutPoint::LastExchanges(1), stamp).unwrap()
    else {
        panic!("nothing to drop");
    };
    lines.iter().for_each(|line| last.push_new(line));
    let (joined, _) = joined(&[chain[0].clone(), last]);
    let view = View::replay(&joined.session);
    assert_eq!(view.dangling, []);
    let texts: Vec<String> = view
        .messages(&joined.session)
        .map(|m| m.text().into_owned())
        .collect();
    assert_eq!(texts, ["text 0", "text 8"]);
}

#[test]
fn an_event_on_a_copy_applies_to_its_original() {
    // An instruction, a context message, an answered question and an unanswered one; three of them are copied.
    let mut chain = chain("skuau|a");
    let ids: Vec<String> = chain[1]
        .messages()
        .filter_map(|(index, _)| chain[1].id(index))
        .collect();
    let (background, question) = (&ids[1], &ids[3]);
    let event = format!(
        r#"{{"type":"compact","id":"e","at":"x","drop":["{background}"],"edit":[{{"id":"{question}","content":"shorter"}}],"insert":[{{"before":"{question}","message":{{"role":"user","content":"put in"}}}}]}}"#
    );
    chain[1].push_new(event.as_bytes());
    let (joined, _) = joined(&chain);
    let view = View::replay(&joined.session);
    assert_eq!(view.dangling, []);
    let texts: Vec<String> = view
        .messages(&joined.session)
        .map(|m| m.text().into_owned())
        .collect();
    assert_eq!(
        texts,
        ["text 0", "text 2", "text 3", "put in", "shorter", "text 6"]
    );
    // A range that begins with copies covers its remaining messages here and hides none of the earlier session.
    let last = chain[1]
        .messages()
        .last()
        .and_then(|(index, _)| chain[1].id(index))
        .unwrap();
    chain[1].push_new(
        format!(
            r#"{{"type":"summary","id":"f","at":"x","content":"sum","covers":["{background}","{last}"]}}"#
        )
        .as_bytes(),
    );
    let (joined, _) = self::joined(&chain);
    let view = View::replay(&joined.session);
    let shown = view.shown(&joined.session).len();
    assert_eq!((view.dangling.len(), shown), (0, 6), "{}", joined.session.text());
}

#[test]
fn copies_with_shared_messages_contain_each_once() {
    let copy = |id: &str, third: &str, more: &[&str]| {
        let mut session = Session::default();
        session.push_new(format!(r#"{{"type":"session","version":1,"id":"{id}"}}"#).as_bytes());
        session.push_new(br#"{"role":"user","content":"a","id":"1"}"#);
        session.push_new(br#"{"role":"assistant","content":"b","id":"2"}"#);
        session.push_new(br#"{"role":"user","content":"c","id":"3"}"#);
        session.push_new(br#"{"type":"truncate","id":"e","at":"x","before":"2"}"#);
        session.push_new(
            format!(r#"{{"role":"assistant","content":"{third}","id":"4","tokens":1}}"#).as_bytes(),
        );
        for text in more {
            session.push_new(format!(r#"{{"role":"user","content":"{text}","id":"{text}"}}"#).as_bytes());
        }
        session
    };
    let texts = |joined: &JoinResult| -> Vec<String> {
        let messages = joined.session.messages();
        messages
            .map(|(index, _)| {
                joined
                    .session
                    .record(index)
                    .message()
                    .unwrap()
                    .text()
                    .into_owned()
            })
            .collect()
    };
    let mut second = copy("b", "d", &["f"]);
    second.push_new(br#"{"role":"user","content":"g","id":"g"}"#);
    let (both, _) = joined(&[copy("a", "d", &["e"]), second.clone()]);
    assert_eq!(texts(&both), ["a", "b", "c", "d", "e", "f", "g"]);
    assert_eq!((both.shared, both.renamed), (5, 0), "{}", both.session.text());
    assert_eq!(View::replay(&both.session).items.len(), 6);
    assert_eq!(both.session.text().matches("truncate").count(), 1);
    // A count, a time and an origin are not content.
    let (again, _) = joined(&[both.session.clone(), copy("c", "d", &[])]);
    assert_eq!(texts(&again).len(), 7);
    // Different messages with one id are both kept and reported.
    let (differ, _) = joined(&[copy("a", "d", &[]), copy("b", "other", &[])]);
    assert_eq!(texts(&differ), ["a", "b", "c", "d", "other"]);
    assert_eq!(
        (differ.renamed, &differ.conflicts[..]),
        (1, &["4".to_string()][..])
    );
}
