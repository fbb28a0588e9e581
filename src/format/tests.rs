//! Tests of the table of formats against the behavior of each format.

mod arbitrary_bytes;
pub mod bed;
mod damage;
pub mod displayed;
pub mod in_place;
mod in_place_files;
mod laws;
pub mod small;
pub mod truth;
mod two_documents;
mod unrecognized;

use super::report::Report;
use super::*;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::BTreeSet;

/// A session with all kinds of data that a format may be unable to represent.
const RICH: &str = r#"{"type":"session","version":1,"id":"rich","title":"t","tokenizer":"o200k_base","scope":{"channel":"c"},"metadata":{"x":1}}
{"role":"system","content":"Be terse.","id":"m0","name":"house","category":"context","metadata":{"a":1}}
{"role":"developer","content":"No lists.","id":"m1"}
{"role":"user","content":"Hello.","id":"q0"}
{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"file-1"}},{"type":"file","file":{"file_id":"f"}},{"type":"odd","x":1},{"type":"input_audio","input_audio":{"data":"AA==","format":"flac"}}],"id":"m2","category":"system_output","metadata":{"b":2},"name":"ann","timestamp":"2026-01-02T03:04:05.000001Z","tokens":7}
{"role":"assistant","content":"Let me see.","id":"m3","model":"m","usage":{"input_tokens":1},"reasoning":[{"type":"thinking","text":"hm","signature":"sig"},{"type":"encrypted","encrypted_content":"zz"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{bad"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"x"}}]}
{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"ok"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}],"id":"m4","timestamp":"2026-01-02T03:04:06.5Z"}
{"role":"tool","tool_call_id":"c1","content":"again"}
{"role":"tool","tool_call_id":"nobody","content":"lost","id":"m5","timestamp":"2026-01-02T03:04:07Z"}
{"role":"critic","content":"hm","id":"m6"}
{"type":"note","id":"e1","at":"2026-01-02T03:05:00Z"}
{"role":"assistant","content":"Done.","id":"m7","refusal":"no","other":1}
{"type":"summary","id":"e2","at":"2026-01-02T03:05:00Z","content":"They looked.","covers":["q0","q0"],"sha256":"00","by":"extract"}
not json
{"role":"user","content":"And now?","id":"m8","category":"system_output","metadata":{"b":2}}
{"role":"user","content":"Well?","id":"m9"}
{"role":"assistant","content":"It is.","id":"m11","model":"m"}
{"role":"assistant","content":"Yes.","id":"m12","model":"m2"}
{"role":"user","content":"","id":"m13"}
{"role":"assistant","content":null,"id":"m14"}
{"role":"user","content":"/help","id":"m10"}
"#;

fn session(text: &str) -> Session {
    let mut session = Session::default();
    let mut offset = 0;
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        let place = crate::error::Position {
            line: nth as u64 + 1,
            offset,
        };
        session.push(&Record::parse(line.as_bytes(), place));
        offset += line.len() as u64;
    }
    session
}

#[test]
fn reported_losses_match_the_table() {
    // The summary may be one that the assistant has said.
    let said = RICH.replace("\"by\":\"extract\"", "\"by\":\"extract\",\"as\":\"assistant\"");
    let sessions = [RICH, &said].map(session);
    let mut wrong = Vec::new();
    for format in Format::ALL {
        let Some(write) = format.spec().write else {
            continue;
        };
        let mut report = Report::default();
        for session in &sessions {
            let target = WriteTarget(WritePurpose::Export, &mut Vec::new(), &mut report);
            write(session, &View::replay(session), target).unwrap();
        }
        let reported: BTreeSet<_> = report.losses.keys().copied().collect();
        let listed: BTreeSet<_> = format.spec().unsupported.iter().collect();
        if reported != listed {
            wrong.push(format!(
                "{}: reports {reported:?}, but the table lists {listed:?}",
                format.name()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
