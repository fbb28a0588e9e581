//! Writes the messages that Penguin would send to a model: system messages, context, then all others by time.

use super::super::{WritePurpose, WriteTarget, report::Loss, report::Report, written};
use super::element::Elements;
use super::member::{is_words, non_null, values};
use super::native_metadata::in_order;
use crate::error::Result;
use crate::model::json::{self, Dialect, ObjectBuilder, quoted};
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashMap;

/// Deeper values are written unchanged.
const DEEPEST: usize = 64;

/// Tool names and result status by call id, from the session's records.
#[derive(Default)]
struct ContextRecords {
    names: HashMap<String, Vec<u8>>,
    status: HashMap<String, Vec<u8>>,
}

impl ContextRecords {
    fn of(session: &Session) -> ContextRecords {
        let own = session.metadata("penguin");
        let of = |list: &str, member: &str| {
            let records = own.as_deref().and_then(|own| json::member(own, list));
            let records = records.and_then(|raw| json::elements(raw, Dialect::Python));
            let each = records.unwrap_or_default().into_iter().filter_map(|record| {
                let [id, value] = values(record, ["call_id", member]);
                let value = value.filter(|raw| is_words(raw))?;
                Some((json::text(id?)?.into_owned(), value.to_vec()))
            });
            // Later members of the same call take precedence.
            each.collect()
        };
        ContextRecords {
            names: of("tool_call_records", "name"),
            status: of("tool_result_records", "status"),
        }
    }
}

/// Writes the view as the messages that Penguin would send, one per line.
pub fn write_context(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if purpose == WritePurpose::Export {
        report.count_line_losses(session);
    }
    let records = ContextRecords::of(session);
    let mut quiet = Report::default();
    let mut elements = Elements::new(None, None, &mut quiet);
    let (mut rules, mut context, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = String::new();
    for item in &view.items {
        let Some(element) = elements.item(session, item) else {
            continue;
        };
        if purpose == WritePurpose::Export {
            for loss in [Loss::Id, Loss::Timestamp, Loss::Metadata] {
                report.count_loss(loss, 1);
            }
        }
        let [category, time] = values(&element, ["category", "timestamp"]);
        let source = item.message(session).as_ref().and_then(super::time_text);
        if let Some(time) = source.or_else(|| time.and_then(json::text).map(Into::into)) {
            last = time;
        }
        let line = json::compact(&message(&element, &records)).0;
        match category {
            Some(br#""SYSTEM""#) => rules.push(line),
            Some(br#""CONTEXT""#) => context.push(line),
            _ => rest.push((last.clone(), line)),
        }
    }
    // Sort by the text of the time, as Penguin does; equal times keep log order.
    rest.sort_by(|one, other| one.0.cmp(&other.0));
    let rest = rest.into_iter().map(|(_, line)| line);
    written(out.write_all(b"["))?;
    for (nth, line) in rules.into_iter().chain(context).chain(rest).enumerate() {
        written(out.write_all(if nth == 0 { b"\n" } else { b",\n" }))?;
        written(out.write_all(&line))?;
    }
    written(out.write_all(b"\n]\n"))
}

/// A message in the form that a model receives.
fn message(element: &[u8], records: &ContextRecords) -> Vec<u8> {
    let [role, content, category, metadata] = values(element, ["role", "content", "category", "metadata"]);
    let content = content.unwrap_or(b"null");
    let [calls, call_id, action, arguments, status, source] = values(
        metadata.unwrap_or_default(),
        [
            "tool_calls", "tool_call_id", "action_type", "tool_arguments", "status", "source",
        ],
    );
    let mut built = ObjectBuilder::default();
    built.raw("role", role.unwrap_or(b"\"user\""));
    if role == Some(br#""tool""#) {
        let id = call_id.and_then(json::text).unwrap_or_default();
        built.optional("tool_call_id", call_id);
        built.raw("content", content);
        let known = |own: Option<&[u8]>, records: &HashMap<String, Vec<u8>>| {
            let own = own.filter(|raw| is_words(raw)).map(<[u8]>::to_vec);
            own.or_else(|| records.get(id.as_ref()).cloned())
        };
        built.optional("name", known(action, &records.names));
        if let Some(arguments) = non_null(arguments) {
            built.raw("tool_arguments", as_text(arguments));
        }
        built.optional("status", known(status, &records.status));
        return built.finish();
    }
    match (source.and_then(json::text), json::text(content)) {
        (Some(source), Some(text)) if category == Some(br#""CONTEXT""#) && !source.trim().is_empty() => {
            let source = escaped(source.trim());
            built.text(
                "content",
                &format!("<context source=\"{source}\">\n{text}\n</context>"),
            )
        }
        _ => built.raw("content", content),
    };
    if let (Some(br#""assistant""#), Some(calls)) = (role, calls) {
        built.raw("tool_calls", calls);
    }
    built.finish()
}

/// Escapes a text for an attribute of a tag.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            other => out.push(other),
        }
    }
    out
}

/// Arguments as JSON text with sorted members. A string is used unchanged, or replaced by an empty object if blank.
fn as_text(arguments: &[u8]) -> Vec<u8> {
    if json::text(arguments).is_some() {
        return match is_words(arguments) {
            true => arguments.to_vec(),
            false => b"\"{}\"".to_vec(),
        };
    }
    let mut text = Vec::new();
    push_sorted(&mut text, arguments, 0);
    quoted(&String::from_utf8_lossy(&text))
}

/// Appends a value as Python's `json.dumps(sort_keys=True)` encodes it.
fn push_sorted(out: &mut Vec<u8>, value: &[u8], depth: usize) {
    if depth == DEEPEST {
        return out.extend_from_slice(&json::compact(value).0);
    }
    let close = match value.first() {
        Some(b'{') => Some(b'}'),
        Some(b'[') => Some(b']'),
        _ => None,
    };
    let Some(close) = close else {
        return super::serialize::push(out, value, 0);
    };
    out.push(value[0]);
    let mut first = true;
    let mut separate = |out: &mut Vec<u8>| {
        if !std::mem::take(&mut first) {
            out.extend_from_slice(b", ");
        }
    };
    if close == b'}' {
        let mut members = in_order(value).unwrap_or_default();
        members.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, value) in members {
            separate(out);
            super::serialize::push(out, &quoted(&name), 0);
            out.extend_from_slice(b": ");
            push_sorted(out, value, depth + 1);
        }
    } else {
        for element in json::elements(value, Dialect::Python).unwrap_or_default() {
            separate(out);
            push_sorted(out, element, depth + 1);
        }
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(element: &str) -> String {
        String::from_utf8(message(element.as_bytes(), &ContextRecords::default())).unwrap()
    }

    #[test]
    fn a_source_is_escaped_once_and_blank_ones_omitted() {
        let element = |source: &str| {
            format!(
                r#"{{"role":"system","content":"a\nb","category":"CONTEXT","metadata":{{"source":"{source}"}}}}"#
            )
        };
        assert_eq!(
            of(&element(" a<'&amp; ")),
            r#"{"role":"system","content":"<context source=\"a&lt;&#x27;&amp;amp;\">\na\nb\n</context>"}"#
        );
        assert_eq!(of(&element(" ")), r#"{"role":"system","content":"a\nb"}"#);
        let parts = r#"{"role":"user","content":[1],"category":"CONTEXT","metadata":{"source":"a"}}"#;
        assert_eq!(of(parts), r#"{"role":"user","content":[1]}"#);
    }

    #[test]
    fn messages_other_than_rules_and_context_are_sorted_by_time() {
        let line = |text: &str, role: &str, category: &str, time: &str| {
            format!(r#"{{"role":"{role}","content":"{text}","category":"{category}","timestamp":"{time}"}}"#)
        };
        let mut session = Session::default();
        for body in [
            line("late", "user", "dialog", "2026-01-02T03:04:09Z"),
            line("early", "tool", "system_output", "2026-01-02T03:04:05Z"),
            line("background", "user", "context", "2026-01-02T03:04:10Z"),
            line("rules", "system", "system", "2026-01-02T03:04:11Z"),
            line("last", "user", "dialog", "2026-01-02T03:04:09Z"),
        ] {
            session.push_new(body.as_bytes());
        }
        let (mut out, mut report) = (Vec::new(), Report::default());
        let view = View::replay(&session);
        write_context(
            &session,
            &view,
            WriteTarget(WritePurpose::Context, &mut out, &mut report),
        )
        .unwrap();
        let all = json::elements(&out, Dialect::Strict).unwrap();
        let texts = all
            .iter()
            .map(|raw| json::text(json::member(raw, "content").unwrap()).unwrap());
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts, ["rules", "background", "early", "late", "last"]);
    }

    #[test]
    fn arguments_are_text() {
        let arguments = |raw: &str| {
            let element = format!(r#"{{"role":"tool","content":"x","metadata":{{"tool_arguments":{raw}}}}}"#);
            let text = of(&element);
            json::member(text.as_bytes(), "tool_arguments").map(|raw| json::text(raw).unwrap().into_owned())
        };
        assert_eq!(arguments("null"), None);
        assert_eq!(arguments("\" \"").as_deref(), Some("{}"));
        assert_eq!(arguments("\"ls\"").as_deref(), Some("ls"));
        assert_eq!(
            arguments(r#"{"b":[1,{"d":null,"c":"é"}],"a":{}}"#).as_deref(),
            Some(r#"{"a": {}, "b": [1, {"c": "\u00e9", "d": null}]}"#)
        );
        let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(arguments(&deep).is_some());
    }
}
