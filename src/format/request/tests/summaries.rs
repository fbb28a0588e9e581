use super::{Api, WritePurpose, native, printed, read, request};
use crate::model::session::Session;
use crate::model::view::{Item, View};

#[test]
fn a_summary_is_read_from_the_requests_that_contain_it() {
    let summary =
        r#"{"type":"summary","id":"e","at":"x","content":"was </conversation_summary> said","here":true}"#;
    let turns = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":"b"}"#,
    ];
    let texts = |session: &Session| -> Vec<String> {
        let items = View::replay(session).items;
        let text = |item: &Item| item.summary(session).map(|text| text.into_owned());
        items.iter().filter_map(text).collect()
    };
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic, Api::Gemini] {
        for lines in [
            &[summary][..],
            &[summary, turns[0]],
            &[turns[0], turns[1], summary, turns[0], turns[1]],
        ] {
            let written = printed(api, &native(lines), WritePurpose::Export).0;
            let session = read(api, &written);
            assert_eq!(
                texts(&session),
                ["was </conversation_summary> said"],
                "{api:?}: {written}"
            );
            assert_eq!(printed(api, &session, WritePurpose::Return).0, written, "{api:?}");
            let raws = |session| -> Vec<Vec<u8>> {
                let elements = request(api, session).0.elements;
                elements.into_iter().map(|element| element.raw).collect()
            };
            assert_eq!(raws(&session), raws(&native(lines)), "{api:?}");
            // A reply, or a text that only contains a summary, is not one.
            let reply = if api == Api::Gemini {
                "\"model\""
            } else {
                "\"assistant\""
            };
            for other in [
                written.replace("\"user\"", reply).replace("\"system\"", reply),
                written.replace("Said earlier", "So: Said earlier"),
            ] {
                assert_eq!(texts(&read(api, &other)), [] as [&str; 0], "{api:?}: {other}");
            }
        }
    }
}
