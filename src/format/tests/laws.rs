//! Round-trip invariants of every format that is written and read, checked against its description: lost data is
//! reported, only declared losses are reported, and a second round trip changes nothing.

use super::truth;
use crate::format::report::{Loss, Report};
use crate::format::request::token_figures::Figures;
use crate::format::{DocumentSource, Format, ReadFn, SessionInput, WritePurpose, WriteTarget, convert};
use crate::model::json;
use crate::model::message::{Message, Role};
use crate::model::session::Session;
use crate::model::view::View;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The content of one turn.
#[derive(Clone, Debug)]
enum Turn {
    /// Any other message: its role, and whether it has all optional members.
    Text(&'static str, String, bool),
    /// A reply: whether it has reasoning, its text, the arguments of its calls.
    Answer(bool, Option<String>, Vec<String>),
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 .,\u{e9}\u{4e2d}\u{1f600}\"<&\\\\]{0,20}".prop_map(|text| format!("w{text}w"))
}

fn turn() -> impl Strategy<Value = Turn> {
    let role = prop::sample::select(vec!["user", "user", "user", "user", "system"]);
    let arguments = prop_oneof![
        4 => words().prop_map(|word| json!({"word": word, "n": 9_007_199_254_740_993_u64}).to_string()),
        1 => Just("{}".to_string()),
        1 => Just(r#"{"a":1e-05,"b":[null,true]}"#.to_string()),
        1 => Just("{no json".to_string()),
    ];
    prop_oneof![
        2 => (role, words(), any::<bool>()).prop_map(|(role, text, rich)| Turn::Text(role, text, rich)),
        3 => (any::<bool>(), proptest::option::of(words()), prop::collection::vec(arguments, 0..3))
            .prop_map(|(thinks, text, calls)| Turn::Answer(thinks, text, calls)),
    ]
}

/// A session of these turns, in which every call has a result.
fn session(turns: &[Turn]) -> Session {
    let mut lines: Vec<Value> = vec![
        json!({"type":"session","version":1,"id":"law","created_at":"2026-01-02T03:04:05Z"}),
        json!({"role":"user","content":"begin","id":"m_begin","timestamp":"2026-01-02T03:04:05Z"}),
    ];
    for (nth, turn) in turns.iter().enumerate() {
        let time = format!("2026-01-02T03:{:02}:05Z", 5 + nth);
        match turn {
            Turn::Text(role, text, rich) => {
                let mut line = json!({"role":role,"content":text,"id":format!("m{nth}"),"timestamp":time});
                if *rich {
                    line["name"] = json!("ann");
                    line["category"] = json!("context");
                    line["metadata"] = json!({"x": 1});
                }
                lines.push(line);
            }
            Turn::Answer(thinks, text, calls) => {
                if text.is_none() && calls.is_empty() {
                    continue;
                }
                let mut line = json!({"role":"assistant","content":text,"id":format!("m{nth}"),"timestamp":time,
                    "model":format!("model-{}", nth % 2),"usage":{"input_tokens":7,"output_tokens":nth}});
                if *thinks {
                    line["reasoning"] =
                        json!([{"type":"thinking","text":format!("hm {nth}"),"signature":"c2ln"}]);
                }
                let id = |call: usize| format!("call_{nth}_{call}");
                if !calls.is_empty() {
                    let calls = calls.iter().enumerate().map(|(call, arguments)| {
                        json!({"id":id(call),"type":"function","function":{"name":"tool","arguments":arguments}})
                    });
                    line["tool_calls"] = calls.collect();
                }
                lines.push(line);
                for call in 0..calls.len() {
                    let content = format!("result {nth} {call}");
                    let time = format!("2026-01-02T03:{:02}:06Z", 5 + nth);
                    lines.push(json!({"role":"tool","tool_call_id":id(call),"content":content,
                        "id":format!("t{nth}_{call}"),"timestamp":time}));
                }
            }
        }
    }
    let mut session = Session::default();
    lines
        .iter()
        .for_each(|line| session.push_new(line.to_string().as_bytes()));
    session
}

/// The content of a session, separated by kind of loss.
#[derive(Debug, Default, PartialEq, Eq)]
struct SessionContent {
    /// Texts by role.
    texts: HashMap<&'static str, Vec<String>>,
    /// The tool name of each call, and its result.
    calls: Vec<(String, String)>,
    /// Arguments that are objects, without white space.
    objects: Vec<String>,
    /// Other data that may be lost.
    others: Vec<(Loss, Vec<String>)>,
}

fn content_of(session: &Session) -> SessionContent {
    let mut content = SessionContent::default();
    let view = View::replay(session);
    let mut results: HashMap<String, String> = HashMap::new();
    let mut others: Vec<(Loss, String)> = Vec::new();
    let mut calls = Vec::new();
    for item in &view.items {
        let Some(message) = item.message(session) else {
            continue;
        };
        let body = item.body(session);
        let who = match message.role() {
            Role::Assistant => "the model",
            Role::Tool => "tools",
            // Formats without a system role write instructions as user messages.
            _ => "others",
        };
        let text = message.text().into_owned();
        if !text.is_empty() {
            content.texts.entry(who).or_default().push(text.clone());
        }
        if let Some(id) = message.tool_call_id() {
            results.insert(id.into_owned(), text);
        }
        for call in message.tool_calls() {
            calls.push((call.name.into_owned(), call.id.into_owned()));
            let text = call.arguments.into_owned();
            match json::is_object(text.as_bytes()) {
                true => {
                    let compact = json::compact(text.as_bytes()).0;
                    content.objects.push(String::from_utf8(compact).unwrap());
                }
                false => others.push((Loss::Arguments, text)),
            }
        }
        add_extra_fields(&message, body, &mut others);
    }
    for (name, id) in calls {
        let result = results.get(&id).cloned().unwrap_or_default();
        content.calls.push((name, result));
    }
    for (loss, value) in others {
        match content.others.iter_mut().find(|(known, _)| *known == loss) {
            Some((_, values)) => values.push(value),
            None => content.others.push((loss, vec![value])),
        }
    }
    content
}

/// Collects the members of a message other than its text.
fn add_extra_fields(message: &Message<'_>, body: &[u8], others: &mut Vec<(Loss, String)>) {
    let text = |name: &str| json::member_string(body, name);
    let mut add = |loss, value: Option<String>| others.extend(value.map(|value| (loss, value)));
    add(Loss::Id, text("id"));
    add(Loss::Timestamp, text("timestamp"));
    add(Loss::Model, text("model"));
    add(Loss::Category, text("category"));
    if message.role() != Role::Tool {
        add(Loss::Name, text("name"));
    }
    let usage = json::member(body, "usage").and_then(Figures::of);
    add(
        Loss::Usage,
        usage.map(|figures| format!("{} {}", figures.sent(), figures.output)),
    );
    for part in json::items(message.reasoning) {
        let text = |name: &str| json::member_string(part, name);
        add(Loss::Reasoning, text("text").or_else(|| text("thinking")));
        add(
            Loss::Signature,
            text("signature").or_else(|| text("thinkingSignature")),
        );
    }
}

/// Whether all of these texts occur in order; some may have been joined.
fn follow(all: &[String], wanted: &[String]) -> bool {
    let all = all.join("\n");
    let mut rest = all.as_str();
    wanted.iter().all(|text| match rest.find(text.as_str()) {
        Some(at) => {
            rest = &rest[at + text.len()..];
            true
        }
        None => false,
    })
}

/// Whether all of these occur.
fn holds(all: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|wanted| all.contains(wanted))
}

fn read(format: Format, bytes: &[u8]) -> Vec<Session> {
    let mut report = Report::default();
    let sessions = match format.spec().read {
        ReadFn::Sessions(open) => {
            let mut reader = open(SessionInput {
                name: Some("law".to_string()),
                head: bytes.to_vec(),
                rest: Box::new(std::io::empty()),
                returns: false,
                neighbor: None,
            });
            truth::all(reader.as_mut().unwrap().as_mut(), &mut report).unwrap()
        }
        _ => {
            let source = DocumentSource {
                name: Some("law"),
                ..DocumentSource::alone(bytes)
            };
            convert(format, &source, &mut report).unwrap()
        }
    };
    assert!(!report.is_damaged(), "{}: {:?}", format.name(), report.findings);
    sessions
}

fn write(format: Format, session: &Session) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    let write = format.spec().write.unwrap();
    write(
        session,
        &view,
        WriteTarget(WritePurpose::Export, &mut out, &mut report),
    )
    .unwrap();
    (out, report)
}

/// Losses that are not reported: format, kind, and reason.
const SILENT: [(Format, Loss, &str); 2] = [
    (Format::Opencode, Loss::Timestamp, JOINED),
    (Format::Codex, Loss::Timestamp, JOINED),
];

const JOINED: &str = "a message that is joined with another";

/// The formats that are written and read. Excludes those of PenguiFlow, which keeps one question, one answer and a
/// digest of calls per turn, and exports, which are not read back.
fn formats() -> impl Iterator<Item = Format> {
    let both = |format: &Format| {
        let spec = format.spec();
        spec.write.is_some()
            && !spec.export
            && *format != Format::Penguiflow
            && matches!(spec.read, ReadFn::Sessions(_) | ReadFn::Document(_))
    };
    Format::ALL.into_iter().filter(both)
}

/// The violated invariants, if any.
fn broken(format: Format, session: &Session) -> Vec<String> {
    let (out, report) = write(format, session);
    let mut wrong = Vec::new();
    let listed = format.spec().unsupported;
    wrong.extend(
        report
            .losses
            .keys()
            .filter(|loss| !listed.contains(**loss))
            .map(|loss| format!("{} is lost, but not in the table", loss.name())),
    );
    let lost = |losses: &[Loss]| losses.iter().any(|loss| report.losses.contains_key(loss));
    let sessions = read(format, &out);
    let [again] = sessions.as_slice() else {
        wrong.push(format!("{} sessions", sessions.len()));
        return wrong;
    };
    let (was, is) = (content_of(session), content_of(again));
    for (who, texts) in &was.texts {
        let now = is.texts.get(who).map(Vec::as_slice).unwrap_or_default();
        if !follow(now, texts) && !lost(&[Loss::Message]) {
            wrong.push(format!("what {who} said: {texts:?}, and is {now:?}"));
        }
    }
    let flat = |calls: &[(String, String)]| -> Vec<String> {
        calls
            .iter()
            .map(|(name, result)| format!("{name} {result}"))
            .collect()
    };
    if !holds(&flat(&is.calls), &flat(&was.calls)) && !lost(&[Loss::Orphan, Loss::Message]) {
        wrong.push(format!("calls were {:?}, and are {:?}", was.calls, is.calls));
    }
    if !holds(&is.objects, &was.objects) && !lost(&[Loss::Message]) {
        wrong.push(format!(
            "arguments were {:?}, and are {:?}",
            was.objects, is.objects
        ));
    }
    for (loss, values) in &was.others {
        let now = is.others.iter().find(|(known, _)| known == loss);
        let now = now.map(|(_, values)| values.as_slice()).unwrap_or_default();
        let silent = SILENT.iter().any(|(known, of, _)| *known == format && of == loss);
        if !holds(now, values) && !lost(&[*loss, Loss::Message]) && !silent {
            wrong.push(format!(
                "{} was {values:?}, and is {now:?}, without a report",
                loss.name()
            ));
        }
    }
    let (out, _) = write(format, again);
    let sessions = read(format, &out);
    match sessions.as_slice() {
        [more] if content_of(more) == is => {}
        [more] => wrong.push(format!("again it is {:?}, and not {is:?}", content_of(more))),
        more => wrong.push(format!("again it is {} sessions", more.len())),
    }
    wrong
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn unsupported_data_is_reported(turns in prop::collection::vec(turn(), 0..8)) {
        let session = session(&turns);
        let mut wrong = Vec::new();
        for format in formats() {
            wrong.extend(broken(format, &session).into_iter().map(|what| format!("{}: {what}", format.name())));
        }
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn an_empty_message_is_written_or_reported() {
    let roles = ["assistant", "user"].into_iter().cycle();
    let contents = [json!("a"), json!(""), json!(null), json!("r"), json!("")];
    let mut session = session(&[]);
    for (role, content) in roles.zip(&contents) {
        session.push_new(json!({"role":role,"content":content}).to_string().as_bytes());
    }
    let written = |format: Format| {
        let (out, report) = write(format, &session);
        let lost = report.losses.get(&Loss::Message).copied().unwrap_or_default();
        let count = |session: &Session| View::replay(session).messages(session).count();
        let messages: usize = read(format, &out).iter().map(count).sum();
        (messages + lost as usize != 1 + contents.len())
            .then(|| format!("{}: {messages} and {lost}", format.name()))
    };
    let wrong: Vec<String> = formats()
        .filter(|format| format.spec().refuses.is_none())
        .filter_map(written)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
