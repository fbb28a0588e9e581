//! Lists of every manner, and what becomes of their elements.

use super::*;
use crate::model::session::Session;
use crate::model::view::View;

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
