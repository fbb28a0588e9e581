//! Repairs whole sessions: native ones, and ones read from the format of every API.

use super::*;
use crate::check::check;
use crate::check::tests::properties::palette;
use crate::format::{self, DocumentSource, Format};
use proptest::prelude::*;

const MODES: [Option<RepairMode>; 4] = [
    None,
    Some(RepairMode::Drop),
    Some(RepairMode::Stub),
    Some(RepairMode::Text),
];

/// Messages for random native sessions; `#` is replaced with a number.
const MESSAGES: [&str; 16] = [
    r#"{"role":"user","content":"q#","id":"m#"}"#,
    r#"{"role":"user","content":"q#"}"#,
    r#"{"role":"user","content":"","id":"same"}"#,
    r#"{"role":"system","content":"s#","id":"m#"}"#,
    r#"{"role":"assistant","content":"a#","id":"m#","tokens":3,"timestamp":"2026-01-01T00:00:00Z"}"#,
    r#"{"role":"assistant","content":null,"id":"m#"}"#,
    r#"{"role":"assistant","content":"a#","reasoning":[{"type":"text","text":"t"}],"id":"m#"}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"m#"}"#,
    r#"{"role":"assistant","content":"x","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{oops"}}],"id":"m#","x":[1]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c3","type":"function","function":{"name":"f","arguments":"{\"a\":12345678901234567890}"}},{"id":"c3","type":"function","function":{"name":"f","arguments":"{}"}}],"id":"same"}"#,
    r#"{"role":"tool","tool_call_id":"c1","content":"r#","id":"m#","category":"system_output"}"#,
    r#"{"role":"tool","tool_call_id":"c2","content":"r#"}"#,
    r#"{"role":"tool","tool_call_id":"c3","content":null,"id":"same"}"#,
    r#"{"role":"bot","content":"b#","id":"m#"}"#,
    r#"{"type":"note","id":"e#"}"#,
    "not json",
];

fn native<'m>(messages: impl IntoIterator<Item = &'m str>) -> Session {
    let mut session = Session::default();
    session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
    for (nth, message) in messages.into_iter().enumerate() {
        session.push_new(message.replace('#', &nth.to_string()).as_bytes());
    }
    session
}

/// Reads a session from an array of an API's elements.
fn foreign(api: Api, picks: &[prop::sample::Index]) -> Option<Session> {
    let palette = palette(api);
    let elements: Vec<&str> = picks.iter().map(|pick| *pick.get(&palette)).collect();
    let member = match api {
        Api::OpenaiChat | Api::Anthropic => "messages",
        Api::OpenaiResponses => "input",
        Api::Gemini => "contents",
    };
    let text = format!("{{\"{member}\":[{}]}}", elements.join(","));
    let format = Format::from_name(api.name())?;
    let read = format::convert(
        format,
        &DocumentSource::alone(text.as_bytes()),
        &mut Report::default(),
    );
    read.ok()?.into_iter().next()
}

fn stamp(_: &str) -> Result<Stamp> {
    Ok(Stamp {
        id: "e_fix".into(),
        at: "2026-01-01T00:00:00Z".into(),
    })
}

fn findings(api: Api, session: &Session, options: &CheckOptions) -> Vec<check::ApiViolation> {
    let view = View::replay(session);
    let request = request::elements(api, session, &view, &mut Report::default()).unwrap();
    let raws: Vec<&[u8]> = request
        .elements
        .iter()
        .map(|element| element.raw.as_slice())
        .collect();
    check(api, &raws, &options_for(&request, options))
}

/// Repairs a session, repairs it again and undoes the repair.
fn round(session: &Session, api: Api, mode: Option<RepairMode>, options: &CheckOptions) {
    let how = RepairOptions {
        api,
        check: options,
        mode,
        warnings: true,
    };
    let before = View::replay(session).shown(session);
    let wrong = findings(api, session, options);
    let repaired = match plan(session, &how, stamp) {
        Ok(repaired) => repaired,
        Err(error) => {
            assert!(
                error.message.starts_with("the repair would drop every message"),
                "{error}"
            );
            return;
        }
    };
    let Plan::Lines(lines, reported) = repaired.plan else {
        let needs = wrong
            .iter()
            .find(|finding| finding.is_error() && finding.rule.id != "OC11");
        assert!(needs.is_none(), "{needs:?}");
        return;
    };
    assert!(!wrong.is_empty());
    let mut after = session.clone();
    lines.iter().for_each(|line| after.push_new(line));
    let left = findings(api, &after, options);
    let shown = || format!("{api:?} {mode:?} {reported}\n{}\n{:#?}", after.text(), left);
    // A message that is not sent can separate two others.
    let stuck = |finding: &&check::ApiViolation| finding.is_error() && finding.rule.id != "ALT";
    assert!(left.iter().find(stuck).is_none(), "{}", shown());
    assert!(View::replay(&after).dangling.is_empty(), "{}", shown());
    let again = plan(&after, &how, stamp).unwrap();
    assert!(
        matches!(again.plan, Plan::Nothing(_)),
        "{:?}\n{}",
        again.plan,
        shown()
    );
    after.push_new(br#"{"type":"restore","id":"e_back","at":"2026-01-01T00:00:00Z","of":"e_fix"}"#);
    assert_eq!(View::replay(&after).shown(&after), before);
}

/// Gemini has no content for an empty message, yet it separates the results around it.
#[test]
fn a_message_without_content_between_merged_results_is_dropped() {
    let session = native([9, 8, 10, 5, 10, 12].map(|nth| MESSAGES[nth]));
    round(
        &session,
        Api::Gemini,
        Some(RepairMode::Text),
        &CheckOptions::default(),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn a_native_session_is_repaired(
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        api in prop::sample::select(Api::ALL.to_vec()),
        mode in prop::sample::select(MODES.to_vec()),
        (alternate, thinking, open_end) in any::<(bool, bool, bool)>(),
    ) {
        let options = CheckOptions { alternate, thinking, open_end, ..CheckOptions::default() };
        round(&native(picks.iter().map(|pick| *pick.get(&MESSAGES))), api, mode, &options);
    }

    #[test]
    fn a_session_in_the_format_of_the_api_is_repaired(
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..8),
        api in prop::sample::select(Api::ALL.to_vec()),
        mode in prop::sample::select(MODES.to_vec()),
    ) {
        if let Some(session) = foreign(api, &picks) {
            round(&session, api, mode, &CheckOptions::default());
        }
    }
}
