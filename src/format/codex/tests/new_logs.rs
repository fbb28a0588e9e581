//! Sessions from other formats, written as logs.

use crate::format::report::Loss;
use crate::format::tests::bed;
use crate::format::{Format, WritePurpose};
use crate::model::session::Session;
use crate::model::view::View;

#[test]
fn a_new_log_has_a_summary_as_a_compaction() {
    for rules in [&[][..], &[r#"{"role":"system","content":"Be brief.","id":"s"}"#]] {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"x"}"#);
        let said = [
            r#"{"role":"user","content":"q","id":"m1"}"#,
            r#"{"role":"assistant","content":"a","id":"m2"}"#,
            r#"{"role":"user","content":"r","id":"m3"}"#,
            r#"{"type":"summary","id":"evt_s","at":"2026-01-02T00:00:00Z","content":"it was \"so\"","covers":["m1","m2"]}"#,
        ];
        for line in rules.iter().chain(&said) {
            session.push_new(line.as_bytes());
        }
        let (log, report) = bed::written(Format::Codex, &session, WritePurpose::Export);
        let is_lost = |loss: Loss| report.losses.contains_key(&loss);
        assert!(
            ![Loss::Summary, Loss::Event].into_iter().any(is_lost),
            "{report:?}"
        );
        let (again, _) = super::session(&log);
        let view = View::replay(&again);
        let summaries: Vec<_> = view
            .items
            .iter()
            .filter_map(|item| item.summary(&again))
            .collect();
        assert_eq!(summaries, ["it was \"so\""]);
        let texts = view.messages(&again).map(|message| message.text().into_owned());
        let expected = [&["Be brief."][..rules.len()], &["r"]].concat();
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }
}
