//! Lists of every manner, and what becomes of their elements.

use super::*;
use crate::model::session::Session;
use crate::model::view::View;

fn listed(document: &str, member: Option<&str>, elements: &[Element]) -> String {
    let listing = Listing::of(document.as_bytes(), member).unwrap();
    String::from_utf8(listing.with(elements)).unwrap()
}

fn new(raw: &str) -> Element {
    Element::New(raw.as_bytes().to_vec())
}

#[test]
fn what_stays_is_as_it_was_and_what_is_new_stands_in_the_same_manner() {
    use Element::Old;
    let cases = [
        ("[1, 2,  3]", None, vec![Old(0), Old(1), Old(2)], "[1, 2,  3]"),
        (
            "[1, 2,  3]\n",
            None,
            vec![Old(1), Old(2), new("{\"a\": 4}")],
            "[2,  3, {\"a\":4}]\n",
        ),
        ("[1]", None, vec![], "[]"),
        ("[ ]", None, vec![new("1"), new("2")], "[1,2]"),
        (
            "{\"l\":[],\"x\":5e-06}",
            Some("l"),
            vec![new("1")],
            "{\"l\":[1],\"x\":5e-06}",
        ),
        (
            "{\n \"l\": [\n  {\n   \"a\": 1\n  }\n ],\n \"x\": 2\n}",
            Some("l"),
            vec![Old(0), new("{\"b\":[3,{}]}")],
            "{\n \"l\": [\n  {\n   \"a\": 1\n  },\n  {\n   \"b\": [\n    3,\n    {}\n   ]\n  }\n ],\n \"x\": 2\n}",
        ),
        (
            "{\n  \"l\": []\n}",
            Some("l"),
            vec![new("{\"b\":3}")],
            "{\n  \"l\": [\n    {\n      \"b\": 3\n    }\n  ]\n}",
        ),
        // Elements on a line each.
        (
            "[\n{\"a\":1},\n{\"a\":2}\n]\n",
            None,
            vec![Old(0), new("{\"b\": 3}")],
            "[\n{\"a\":1},\n{\"b\":3}\n]\n",
        ),
        // The last of a name counts.
        (
            "{\"l\":[1],\"l\":[2]}",
            Some("l"),
            vec![Old(0), Old(0)],
            "{\"l\":[1],\"l\":[2,2]}",
        ),
    ];
    for (document, member, elements, wanted) in cases {
        assert_eq!(listed(document, member, &elements), wanted);
    }
    for (document, member) in [
        ("{}", None),
        ("{}", Some("l")),
        ("{\"l\":{}}", Some("l")),
        ("[1", None),
        ("", None),
    ] {
        assert!(Listing::of(document.as_bytes(), member).is_none());
    }
}

fn session(lines: &[&str]) -> Session {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    session
}

fn woven(session: &Session, own: usize, units: &[(usize, usize)]) -> Vec<Piece> {
    let units: Vec<Unit> = units
        .iter()
        .enumerate()
        .map(|(nth, (start, end))| Unit {
            elements: nth..nth + 1,
            lines: *start..*end,
        })
        .collect();
    let view = View::replay(session);
    let made = (0..view.items.len()).map(|item| Made {
        raws: vec![format!("{item}").into_bytes()],
        items: vec![item],
    });
    weave(session, own, &view, &units, made.collect())
}

#[test]
fn units_stay_as_long_as_all_of_them_that_was_in_view_is() {
    use Piece::Old;
    let said = [
        r#"{"type":"session","version":1,"id":"s"}"#,
        r#"{"type":"foreign","format":"x","raw":1}"#,
        r#"{"role":"user","content":"1","id":"a"}"#,
        r#"{"role":"assistant","content":"2","id":"b"}"#,
        r#"{"role":"tool","content":"3","id":"c"}"#,
        r#"{"type":"foreign","format":"x","raw":2}"#,
        r#"{"role":"user","content":"4","id":"d"}"#,
    ];
    let units = [(1, 2), (2, 3), (3, 5), (5, 6), (6, 7)];
    let all = session(&said);
    assert_eq!(woven(&all, 7, &units), [Old(0), Old(1), Old(2), Old(3), Old(4)]);
    let drop = |ids: &str| {
        let event =
            format!(r#"{{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s",{ids}}}"#);
        let mut session = all.clone();
        session.push_new(event.as_bytes());
        session.push_new(br#"{"role":"user","content":"5","id":"f"}"#);
        woven(&session, 7, &units)
    };
    let new = |text: &str, unit| Piece::New(vec![text.as_bytes().to_vec()], unit);
    // What was never in view goes with what it stands behind.
    assert_eq!(
        drop(r#""drop":["b","c"]"#),
        [Old(0), Old(1), Old(4), new("2", None)]
    );
    assert_eq!(
        drop(r#""drop":["c"]"#),
        [Old(0), Old(1), new("1", Some(2)), Old(3), Old(4), new("3", None)]
    );
    assert_eq!(
        drop(r#""edit":[{"id":"a","content":"x"}]"#),
        [Old(0), new("0", Some(1)), Old(2), Old(3), Old(4), new("4", None)]
    );
}
