//! What holds of every format of listed elements.

use super::layout::Layout;
use crate::error::Place;
use crate::format::report::Report;
use crate::format::tests::truth;
use crate::format::{Format, Input, Purpose, Reading, Returned};
use crate::model::json;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;

/// The sessions of an input, with what they came from, and what stands behind them.
pub fn open(
    format: Format,
    bytes: &[u8],
    report: &mut Report,
) -> crate::error::Result<(Vec<Session>, Vec<u8>)> {
    let Reading::Sessions(open) = format.form().read else {
        panic!("{} is not read session by session", format.name());
    };
    let mut reader = open(Input {
        name: Some("some.json".to_string()),
        head: bytes[..bytes.len().min(64)].to_vec(),
        rest: Box::new(std::io::Cursor::new(bytes[bytes.len().min(64)..].to_vec())),
        returns: true,
    })?;
    let sessions = truth::all(reader.as_mut(), report)?;
    Ok((sessions, reader.tail().to_vec()))
}

/// The same sessions as their lines alone say them: without what they came from.
pub fn native(session: &Session) -> Session {
    let mut again = Session::default();
    for index in 0..session.len() {
        again.push(&Record::parse(session.full(index), Place { line: 1, offset: 1 }));
    }
    again
}

/// The sessions back in the input that they came from, those of these numbers with more lines.
pub fn back(format: Format, sessions: &mut [Session], tail: &[u8], more: &[(usize, &str)]) -> String {
    for (nth, line) in more {
        sessions[*nth].push_new(line.as_bytes());
    }
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < sessions.len() {
        let origin = sessions[at].origin().unwrap();
        let same = sessions[at..]
            .iter()
            .take_while(|session| std::sync::Arc::ptr_eq(session.origin().unwrap(), origin));
        let end = at + same.count();
        let returned: Vec<_> = (at..end)
            .map(|nth| Returned {
                session: &sessions[nth],
                view: &views[nth],
                changed: more.iter().any(|(changed, _)| *changed == nth),
            })
            .collect();
        (format.form().back.unwrap())(&returned, &mut out, &mut Report::default()).unwrap();
        at = end;
    }
    out.extend_from_slice(tail);
    String::from_utf8(out).unwrap()
}

/// What a session is written as, and what is told of it.
pub fn written(format: Format, session: &Session) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let write = format.form().write.unwrap();
    write(
        session,
        &View::replay(session),
        Purpose::Export,
        &mut out,
        &mut report,
    )
    .unwrap();
    (out, report)
}

/// Holds a document: untouched it is the bytes that it was; from the record stream it is the same JSON, nothing lost;
/// cut and damaged anywhere it is read or refused, and goes back as it came.
pub fn hold(format: Format, bytes: &[u8]) {
    let (mut sessions, tail) = open(format, bytes, &mut Report::default()).unwrap();
    assert_eq!(back(format, &mut sessions, &tail, &[]).as_bytes(), bytes);
    let nothing = r#"{"type":"truncate","id":"evt_1","at":"2026-01-01T00:00:00Z","drop":[]}"#;
    let all: Vec<_> = (0..sessions.len()).map(|nth| (nth, nothing)).collect();
    let same = back(format, &mut sessions, &tail, &all);
    assert_eq!(same.as_bytes(), bytes, "as changed");
    let (sessions, _) = open(format, bytes, &mut Report::default()).unwrap();
    if let [session] = sessions.as_slice() {
        let (out, report) = written(format, &native(session));
        assert!(report.losses.is_empty(), "{:?}", report.losses);
        let (was, is) = (Layout::of(bytes), Layout::of(&out));
        assert_eq!(was.elements.len(), is.elements.len());
        for (one, other) in was.elements.iter().zip(&is.elements) {
            let (one, other) = (one.bytes, other.bytes);
            assert!(
                json::same(one, other),
                "{}\n{}",
                String::from_utf8_lossy(one),
                String::from_utf8_lossy(other)
            );
        }
    }
    for tenth in 0..10 {
        let cut = &bytes[..bytes.len() * tenth / 10];
        let mut damaged = bytes.to_vec();
        let at = bytes.len() * tenth / 10;
        damaged[at] = match damaged[at] {
            b'{' | b'"' => b'~',
            _ => b'{',
        };
        for bytes in [cut, &damaged] {
            let mut report = Report::default();
            match open(format, bytes, &mut report) {
                Ok((mut sessions, tail)) => {
                    assert_eq!(back(format, &mut sessions, &tail, &[]).as_bytes(), bytes);
                }
                Err(error) => assert_eq!(error.kind, crate::error::Kind::Data),
            }
        }
    }
}
