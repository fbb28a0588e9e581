//! Tests of pages with Markdown parsers.

use crate::format::report::{Loss, Report};
use crate::format::{Format, WritePurpose, WriteTarget};
use crate::model::session::Session;
use crate::model::view::View;
use proptest::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::json;

fn session(lines: &[serde_json::Value]) -> Session {
    let mut session = Session::default();
    lines
        .iter()
        .for_each(|line| session.push_new(line.to_string().as_bytes()));
    session
}

fn page(session: &Session) -> (String, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let write = Format::Markdown.spec().write.unwrap();
    let view = View::replay(session);
    write(
        session,
        &view,
        WriteTarget(WritePurpose::Export, &mut out, &mut report),
    )
    .unwrap();
    (String::from_utf8(out).unwrap(), report)
}

/// The parsed content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Texts of the headings of both levels that a page has.
    headings: Vec<String>,
    /// Top-level code blocks.
    codes: Vec<String>,
    tags: Vec<String>,
}

fn seen(page: &str) -> Seen {
    let mut seen = Seen::default();
    let (mut heading, mut code) = (None::<String>, None::<String>);
    for event in Parser::new_ext(page, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H2 => {
                heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(_)) => seen.headings.extend(heading.take()),
            Event::Start(Tag::CodeBlock(_)) => code = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => seen.codes.extend(code.take()),
            Event::Text(text) | Event::Code(text) => {
                for open in [&mut heading, &mut code].into_iter().flatten() {
                    open.push_str(&text);
                }
            }
            Event::Html(tag) | Event::InlineHtml(tag) => seen.tags.push(tag.trim().to_string()),
            _ => {}
        }
    }
    seen
}

#[test]
fn a_session_is_a_page() {
    let built = session(&[
        json!({"type":"session","version":1,"id":"trip","title":"A *trip* to <b>","created_at":"2026-11-01T10:00:00Z"}),
        json!({"role":"system","content":"Be terse."}),
        json!({"role":"user","name":"ann","timestamp":"2026-11-01T10:00:01Z","content":[
            {"type":"text","text":"# Look\n\n```rust\nlet a: Vec<T>;\n```\nat `Vec<T>` and <T>"},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},
            {"type":"file","file":{"file_id":"file-1"}},
            {"type":"odd","x":"```"}]}),
        json!({"role":"assistant","content":"Well.","model":"m","id":"a1",
            "reasoning":[{"type":"thinking","text":"hm </details>","signature":"c2ln"},{"type":"redacted_thinking","data":"zz"}],
            "tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"```\"}"}}]}),
        json!({"role":"tool","tool_call_id":"c1","content":"````\n## user\n````","metadata":{"is_error":true}}),
    ]);
    let (page, report) = page(&built);
    insta::assert_snapshot!(page);
    let seen = seen(&page);
    assert_eq!(
        seen.headings,
        [
            "A *trip* to <b>", "system", "user ann", "Look", "assistant", "tool weather (failed)"
        ]
    );
    assert_eq!(seen.codes[0], "let a: Vec<T>;\n");
    assert_eq!(seen.codes[1], "{\"type\":\"odd\",\"x\":\"```\"}\n");
    assert_eq!(seen.codes[2], "{\"city\":\"```\"}\n");
    assert_eq!(seen.codes[3], "````\n## user\n````\n");
    assert_eq!(
        seen.tags,
        ["<details>", "<summary>thinking</summary>", "</details>"]
    );
    let reported: Vec<_> = report.losses.into_iter().collect();
    let expected = [
        (Loss::Id, 1),
        (Loss::Reasoning, 1),
        (Loss::Signature, 2),
        (Loss::Attachment, 1),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn long_results_are_folded() {
    let lines: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
    let built = session(&[
        json!({"type":"session","version":1,"id":"a"}),
        json!({"role":"tool","tool_call_id":"c","content":lines.join("\n")}),
    ]);
    let (page, _) = page(&built);
    assert!(page.contains("<summary>40 lines</summary>"), "{page}");
    assert_eq!(seen(&page).codes[0].lines().count(), 40);
}

/// Some renderers treat the text between two such lines as metadata, including headings of messages.
#[test]
fn text_like_metadata_hides_no_heading() {
    let built = session(&[
        json!({"type":"session","version":1,"id":"a"}),
        json!({"role":"user","content":"---\nuser"}),
        json!({"role":"user","content":"---"}),
        json!({"role":"assistant","content":"one\n\n---\n\ntwo"}),
    ]);
    let (page, _) = page(&built);
    assert_eq!(seen(&page).headings, ["a", "user", "user", "assistant"], "{page}");
    // An ordinary thematic break is unchanged.
    assert!(page.contains("one\n\n---\n\ntwo"), "{page}");
}

/// Lines that try to break out of their position.
fn line() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "```", "````", "~~~", "  ```", "    ```", "- ```", "> ```", "1. ```js", "## user", "# assistant",
        "  ## **user**", "user", "---", "===", "<!-- x", "<details>", "</details>", "<pre>", "<script>",
        "<?php", "<![CDATA[", "`<div>`", "`<", "a ` <b> ` c", "\\<b>", "\\\\<b>", "", "", "- item",
        "  - item", "    code <b>", "\t```", "1. one", "   two", "> quote", "| a | b |", "[x]: <y", "a\rb",
        "``` x ` y", "*", "plain text", "\\`<b>`", "[^1]: note", "    ", "$$", "x $ y",
    ]);
    (nasty, prop::sample::select(vec!["", "", "", " ", "- ", "> "]))
        .prop_map(|(line, lead)| format!("{lead}{line}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_changes_the_page_structure(
        texts in prop::collection::vec(prop::collection::vec(line(), 0..7), 1..5),
        roles in prop::collection::vec(0..4usize, 5),
    ) {
        let mut lines = vec![json!({"type":"session","version":1,"id":"page"})];
        let mut expected = vec!["page".to_string()];
        let mut tags = 0;
        for (nth, text) in texts.iter().enumerate() {
            let text = text.join("\n");
            lines.push(match roles[nth] {
                0 => json!({"role":"user","content":text}),
                1 => json!({"role":"assistant","content":"ok","reasoning":[{"type":"thinking","text":text}]}),
                2 => json!({"role":"tool","tool_call_id":"c","content":text}),
                _ => json!({"role":"assistant","content":null,"tool_calls":[{"id":"`","type":"function","function":{"name":text,"arguments":text}}]}),
            });
            tags += if roles[nth] == 1 && !text.trim().is_empty() { 3 } else { 0 };
            expected.push(["user", "assistant", "tool", "assistant"][roles[nth]].to_string());
        }
        let (page, _) = page(&session(&lines));
        let seen = seen(&page);
        prop_assert_eq!(seen.tags.len(), tags, "{}\n{:?}", page, seen);
        // A text may have headings with other words.
        let speaks = |heading: &&String| {
            let first = heading.split_whitespace().next().unwrap_or_default().to_lowercase();
            expected.contains(&first)
        };
        let found: Vec<_> = seen.headings.iter().filter(speaks).cloned().collect();
        let first = |heading: &String| heading.split_whitespace().next().unwrap_or_default().to_string();
        prop_assert_eq!(found.iter().map(first).collect::<Vec<_>>(), expected, "{}", page);
    }
}
