use super::*;

fn session(log: &str) -> Session {
    let mut session = Session::default();
    log.lines().for_each(|line| session.push_new(line.as_bytes()));
    session
}

fn diff(a: &str, b: &str) -> (Vec<DiffStep>, DiffTotals) {
    let (a, b) = (session(a), session(b));
    let views = [View::replay(&a), View::replay(&b)];
    let diff = SessionDiff::of((&a, &views[0]), (&b, &views[1]));
    (diff.steps.clone(), diff.totals())
}

fn lines(messages: &[(&str, &str, &str)]) -> String {
    let line = |(id, role, text): &(&str, &str, &str)| match id.is_empty() {
        true => format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n"),
        false => format!("{{\"role\":\"{role}\",\"id\":\"{id}\",\"content\":\"{text}\"}}\n"),
    };
    messages.iter().map(line).collect()
}

#[test]
fn messages_without_shared_ids_are_paired_by_text() {
    let a = lines(&[
        ("", "user", "Please update the file"),
        ("", "assistant", "I will update the file now"),
        ("", "user", "Thanks a lot"),
        ("", "assistant", "Anything else"),
    ]);
    let b = lines(&[
        ("", "user", "Please update the file"),
        ("", "assistant", "I have to update the file now"),
        ("", "user", "Go on"),
        ("", "assistant", "Anything else"),
    ]);
    let (steps, _) = diff(&a, &b);
    assert_eq!(
        steps,
        [
            DiffStep::Equal(0, 0),
            DiffStep::Changed(1, 1, vec!["content"]),
            DiffStep::Dropped(2),
            DiffStep::Added(2),
            DiffStep::Equal(3, 3)
        ]
    );
    assert!(
        diff(&a, &a)
            .0
            .iter()
            .all(|step| matches!(step, DiffStep::Equal(..)))
    );
}

#[test]
fn messages_of_equal_ids_are_one_however_they_changed_or_moved() {
    let a = lines(&[
        ("a", "user", "one"),
        ("b", "user", "two"),
        ("c", "user", "three"),
        ("d", "user", "four"),
    ]);
    let b = lines(&[
        ("b", "user", "two"),
        ("c", "user", "something else"),
        ("a", "user", "one"),
        ("d", "user", "four"),
    ]);
    let (steps, totals) = diff(&a, &b);
    assert_eq!(
        steps,
        [
            DiffStep::Equal(1, 0),
            DiffStep::Changed(2, 1, vec!["content"]),
            DiffStep::Moved(0, 2, Vec::new()),
            DiffStep::Equal(3, 3)
        ]
    );
    assert_eq!((totals.equal, totals.changed, totals.moved), (2, 1, 1));
}

#[test]
fn calls_are_compared_without_ids_and_layout() {
    let call = |id: &str, arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"run\",\"arguments\":{arguments}}}}}]}}\n"
        )
    };
    let (steps, _) = diff(&call("x", r#"{"a": 1, "b": 2}"#), &call("y", r#"{"b":2,"a":1}"#));
    assert_eq!(steps, [DiffStep::Equal(0, 0)]);
    let (steps, _) = diff(&call("x", r#"{"a": 1, "b": 2}"#), &call("x", r#"{"a":1,"b":3}"#));
    assert_eq!(steps, [DiffStep::Changed(0, 0, vec!["tool_calls"])]);
}

#[test]
fn a_session_is_compared_with_itself_before_an_event() {
    let log = concat!(
        "{\"type\":\"session\",\"version\":1,\"id\":\"s\"}\n",
        "{\"role\":\"user\",\"id\":\"a\",\"content\":\"one\"}\n",
        "{\"role\":\"user\",\"id\":\"b\",\"content\":\"two\"}\n",
        "{\"type\":\"truncate\",\"id\":\"t\",\"at\":\"2026-01-01T00:00:00Z\",\"before\":\"b\"}\n",
    );
    let now = session(log);
    assert_eq!(event(&now, None), Some(3));
    assert_eq!(event(&now, Some("t")), Some(3));
    assert_eq!(event(&now, Some("u")), None);
    let was = before(&now, 3);
    let views = [View::replay(&was), View::replay(&now)];
    let diff = SessionDiff::of((&was, &views[0]), (&now, &views[1]));
    assert_eq!(diff.steps, [DiffStep::Dropped(0), DiffStep::Equal(1, 0)]);
    assert!(diff.members.is_empty());
}
