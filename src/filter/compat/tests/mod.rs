//! Compares the trimming with recorded results of each system, if the fixtures are present (in `CONVO_FIXTURES`, else
//! in `../shared/fixtures` next to the crate), and with hand-written cases.

mod goaitools;
mod langchain;
mod openai_agents;
mod penguiflow;
mod penguin;
mod picoclaw;
mod plan;
mod properties;

use super::super::compact::event::{CompactionInfo, ItemChange, ViewEdit};
use super::{CompatHistory, ViewChanges};
use crate::filter::Stamp;
use crate::model::json::text;
use crate::model::message::{Message, MessagePart, Role};
use crate::model::session::Session;
use crate::model::view::View;
use serde_json::{Value, from_slice};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn json(path: &Path) -> Value {
    from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn indexes(value: &Value) -> Vec<usize> {
    list(value)
        .iter()
        .map(|index| index.as_u64().unwrap() as usize)
        .collect()
}

/// Builds a session of these messages, one per line.
fn session(messages: &[Value]) -> Session {
    let mut session = Session::default();
    for message in messages {
        session.push_new(message.to_string().as_bytes());
    }
    session
}

/// Returns the messages that the choice keeps, and checks that applying its event to the session gives the same.
fn lines(session: &Session, view: &View, choice: &ViewChanges) -> Vec<Value> {
    let ViewEdit { changes, inserts, .. } = &choice.reshaping;
    let mut out: Vec<Vec<u8>> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        out.extend(
            inserts
                .iter()
                .filter(|(before, _)| *before == at)
                .map(|(_, line)| line.clone()),
        );
        match change {
            ItemChange::Keep => out.push(view.items[at].body(session).to_vec()),
            ItemChange::Replace(line) => out.push(line.clone()),
            ItemChange::Drop => {}
        }
    }
    if inserts.is_empty() && choice.reshaping.summary.is_none() && !choice.reshaping.is_empty() {
        let stamp = Stamp {
            id: "evt_1".into(),
            at: "2026-01-01T00:00:00Z".into(),
        };
        let mut after = session.clone();
        let event = choice
            .reshaping
            .event(session, view, &CompactionInfo::default(), &stamp)
            .unwrap();
        after.push_new(&event);
        let shown = View::replay(&after).shown(&after);
        let value = |line: &Vec<u8>| from_slice::<Value>(line).ok();
        let mut shown: Vec<_> = shown.iter().map(value).collect();
        let planned: Vec<_> = out.iter().map(value).collect();
        // A changed line keeps its derived id.
        for (shown, planned) in shown.iter_mut().zip(&planned) {
            if let (Some(Value::Object(shown)), Some(planned)) = (shown, planned)
                && planned.get("id").is_none()
            {
                shown.remove("id");
            }
        }
        assert_eq!(shown, planned);
    }
    out.iter().map(|line| from_slice(line).unwrap()).collect()
}

/// The indexes of the kept messages.
fn kept(history: &CompatHistory<'_>, choice: &ViewChanges) -> Vec<usize> {
    (0..history.len())
        .filter(|message| !choice.is_dropped(history.item(*message)))
        .collect()
}

/// Calls without results and results without calls, matched by id and order independently of the crate.
fn lost<'m>(messages: impl Iterator<Item = &'m Value>) -> BTreeSet<String> {
    let (mut open, mut lost) = (BTreeMap::<String, usize>::new(), BTreeSet::new());
    for message in messages {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            *open.entry(call["id"].as_str().unwrap().to_string()).or_default() += 1;
        }
        if let Some(id) = message["tool_call_id"]
            .as_str()
            .filter(|_| message["role"] == "tool")
        {
            match open.get_mut(id) {
                Some(calls) if *calls > 0 => *calls -= 1,
                _ => drop(lost.insert(format!("result {id}"))),
            }
        }
    }
    lost.extend(
        open.into_iter()
            .filter(|(_, calls)| *calls > 0)
            .map(|(id, _)| format!("call {id}")),
    );
    lost
}

/// Counts matching cases; the others must be in the list of deliberate differences, each with its reason.
struct Tally {
    what: &'static str,
    agreed: usize,
    different: BTreeSet<String>,
}

impl Tally {
    fn of(what: &'static str) -> Tally {
        Tally {
            what,
            agreed: 0,
            different: BTreeSet::new(),
        }
    }

    fn agree(&mut self) {
        self.agreed += 1;
    }

    fn differ(&mut self, case: &str) {
        assert!(self.different.insert(case.to_string()), "{case} twice");
    }

    /// Asserts that the list contains exactly the observed differences.
    fn close(self, deliberate: &[(&str, &str)]) {
        let Tally {
            what,
            agreed,
            different,
        } = self;
        let differ = different.len();
        eprintln!(
            "{what}: {} cases: {agreed} agree, {differ} differ deliberately, 0 failed",
            agreed + differ
        );
        let named: BTreeSet<String> = deliberate
            .iter()
            .flat_map(|(cases, _)| cases.split_whitespace().map(str::to_string))
            .collect();
        assert_eq!(different, named, "{what}: what differs, and what is said to");
        assert!(agreed > 0, "{what}: nothing was compared");
    }
}

/// Joins the text parts without separator, as the recorded counters do.
fn joined(message: &Message<'_>) -> String {
    let text = |part: MessagePart<'_>| match part {
        MessagePart::Text(text) => text.into_owned(),
        MessagePart::Other(..) => String::new(),
    };
    message.parts().into_iter().map(text).collect()
}

fn words(message: &Message<'_>) -> u64 {
    joined(message).split_whitespace().count() as u64
}

/// Looks up a counter of the fixtures by name.
fn measure(name: &str) -> fn(&Message<'_>) -> u64 {
    match name {
        "messages" => |_| 1,
        "words" => words,
        "words_plus3" => |message| words(message) + 3,
        "chars" => |message| joined(message).chars().count() as u64,
        "langchain_approx" => |message| {
            let name = message.name.and_then(text).unwrap_or_default();
            let id = message.tool_call_id().unwrap_or_default();
            let all = [message.text(), message.role_name(), name, id];
            let size: usize = all.iter().map(|text| text.chars().count()).sum();
            (size as u64).div_ceil(4) + 3
        },
        other => panic!("{other}"),
    }
}

/// Builds one message per letter: U user, A assistant, C assistant with a call for each following T, T tool, S
/// system, O other.
fn letters(letters: &str) -> Vec<Value> {
    let letters: Vec<char> = letters.chars().collect();
    let mut call = 0;
    let mut messages = Vec::new();
    for (at, letter) in letters.iter().enumerate() {
        let text = format!("{letter}{at}");
        messages.push(match letter {
            'U' => serde_json::json!({"role": "user", "content": text}),
            'A' => serde_json::json!({"role": "assistant", "content": text}),
            'S' => serde_json::json!({"role": "system", "content": text}),
            'O' => serde_json::json!({"role": "other", "content": text}),
            'T' => {
                call += 1;
                serde_json::json!({"role": "tool", "content": text, "tool_call_id": format!("c{call}")})
            }
            'C' => {
                let results = letters[at + 1..].iter().take_while(|letter| **letter == 'T').count();
                let function = serde_json::json!({"name": "f", "arguments": "{}"});
                let calls: Vec<Value> = (call + 1..=call + results)
                    .map(|id| serde_json::json!({"id": format!("c{id}"), "type": "function", "function": function}))
                    .collect();
                serde_json::json!({"role": "assistant", "tool_calls": calls})
            }
            other => panic!("{other}"),
        });
    }
    messages
}

/// The letters of the kept messages; D for inserted ones.
fn result(letters: &str, history: &CompatHistory<'_>, choice: &ViewChanges) -> String {
    let all: Vec<char> = letters.chars().collect();
    let inserted = choice.reshaping.inserts.len() + usize::from(!choice.summarised.is_empty());
    let kept = kept(history, choice).into_iter().map(|message| all[message]);
    "D".repeat(inserted).chars().chain(kept).collect()
}

/// Whether the role is not user, assistant or tool.
fn is_rule(message: &Value) -> bool {
    let role = Role::from_name(message["role"].as_str().unwrap_or_default());
    matches!(role, Role::System | Role::Developer)
}
