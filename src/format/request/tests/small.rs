//! Small tests of one aspect each.

use super::*;
use crate::error::ErrorKind;
use crate::format::report::Loss;
use crate::model::json::{self, Dialect};

fn bodies(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    view.items
        .iter()
        .map(|item| String::from_utf8(item.body(session).to_vec()).unwrap())
        .collect()
}

fn raws(request: &ProviderRequest) -> Vec<&str> {
    request
        .elements
        .iter()
        .map(|element| std::str::from_utf8(&element.raw).unwrap())
        .collect()
}

const CHAT: [&str; 6] = [
    r#"{"role":"system","content":"rules"}"#,
    r#"{"role":"user","content":"hi"}"#,
    r#"{"role":"assistant","content":"let me see","tool_calls":[{"id":"c 1","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{bad"}}]}"#,
    r#"{"role":"tool","tool_call_id":"c2","content":"two"}"#,
    r#"{"role":"user","content":"and?"}"#,
    r#"{"role":"tool","tool_call_id":"c 1","content":"one"}"#,
];

#[test]
fn anthropic_gets_results_first_and_whole_numbers() {
    let (request, report) = request(Api::Anthropic, &native(&CHAT));
    assert_eq!(request.system.as_deref(), Some(&b"\"rules\""[..]));
    assert_eq!(request.system_items, [0]);
    assert_eq!(
        raws(&request),
        [
            r#"{"role":"user","content":"hi"}"#,
            concat!(
                r#"{"role":"assistant","content":[{"type":"text","text":"let me see"},"#,
                r#"{"type":"tool_use","id":"c_1","name":"f","input":{"n":12345678901234567890}},"#,
                r#"{"type":"tool_use","id":"c2","name":"g","input":{"input":"{bad"}}]}"#
            ),
            concat!(
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"one"},"#,
                r#"{"type":"tool_result","tool_use_id":"c2","content":"two"},{"type":"text","text":"and?"}]}"#
            ),
        ]
    );
    assert_eq!(request.elements[2].items, [5, 3, 4]);
    assert_eq!(report.losses, [(Loss::Arguments, 1)].into());
}

#[test]
fn responses_get_items_and_gemini_contents() {
    let responses = request(Api::OpenaiResponses, &native(&CHAT)).0;
    assert_eq!(responses.system, None);
    assert_eq!(
        raws(&responses)[..5],
        [
            r#"{"role":"system","content":"rules"}"#,
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"assistant","content":"let me see"}"#,
            r#"{"type":"function_call","call_id":"c 1","name":"f","arguments":"{\"n\":12345678901234567890}"}"#,
            r#"{"type":"function_call","call_id":"c2","name":"g","arguments":"{bad"}"#,
        ]
    );
    assert_eq!(responses.elements[3].items, [2]);
    let gemini = request(Api::Gemini, &native(&CHAT)).0;
    assert_eq!(
        gemini.system.as_deref(),
        Some(&br#"{"parts":[{"text":"rules"}]}"#[..])
    );
    assert_eq!(
        raws(&gemini)[2..],
        [
            concat!(
                r#"{"role":"user","parts":[{"functionResponse":{"id":"c 1","name":"f","response":{"output":"one"}}},"#,
                r#"{"functionResponse":{"id":"c2","name":"g","response":{"output":"two"}}}]}"#
            ),
            r#"{"role":"user","parts":[{"text":"and?"}]}"#,
        ]
    );
}

#[test]
fn repeated_ids_get_a_suffix_for_anthropic() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":""}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"x","content":"r"}"#;
    let session = native(&[r#"{"role":"user","content":"u"}"#, call, result, call, result]);
    let request = request(Api::Anthropic, &session).0;
    let ids: Vec<_> = raws(&request)
        .iter()
        .flat_map(|raw| {
            raw.split("id\":\"")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap())
        })
        .map(str::to_string)
        .collect();
    assert_eq!(ids, ["x", "x", "x_2", "x_2"]);
}

#[test]
fn a_summary_is_quoted_and_cannot_end_its_quotation() {
    let lines = [
        r#"{"role":"user","content":"a","id":"m1"}"#,
        r#"{"role":"user","content":"b","id":"m2"}"#,
        r#"{"type":"summary","id":"e","at":"x","content":"was </conversation_summary> said","covers":["m1","m1"]}"#,
    ];
    let anthropic = request(Api::Anthropic, &native(&lines)).0;
    assert_eq!(anthropic.elements.len(), 1, "one message of the user");
    let text = raws(&anthropic)[0];
    assert_eq!(text.matches("</conversation_summary>").count(), 1, "{text}");
    assert!(text.contains(r#"was <\\/conversation_summary> said"#), "{text}");
    assert_eq!(anthropic.elements[0].items, [0, 1]);
    assert_eq!(request(Api::OpenaiResponses, &native(&lines)).0.elements.len(), 2);
}

#[test]
fn reasoning_of_other_providers_is_dropped_and_reported() {
    let line = r#"{"role":"assistant","content":"x","reasoning":[{"type":"thinking","text":"t","signature":"s+/="},{"type":"thinking","text":"u"},{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"thought","text":"g","thoughtSignature":"z"}]}"#;
    for (api, kept, signed) in [
        (
            Api::Anthropic,
            r#"{"type":"thinking","thinking":"t","signature":"s+/="}"#,
            2,
        ),
        (
            Api::OpenaiResponses,
            r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}"#,
            2,
        ),
        (
            Api::Gemini,
            r#"{"text":"g","thoughtSignature":"z","thought":true}"#,
            2,
        ),
    ] {
        let (request, report) = request(api, &native(&[line]));
        assert!(raws(&request).concat().contains(kept), "{:?}", raws(&request));
        assert_eq!(
            report.losses,
            [(Loss::Reasoning, 3), (Loss::Signature, signed)].into(),
            "{}",
            api.name()
        );
    }
}

#[test]
fn attachments_are_converted_or_reported_lost() {
    let line = r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}]}"#;
    let cases = [
        (
            Api::Anthropic,
            r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a.pdf"}]}"#,
            1,
        ),
        (
            Api::OpenaiResponses,
            r#"{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,aGk="},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}]}"#,
            0,
        ),
        (
            Api::Gemini,
            r#"{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0="}},{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}]}"#,
            0,
        ),
    ];
    for (api, expected, lost) in cases {
        let (request, report) = request(api, &native(&[line]));
        assert_eq!(raws(&request), [expected]);
        let reported = report.losses.get(&Loss::Attachment).copied().unwrap_or(0);
        assert_eq!(reported, lost, "{}", api.name());
    }
}

#[test]
fn openai_chat_gets_converted_attachments_only() {
    let anthropic = r#"[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"t","citations":{"enabled":true}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}},{"type":"future"}]},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}]"#;
    let (chat, report) = request(Api::OpenaiChat, &read(Api::Anthropic, anthropic));
    assert_eq!(
        raws(&chat),
        [
            r#"{"role":"user","content":[{"type":"file","file":{"filename":"t","file_data":"data:application/pdf;base64,JVBERi0="},"citations":{"enabled":true}},{"type":"future"}]}"#,
            r#"{"role":"assistant","content":null}"#,
        ]
    );
    assert_eq!(report.losses, [(Loss::Part, 3)].into());
    let gemini = r#"[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"aGk=","displayName":"n"}},{"fileData":{"fileUri":"gs://b/c"}}]}]"#;
    let (chat, report) = request(Api::OpenaiChat, &read(Api::Gemini, gemini));
    assert_eq!(
        raws(&chat),
        [
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}"#
        ]
    );
    assert_eq!(report.losses, [(Loss::Attachment, 1)].into());
}

#[test]
fn a_result_is_written_before_preceding_text() {
    let lines = [
        r#"{"role":"user","content":"note"}"#,
        r#"{"role":"tool","tool_call_id":"x","content":"r"}"#,
    ];
    assert_eq!(
        raws(&request(Api::Anthropic, &native(&lines)).0),
        [
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"},{"type":"text","text":"note"}]}"#
        ]
    );
}

#[test]
fn the_original_element_is_used_until_a_message_changes() {
    // Text before the result violates the rules.
    let text = r#"[{"role":"user","content":[{"type":"text","text":"note"},{"type":"tool_result","tool_use_id":"t","content":"r"}]}]"#;
    let session = read(Api::Anthropic, text);
    same(&printed(Api::Anthropic, &session, WritePurpose::Return).0, text);
    let mut changed = bodies(&session);
    changed[0] = changed[0].replacen("\"content\":\"r\"", "\"content\":\"[masked]\"", 1);
    let request = request(Api::Anthropic, &super::session(&changed)).0;
    assert_eq!(
        raws(&request),
        [
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"[masked]"},{"type":"text","text":"note"}]}"#
        ]
    );
}

#[test]
fn consecutive_messages_of_a_role_are_not_merged() {
    for (api, text) in [
        (
            Api::Anthropic,
            r#"[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}]"#,
        ),
        (
            Api::Gemini,
            r#"[{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b"}]}]"#,
        ),
    ] {
        let session = read(api, text);
        same(&printed(api, &session, WritePurpose::Return).0, text);
        // The addition is joined with the last element.
        let mut lines = bodies(&session);
        lines.push(r#"{"role":"user","content":"c"}"#.to_string());
        assert_eq!(request(api, &super::session(&lines)).0.elements.len(), 2);
    }
}

#[test]
fn an_item_without_its_reasoning_loses_its_id() {
    let text = r#"[{"role":"user","content":"u"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x"}]},{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}]"#;
    let session = read(Api::OpenaiResponses, text);
    assert_eq!(
        bodies(&session).len(),
        2,
        "reasoning, text and call are one message"
    );
    same(
        &printed(Api::OpenaiResponses, &session, WritePurpose::Return).0,
        text,
    );
    let line = json::with_members(bodies(&session)[1].as_bytes(), &[("reasoning", None)]).unwrap();
    let request = request(
        Api::OpenaiResponses,
        &native(&[std::str::from_utf8(&line).unwrap()]),
    )
    .0;
    assert_eq!(
        raws(&request),
        [
            r#"{"role":"assistant","content":[{"type":"output_text","text":"x"}],"type":"message"}"#,
            r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#
        ]
    );
}

#[test]
fn request_bodies_keep_their_shape() {
    let cases = [
        (
            Api::Anthropic,
            r#"{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"a"}],"system":[{"type":"text","text":""}]}"#,
        ),
        (Api::Anthropic, r#"{"messages":[{"role":"user","content":"a"}]}"#),
        (
            Api::OpenaiResponses,
            r#"{"model":"m","store":false,"input":"a","instructions":"be brief"}"#,
        ),
        (Api::OpenaiResponses, r#"{"input":[],"instructions":null}"#),
        (
            Api::Gemini,
            r#"{"system_instruction":{"parts":[{"text":"s"}],"role":"user"},"contents":[{"parts":[{"text":"a"}]}]}"#,
        ),
        (
            Api::Gemini,
            r#"{"systemInstruction":"s","contents":[{"role":"function","parts":[{"function_response":{"name":"f","response":null}}]}]}"#,
        ),
    ];
    for (api, text) in cases {
        let session = read(api, text);
        for purpose in [WritePurpose::Return, WritePurpose::Export] {
            same(&printed(api, &session, purpose).0, text);
        }
    }
    let (context, _) = printed(
        Api::Anthropic,
        &read(Api::Anthropic, cases[0].1),
        WritePurpose::Context,
    );
    same(
        &context,
        r#"{"system":[{"type":"text","text":""}],"messages":[{"role":"user","content":"a"}]}"#,
    );
}

#[test]
fn responses_are_read() {
    let anthropic = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}"#;
    let openai = r#"{"id":"resp_1","object":"response","model":"m","output":[{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":3}}"#;
    let gemini = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3},"modelVersion":"m"}"#;
    let answer = read(Api::Gemini, gemini).metadata("response").unwrap();
    same(
        std::str::from_utf8(&answer).unwrap(),
        r#"{"usageMetadata":{"promptTokenCount":3},"modelVersion":"m","candidates":[{"finishReason":"STOP","index":0}]}"#,
    );
    for (api, text) in [
        (Api::Anthropic, anthropic),
        (Api::OpenaiResponses, openai),
        (Api::Gemini, gemini),
    ] {
        let session = read(api, text);
        let line = bodies(&session).pop().unwrap();
        assert_eq!(all_contents(&session)[0].text, "a");
        assert_eq!(
            json::member(line.as_bytes(), "model"),
            Some(&b"\"m\""[..]),
            "{line}"
        );
        assert!(json::member(line.as_bytes(), "usage").is_some_and(|raw| raw.starts_with(b"{")));
    }
    let blocked = gemini.replace("[{\"content", "[{\"finishReason\":\"SAFETY\"},{\"content");
    let mut report = Report::default();
    convert(
        Format::Gemini,
        &DocumentSource::alone(blocked.as_bytes()),
        &mut report,
    )
    .unwrap();
    assert!(report.is_damaged());
    // A response is exported as a history, but not written back without its other members.
    let session = read(Api::OpenaiResponses, openai);
    let (history, report) = printed(Api::OpenaiResponses, &session, WritePurpose::Export);
    assert!(history.starts_with("[\n{\"type\":\"reasoning\""), "{history}");
    assert!(report.losses.contains_key(&Loss::Header));
    let view = View::replay(&session);
    let returned = write(
        Format::OpenaiResponses,
        &session,
        &view,
        WritePurpose::Return,
        &mut Vec::new(),
        &mut Report::default(),
    );
    assert_eq!(returned.unwrap_err().kind, ErrorKind::Usage);
    // A provider does not accept the response metadata of its own answer.
    let context = request(Api::Anthropic, &read(Api::Anthropic, anthropic)).0;
    assert_eq!(
        raws(&context),
        [r#"{"role":"assistant","content":[{"type":"text","text":"a"}]}"#]
    );
}

#[test]
fn lines_are_one_history_and_bodies_many() {
    let elements = "{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]}\nbroken\n{\"role\":\"model\",\"parts\":[{\"text\":\"b\"}]}\n";
    let mut report = Report::default();
    let read = |text: &str, report: &mut Report| {
        convert(Format::Gemini, &DocumentSource::alone(text.as_bytes()), report).unwrap()
    };
    let sessions = read(elements, &mut report);
    assert_eq!((sessions.len(), all_contents(&sessions[0]).len()), (1, 2));
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].place.line, 2);
    assert_eq!(
        printed(Api::Gemini, &sessions[0], WritePurpose::Return).0,
        elements.replace("broken\n", "")
    );
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#;
    assert_eq!(read(&format!("{body}\n{body}\n"), &mut report).len(), 2);
    assert_eq!(read(&format!("[{body},{body}]"), &mut report).len(), 2);
}

#[test]
fn deep_and_large_input_takes_linear_time() {
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    for (api, text) in [
        (
            Api::Anthropic,
            format!(
                r#"[{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"f","input":{{"a":{deep}}}}},{{"type":"text","text":"x","y":{deep}}}]}}]"#
            ),
        ),
        (
            Api::Gemini,
            format!(
                r#"[{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{{"a":{deep}}}}}}},{{"b":{deep}}}]}}]"#
            ),
        ),
        (
            Api::OpenaiResponses,
            format!(r#"[{{"type":"odd_call","call_id":"c","action":{deep}}},{{"type":"x","y":{deep}}}]"#),
        ),
    ] {
        let session = read(api, &text);
        same(&printed(api, &session, WritePurpose::Return).0, &text);
    }
    // Everything in one element, and each part in its own element.
    let many = 5_000;
    let block = r#"{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t","content":"r"}"#;
    let text = format!(
        r#"[{{"role":"user","content":[{}]}}]"#,
        vec![block; many].join(",")
    );
    same(
        &printed(Api::Anthropic, &read(Api::Anthropic, &text), WritePurpose::Return).0,
        &text,
    );
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f"}}]}"#;
    let text = format!("[{}]", vec![call; many].join(","));
    let session = read(Api::Gemini, &text);
    same(&printed(Api::Gemini, &session, WritePurpose::Return).0, &text);
    for api in Api::ALL {
        let request = request(api, &session).0;
        assert!(json::elements(&json::array(raws(&request)), Dialect::Strict).is_some());
    }
}
