//! Tests with small recordings.

use super::{cut, returned, sessions, shown, texts, through_lines, with, written};
use crate::format::report::Loss;
use crate::format::tests::{bed, in_place};
use crate::format::{Format, WritePurpose};
use crate::model::json;
use crate::model::session::of_lines;
use crate::model::session::{Class, Session};

const FIRST: &str = r#"{"sessionId":"s1","projectHash":"aa","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#;

fn user(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{{"text":"{text}"}}]}}"#
    )
}

fn model(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"{text}","thoughts":[{{"subject":"S","description":"D","timestamp":"2026-01-01T00:00:02.000Z"}}],"tokens":{{"input":5,"output":1,"cached":0,"thoughts":5e-06,"tool":0,"total":6}},"model":"m"}}"#
    )
}

/// A tool call with its result.
fn call(id: &str, status: &str, response: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:03.000Z","type":"gemini","content":"","toolCalls":[{{"id":"c{id}","name":"ls","args":{{"n": 9007199254740993}},"result":[{{"functionResponse":{{"id":"c{id}","name":"ls","response":{response}}}}}],"status":"{status}","timestamp":"2026-01-01T00:00:04.000Z","resultDisplay":"x"}}]}}"#
    )
}

fn log<L: AsRef<str>>(lines: &[L]) -> Vec<u8> {
    let lines: Vec<&str> = std::iter::once(FIRST)
        .chain(lines.iter().map(AsRef::as_ref))
        .collect();
    (lines.join("\n") + "\n").into_bytes()
}

fn one(bytes: &[u8]) -> Session {
    let (mut all, report) = sessions(bytes);
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn lines_are_operations_on_messages_by_id() {
    let rewind = |id: &str| format!(r#"{{"$rewindTo":"{id}"}}"#);
    let set = |messages: &[String]| {
        format!(
            r#"{{"$set":{{"messages":[{}],"summary":"T"}}}}"#,
            messages.join(",")
        )
    };
    let (a, b, c) = (user("a", "1"), model("b", "2"), user("c", "3"));
    let cases: Vec<(Vec<String>, &[&str])> = vec![
        (vec![a.clone(), b.clone(), c.clone()], &["1", "2", "3"]),
        // A message with the same id replaces the first.
        (vec![a.clone(), b.clone(), user("a", "x")], &["x", "2"]),
        (
            vec![a.clone(), b.clone(), c.clone(), rewind("b"), user("d", "4")],
            &["1", "4"],
        ),
        // A message that was removed and added again is last.
        (
            vec![a.clone(), b.clone(), rewind("a"), b.clone(), a.clone()],
            &["2", "1"],
        ),
        // An unknown id removes everything.
        (vec![a.clone(), b.clone(), rewind("z"), c.clone()], &["3"]),
        (
            vec![a.clone(), set(&[c.clone(), b.clone()]), user("b", "y")],
            &["3", "y"],
        ),
    ];
    for (lines, wanted) in cases {
        let session = one(&log(&lines));
        assert_eq!(texts(&session), wanted, "{lines:?}");
        assert_eq!(returned(std::slice::from_ref(&session), false), log(&lines));
    }
    let titled = one(&log(&[a, set(&[b])]));
    assert_eq!(titled.header_text("title").as_deref(), Some("T"));
    assert_eq!(titled.header_text("id").as_deref(), Some("s1"));
}

#[test]
fn a_record_becomes_a_message_and_its_tool_results() {
    let session = one(&log(&[
        user("a", "1"),
        call("b", "success", r#"{"output":"one"}"#),
        call("c", "cancelled", r#"{"error":"no"}"#),
        call("d", "error", r#"{"output":"odd"}"#),
        call("e", "success", r#"{"rows":[1]}"#),
    ]));
    let text = session.text();
    assert!(
        text.contains(r#""arguments":"{\"n\":9007199254740993}""#),
        "{text}"
    );
    let results: Vec<_> = (0..session.len())
        .map(|index| session.record(index).body.to_vec())
        .filter(|body| json::member(body, "role") == Some(b"\"tool\""))
        .map(|body| {
            let failed = json::member(&body, "metadata")
                .and_then(|raw| json::member(raw, "is_error"))
                .is_some();
            let text = |name| json::member_text(&body, name).unwrap().into_owned();
            (text("tool_call_id"), text("content"), failed)
        })
        .collect();
    let wanted = [
        ("cb", "one", false),
        ("cc", "no", true),
        ("cd", "odd", true),
        ("ce", r#"{"rows":[1]}"#, false),
    ];
    assert_eq!(
        results,
        wanted.map(|(id, text, failed)| (id.to_string(), text.to_string(), failed))
    );
}

#[test]
fn unsent_records_are_hidden_but_stored_in_the_log() {
    let lines = [
        user("a", "/stats"),
        user("b", "<session_context>x"),
        user("c", "1"),
        r#"{"id":"d","timestamp":"t","type":"info","content":"note"}"#.to_string(),
        model("e", "2"),
    ];
    let session = one(&log(&lines));
    assert_eq!(texts(&session), ["1", "2"]);
    let again = one(&written(&through_lines(&session), WritePurpose::Return).0);
    assert_eq!(shown(&again), shown(&session));
    assert_eq!(again.messages().count(), session.messages().count());
}

#[test]
fn records_are_encoded_as_their_original_lines() {
    let lines = [
        user("a", "1"),
        r#"{"id":"a2","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":"plain","displayContent":"p"}"#.to_string(),
        r#"{"id":"a3","timestamp":"bad","type":"user","content":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},"bare"]}"#.to_string(),
        model("b", "2"),
        call("c", "success", r#"{"output":"one"}"#),
        call("d", "error", r#"{"output":"odd"}"#),
        r#"{"id":"e","timestamp":"2026-01-01T00:00:05.000Z","type":"gemini","content":[{"text":"hm","thought":true,"thoughtSignature":"s=="},{"functionCall":{"id":"f","name":"g","args":{}},"thoughtSignature":"t=="}],"thoughts":[],"tokens":null,"toolCalls":[{"id":"f","name":"g","args":{},"status":"success","result":[{"functionResponse":{"id":"other","name":"g","response":{"output":"r"}}},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}]}"#.to_string(),
        r#"{"id":"h","timestamp":"2026-01-01T00:00:06.000Z","type":"gemini","content":"","toolCalls":[{"id":"i","name":"j","args":{},"status":"executing"}]}"#.to_string(),
        r#"{"id":"k","type":"error","content":"[API Error]"}"#.to_string(),
        r#"{"id":"l","type":"user","content":[{"functionResponse":{"id":"m","name":"n","response":{"output":"o"}}},{"text":"and"}]}"#.to_string(),
    ];
    let bytes = log(&lines);
    let session = one(&bytes);
    let (out, report) = written(&through_lines(&session), WritePurpose::Return);
    assert!(
        report.losses.keys().all(|loss| *loss == Loss::Orphan),
        "{report:?}"
    );
    let (ours, theirs): (Vec<_>, Vec<_>) = (
        out.split(|byte| *byte == b'\n').collect(),
        bytes.split(|byte| *byte == b'\n').collect(),
    );
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        let show = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        assert!(json::same(ours, theirs), "\n  {}\n  {}", show(ours), show(theirs));
    }
}

#[test]
fn a_change_adds_lines_to_a_log() {
    let bytes = log(&[user("a", "1"), model("b", "2"), user("c", "3"), model("d", "4")]);
    let session = one(&bytes);
    let added = |session: &Session| {
        let after = returned(std::slice::from_ref(session), true);
        assert!(after.starts_with(&bytes));
        assert_eq!(shown(&one(&after)).len(), shown(session).len());
        let more = String::from_utf8(after[bytes.len()..].to_vec()).unwrap();
        more.lines().map(str::to_string).collect::<Vec<_>>()
    };
    assert!(added(&session).is_empty());
    let grown = added(&with(&session, &[r#"{"role":"user","content":"5"}"#]));
    assert_eq!(grown.len(), 1);
    assert_eq!(json::member(grown[0].as_bytes(), "type"), Some(&b"\"user\""[..]));
    let event = |what: &str| {
        format!(r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s",{what}}}"#)
    };
    // Removing messages at the end is a rewind.
    assert_eq!(
        added(&with(&session, &[event(r#""drop":["c","d"]"#)])),
        [r#"{"$rewindTo":"c"}"#]
    );
    // An edited message replaces itself.
    let edited = added(&with(&session, &[event(r#""edit":[{"id":"b","content":"x"}]"#)]));
    assert_eq!(edited.len(), 1);
    assert_eq!(json::member(edited[0].as_bytes(), "id"), Some(&b"\"b\""[..]));
    let event = event(r#""edit":[{"id":"d","content":"x"}]"#);
    let both = added(&with(
        &session,
        &[event.as_str(), r#"{"role":"user","content":"5"}"#],
    ));
    assert_eq!(both.len(), 2);
    // Any other change sets all messages; unchanged ones keep their bytes.
    let headless = added(&cut(&session, 2).unwrap());
    assert_eq!(
        headless,
        [format!(
            r#"{{"$set":{{"messages":[{},{}]}}}}"#,
            user("c", "3"),
            model("d", "4")
        )]
    );
}

#[test]
fn logs_and_documents_satisfy_all_laws() {
    let records = [
        user("a", "1"),
        call("b", "success", r#"{"output":"one"}"#),
        call("c", "error", r#"{"error":"no"}"#),
        model("d", "2"),
        user("e", "3"),
    ];
    in_place::hold(Format::GeminiCli, log(&records));
    let document = format!(
        r#"{{"sessionId":"s1","projectHash":"aa","messages":[{}]}}"#,
        records.join(", ")
    );
    in_place::hold(Format::GeminiCli, document);
}

#[test]
fn an_added_message_replaces_no_other() {
    let bytes = log(&[user("a", "1")]);
    let session = one(&bytes);
    let grown = with(
        &session,
        &[
            r#"{"role":"user","content":"2","id":"a"}"#,
            r#"{"role":"user","content":"2","id":"x"}"#,
        ],
    );
    let after = one(&returned(&[grown], true));
    assert_eq!(texts(&after), ["1", "2", "2"]);
}

#[test]
fn a_document_keeps_unchanged_bytes() {
    let laid = format!(
        "{{\n  \"sessionId\": \"s1\",\n  \"projectHash\": \"aa\",\n  \"messages\": [\n    {},\n    {},\n    {}\n  ],\n  \"x\": 5e-06\n}}\n",
        user("a", "1"),
        model("b", "2"),
        user("c", "3")
    );
    let session = one(laid.as_bytes());
    assert_eq!(texts(&session), ["1", "2", "3"]);
    assert_eq!(returned(std::slice::from_ref(&session), false), laid.as_bytes());
    let after = String::from_utf8(returned(&[cut(&session, 1).unwrap()], true)).unwrap();
    assert_eq!(
        after,
        laid.replace(
            &format!("{},\n    {},\n    ", user("a", "1"), model("b", "2")),
            ""
        )
    );
    // A document may also be on one line.
    let line = format!("{}\n", json_line(&laid));
    assert_eq!(texts(&one(line.as_bytes())), ["1", "2", "3"]);
    let both = format!("{laid}{}", laid.replace("s1", "s2"));
    let (all, _) = sessions(both.as_bytes());
    assert_eq!(all.len(), 2);
    let each = all.iter().map(|one| returned(std::slice::from_ref(one), false));
    assert_eq!(each.collect::<Vec<_>>().concat(), both.as_bytes());
}

fn json_line(document: &str) -> String {
    String::from_utf8(json::compact(document.as_bytes()).0).unwrap()
}

#[test]
fn concatenated_logs_are_separate_sessions() {
    let both = [log(&[user("a", "1")]), log(&[user("a", "2")])].concat();
    let both = String::from_utf8(both).unwrap();
    let (first, second) = both.split_at(both.len() / 2);
    let both = format!("{first}{}", second.replace("s1", "s2"));
    let (all, _) = sessions(both.as_bytes());
    assert_eq!(all.iter().map(texts).collect::<Vec<_>>(), [["1"], ["2"]]);
    // Another description of the same session does not start a session.
    let same = [log(&[user("a", "1")]), log(&[user("b", "2")])].concat();
    assert_eq!(texts(&one(&same)), ["1", "2"]);
}

#[test]
fn a_session_converted_to_a_log_reads_back_equal() {
    let session = of_lines(&[
        r#"{"type":"session","version":1,"id":"x","created_at":"2026-01-01T00:00:00Z","title":"t","metadata":{"cwd":"/w"}}"#,
        r#"{"role":"system","content":"Rules."}"#,
        r#"{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:01Z","id":"u"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"no json"}}],"usage":{"input_tokens":5,"output_tokens":2}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"tool","tool_call_id":"d","content":"s","metadata":{"is_error":true}}"#,
        r#"{"role":"tool","tool_call_id":"nobody","content":"lost"}"#,
        r#"{"role":"assistant","content":"done","reasoning":[{"type":"thinking","text":"hm","signature":"xx"},{"type":"redacted_thinking","data":"zz"}]}"#,
        r#"{"role":"assistant","content":"more","reasoning":[{"type":"thought","text":"deep","thoughtSignature":"yy"}]}"#,
    ]);
    let (out, report) = written(&session, WritePurpose::Export);
    let losses: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, times)| (*loss, *times))
        .collect();
    let wanted = [
        (Loss::Reasoning, 1),
        (Loss::Signature, 2),
        (Loss::Arguments, 1),
        (Loss::Category, 1),
        (Loss::Orphan, 1),
    ];
    assert_eq!(losses, wanted);
    let again = one(&out);
    assert_eq!(again.header_text("title").as_deref(), Some("t"));
    assert_eq!(again.header_text("id").as_deref(), Some("x"));
    assert_eq!(
        texts(&again),
        ["Rules.", "hi", "", "r", "s", "lost", "done", "more"]
    );
    let text = again.text();
    for kept in [
        r#"{\"a\":1}"#, r#""thoughtSignature":"yy""#, r#""id":"u""#, r#""is_error":true"#,
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    // A second round trip changes nothing.
    let lines = written(&through_lines(&again), WritePurpose::Return).0;
    let pairs = lines
        .split(|byte| *byte == b'\n')
        .zip(out.split(|byte| *byte == b'\n'));
    pairs.for_each(|(ours, theirs)| assert!(ours == theirs || json::same(ours, theirs)));
}

#[test]
fn a_new_message_that_is_not_resumed_is_reported() {
    let mut session = Session::default();
    for text in ["/help", " ? why", "<hook_context>x", "hi /help"] {
        session.push_new(format!(r#"{{"role":"user","content":"{text}"}}"#).as_bytes());
    }
    let (_, report) = written(&session, WritePurpose::Export);
    assert_eq!(report.losses.get(&Loss::Message), Some(&3));
}

#[test]
fn lines_that_are_not_log_lines_are_reported_and_preserved() {
    let bytes = log(&[
        user("a", "1"),
        "not json".to_string(),
        r#"{"x":1}"#.to_string(),
        user("b", "2"),
    ]);
    let (all, report) = sessions(&bytes);
    let places: Vec<_> = report.findings.iter().map(|finding| finding.place.line).collect();
    assert_eq!(places, [3, 4]);
    let session = &all[0];
    let count = |class: Class| {
        (0..session.len())
            .filter(|index| session.class(*index) == class)
            .count()
    };
    assert_eq!((count(Class::Unreadable), count(Class::Event)), (1, 1));
    assert_eq!(texts(session), ["1", "2"]);
    for wrong in [
        &b""[..],
        b"[]",
        b"{\n}",
        b"[{\"sessionId\":\"x\",\"messageId\":0}]",
    ] {
        assert!(
            bed::read(Format::GeminiCli, "session.json", wrong).0.is_err(),
            "{wrong:?}"
        );
    }
}
