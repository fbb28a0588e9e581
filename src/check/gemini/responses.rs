//! Repairs calls without responses, and the reverse.

use super::facts::{GeminiPart, GeminiRole, NamedCall};
use super::parts::{TurnHistory, parts, with_parts};
use crate::check::finding::{ApiViolation, RepairMode};
use crate::check::raw::{result_text, set, short_id};
use crate::check::rules::TableRule;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Repairs responses that follow no turn with calls. If the calls are in the model turns before the adjacent user
/// turns, these turns are merged; otherwise the responses are dropped or become text.
pub(super) fn orphans(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    let mut rest = findings;
    while let Some(first) = rest.first() {
        let turn = history.turn_range(first.index);
        let end = rest.partition_point(|finding| finding.index < turn.end);
        let of_turn = &rest[..end];
        rest = &rest[end..];
        let before = turn.start.checked_sub(1).map(|before| history.turn_range(before));
        let called = before.filter(|before| {
            let pieces = &history.pieces[before.clone()];
            pieces[0].facts.role == GeminiRole::Model
                && pieces.iter().any(|piece| piece.facts.calls().next().is_some())
        });
        if let Some(before) = called.filter(|before| before.len() + turn.len() > 2) {
            if before.len() > 1 {
                history.merge_turn(rule, before);
            }
            if turn.len() > 1 {
                gather(rule, history, turn);
            }
            continue;
        }
        for finding in of_turn {
            let all: HashSet<usize> = history.pieces[finding.index]
                .facts
                .responses()
                .map(|(part, _)| part)
                .collect();
            without(rule, history, finding.index, &all);
        }
    }
}

/// Moves the responses of adjacent user turns into the first turn with any, before other parts.
fn gather(rule: TableRule, history: &mut TurnHistory<'_, '_>, turn: Range<usize>) {
    let answers: Vec<usize> = turn
        .clone()
        .filter(|turn| history.pieces[*turn].facts.responses().next().is_some())
        .collect();
    let Some((first, rest)) = answers.split_first() else {
        return;
    };
    let mut whole: Vec<Vec<u8>> = parts(&history.pieces[*first].raw)
        .into_iter()
        .map(<[u8]>::to_vec)
        .collect();
    for turn in rest {
        let responses: HashSet<usize> = history.pieces[*turn]
            .facts
            .responses()
            .map(|(part, _)| part)
            .collect();
        let raw = history.pieces[*turn].raw.clone();
        let (moved, kept): (Vec<_>, Vec<_>) = parts(&raw)
            .into_iter()
            .enumerate()
            .partition(|(part, _)| responses.contains(part));
        whole.extend(moved.into_iter().map(|(_, part)| part.to_vec()));
        with_parts(history, *turn, kept.into_iter().map(|(_, part)| part).collect());
    }
    let raw = set(&history.pieces[*first].raw, &[("parts", Some(&array(whole)))]);
    history.gather(*first, turn.start, raw, rest);
    history.record_change(rule, *first, "merged the responses to one content");
}

/// Removes responses from a turn, or turns them into text.
fn without(rule: TableRule, history: &mut TurnHistory<'_, '_>, index: usize, bad: &HashSet<usize>) {
    let text = history.repair.mode == Some(RepairMode::Text);
    let raw = history.pieces[index].raw.clone();
    // If valid responses remain, text must follow them in a separate turn.
    let is_separate = history.pieces[index]
        .facts
        .responses()
        .any(|(part, _)| !bad.contains(&part));
    let mut kept: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (at, part) in parts(&raw).into_iter().enumerate() {
        if !bad.contains(&at) {
            kept.push(Cow::Borrowed(part));
            continue;
        }
        let response =
            json::member(part, "functionResponse").or_else(|| json::member(part, "function_response"));
        let name = response
            .and_then(|raw| json::member(raw, "name"))
            .and_then(json::text);
        let what = if text { "converted to text" } else { "dropped" };
        history.record_change(
            rule,
            index,
            format!("the response of {}: {what}", short_id(&name.unwrap_or_default())),
        );
        if text {
            let value = response
                .and_then(|raw| json::member(raw, "response"))
                .unwrap_or_default();
            let output = json::string_member(value, "output");
            let part = wrapped("text", quoted(&result_text(output.unwrap_or(value))));
            match is_separate {
                true => texts.push(part),
                false => kept.push(Cow::Owned(part)),
            }
        }
    }
    with_parts(history, index, kept);
    if !texts.is_empty() {
        let mut turn = ObjectBuilder::default();
        turn.text("role", "user").raw("parts", array(texts));
        let id = history.ids.message("text", rule.id, index);
        history.insert(index + 1, turn.finish(), id);
    }
}

/// The response for each call: by id if present, then by name, each in order. The second value is the unmatched
/// responses.
fn matched(
    calls: &[(usize, &NamedCall)],
    responses: &[(usize, &NamedCall)],
) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut of_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut of_name: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (part, response) in responses {
        let (map, key) = if response.id.is_empty() {
            (&mut of_name, &response.name)
        } else {
            (&mut of_id, &response.id)
        };
        map.entry(key).or_default().push_back(*part);
    }
    let mut take = |call: &NamedCall| {
        let by_id = (!call.id.is_empty())
            .then(|| of_id.get_mut(call.id.as_str())?.pop_front())
            .flatten();
        by_id.or_else(|| of_name.get_mut(call.name.as_str())?.pop_front())
    };
    let found: Vec<Option<usize>> = calls.iter().map(|(_, call)| take(call)).collect();
    let mut left: Vec<usize> = of_id
        .into_values()
        .chain(of_name.into_values())
        .flatten()
        .collect();
    left.sort_unstable();
    (found, left)
}

/// The response for each call: a matching one, else an unmatched one by position. The second value is the surplus
/// responses.
fn matched_responses(
    calls: &[(usize, &NamedCall)],
    responses: &[(usize, &NamedCall)],
) -> (Vec<Option<usize>>, HashSet<usize>) {
    let (mut places, left) = matched(calls, responses);
    // If both have ids, positions are not used.
    let named = calls.iter().all(|(_, call)| !call.id.is_empty());
    let ids: HashSet<usize> = responses
        .iter()
        .filter(|(_, own)| !own.id.is_empty())
        .map(|(part, _)| *part)
        .collect();
    let (unrecognized, left): (Vec<usize>, Vec<usize>) =
        left.into_iter().partition(|part| named && ids.contains(part));
    let mut left = left.into_iter();
    for place in places.iter_mut().filter(|place| place.is_none()) {
        *place = left.next();
    }
    (places, left.chain(unrecognized).collect())
}

/// Makes the number of responses equal to that of calls: inserts missing ones at the position of their call, and drops
/// surplus ones.
pub(super) fn equalize_counts(
    rule: TableRule,
    history: &mut TurnHistory<'_, '_>,
    findings: &[&ApiViolation],
) {
    let wanted: HashSet<usize> = findings.iter().map(|finding| finding.index).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for index in 0..history.pieces.len() {
        let calls: Vec<(usize, &NamedCall)> = history.pieces[index].facts.calls().collect();
        let Some((_, first)) = calls.first() else { continue };
        let about = if first.id.is_empty() {
            &first.name
        } else {
            &first.id
        }
        .clone();
        let nth = seen.entry(about.clone()).or_default();
        *nth += 1;
        if !wanted.contains(&index) {
            continue;
        }
        let next = history
            .pieces
            .get(index + 1)
            .filter(|next| next.facts.role != GeminiRole::Model);
        let responses: Vec<(usize, &NamedCall)> =
            next.into_iter().flat_map(|next| next.facts.responses()).collect();
        let (places, surplus) = matched_responses(&calls, &responses);
        if !surplus.is_empty() {
            without(rule, history, index + 1, &surplus);
            continue;
        }
        let open = calls.iter().zip(&places).filter(|(_, place)| place.is_none());
        let open: Vec<(usize, String)> = open.map(|((part, call), _)| (*part, call.name.clone())).collect();
        let none = responses.is_empty();
        let dropping = history.repair.mode == Some(RepairMode::Drop);
        if dropping {
            let raw = history.pieces[index].raw.clone();
            let bad: HashSet<usize> = open.iter().map(|(part, _)| *part).collect();
            let kept = parts(&raw)
                .into_iter()
                .enumerate()
                .filter(|(part, _)| !bad.contains(part));
            with_parts(history, index, kept.map(|(_, part)| part).collect());
        } else if none {
            let built = array(calls.iter().map(|(_, call)| aborted(call)));
            let mut turn = ObjectBuilder::default();
            turn.text("role", "user").raw("parts", built);
            let id = history.ids.message(&about, rule.id, *nth - 1);
            history.insert(index + 1, turn.finish(), id);
        } else {
            arrange(history, index, &places);
        }
        for (_, name) in &open {
            let what = if dropping {
                "dropped the call of"
            } else {
                "inserted a response of"
            };
            history.record_change(rule, index, format!("{what} {}", short_id(name)));
        }
    }
}

/// Sorts responses in the order of the calls.
pub(super) fn ordered(rule: TableRule, history: &mut TurnHistory<'_, '_>, findings: &[&ApiViolation]) {
    for finding in findings {
        let index = finding.index - 1;
        let calls: Vec<(usize, &NamedCall)> = history.pieces[index].facts.calls().collect();
        let responses: Vec<(usize, &NamedCall)> = history.pieces[index + 1].facts.responses().collect();
        let (places, _) = matched_responses(&calls, &responses);
        arrange(history, index, &places);
        history.record_change(rule, index + 1, "sorted the responses by the calls");
    }
}

/// Writes the responses after a turn in the order of its calls, with aborted responses for missing ones. A response
/// matched by position gets the name of its call.
fn arrange(history: &mut TurnHistory<'_, '_>, index: usize, places: &[Option<usize>]) {
    let next = &history.pieces[index + 1];
    let raw = next.raw.clone();
    let all = parts(&raw);
    let calls = history.pieces[index].facts.calls();
    let built = calls.zip(places).map(|((_, call), place)| {
        let Some(part) = place else { return aborted(call) };
        match &next.facts.parts[*part] {
            GeminiPart::Response(response) if response.name != call.name && response.id.is_empty() => {
                renamed(all[*part], &call.name)
            }
            _ => all[*part].to_vec(),
        }
    });
    let built: Vec<Vec<u8>> = built.collect();
    let is_response = |part: &usize| matches!(next.facts.parts[*part], GeminiPart::Response(_));
    let first = (0..all.len()).find(is_response).unwrap_or_default();
    let others = |range: std::ops::Range<usize>| {
        range
            .filter(|part| !is_response(part))
            .map(|part| all[part].to_vec())
            .collect::<Vec<_>>()
    };
    let whole = [others(0..first), built, others(first..all.len())].concat();
    with_parts(history, index + 1, whole);
}

/// A response that reports an aborted call.
fn aborted(call: &NamedCall) -> Vec<u8> {
    let mut response = ObjectBuilder::default();
    if !call.id.is_empty() {
        response.text("id", &call.id);
    }
    response
        .text("name", &call.name)
        .raw("response", br#"{"output":"aborted"}"#);
    wrapped("functionResponse", response.finish())
}

fn renamed(part: &[u8], name: &str) -> Vec<u8> {
    let member = match json::member(part, "functionResponse") {
        Some(_) => "functionResponse",
        None => "function_response",
    };
    let response = set(
        json::member(part, member).unwrap_or(b"{}"),
        &[("name", Some(&quoted(name)))],
    );
    set(part, &[(member, Some(&response))])
}
