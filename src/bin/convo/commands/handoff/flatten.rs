//! Converts reasoning, calls and results to text, for programs that resume only text.

use serde_json::{Value, json};

/// Converts messages. Images and files of results go to a message of the user, which may contain them.
pub fn flattened(messages: Vec<Value>) -> Vec<Value> {
    let mut flat: Vec<Value> = Vec::new();
    for mut message in messages {
        let Some(members) = message.as_object_mut() else {
            continue;
        };
        let own = parts(members.get("content"));
        if members.get("role").is_some_and(|role| role == "tool") {
            let (texts, others): (Vec<Value>, Vec<Value>) = own.into_iter().partition(is_text);
            let text = plain(&texts);
            members.remove("tool_call_id");
            members.remove("name");
            let metadata = members.remove("metadata").unwrap_or_default();
            let has_failed = ["is_error", "denied"].iter().any(|name| metadata[name] == true);
            let head = if has_failed {
                "[result, failed]"
            } else {
                "[result]"
            };
            let result = format!("{head}\n{text}");
            match flat.last_mut().filter(|last| last["role"] == "assistant") {
                Some(last) => {
                    let mut content = parts(last.get("content"));
                    append(&mut content, &result);
                    last["content"] = written(content);
                }
                None => {
                    members.insert("role".to_string(), json!("assistant"));
                    members.insert("content".to_string(), json!(result));
                    flat.push(Value::Object(members.clone()));
                    members.remove("id");
                }
            }
            if !others.is_empty() {
                members.insert("role".to_string(), json!("user"));
                members.insert("content".to_string(), json!(others));
                flat.push(message);
            }
            continue;
        }
        let reasoning = members.remove("reasoning");
        let calls = members.remove("tool_calls");
        if reasoning.is_some() || calls.is_some() {
            let mut content = Vec::new();
            for part in elements(reasoning.as_ref()) {
                if let Some(reasoning) = part["text"].as_str() {
                    append(&mut content, &format!("[reasoning]\n{reasoning}"));
                }
            }
            for parts in own.chunk_by(|one, other| is_text(one) && is_text(other)) {
                match is_text(&parts[0]) {
                    true => append(&mut content, &plain(parts)),
                    false => content.extend_from_slice(parts),
                }
            }
            for call in elements(calls.as_ref()) {
                let function = &call["function"];
                let name = function["name"].as_str().unwrap_or_default();
                let arguments = function["arguments"].as_str().unwrap_or_default();
                append(&mut content, &format!("[call] {name} {arguments}"));
            }
            members.insert("content".to_string(), written(content));
        }
        flat.push(message);
    }
    flat
}

fn elements(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

/// Returns the parts of a message content.
fn parts(content: Option<&Value>) -> Vec<Value> {
    match content {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![text_part(text)],
        other => elements(other).cloned().collect(),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn is_text(part: &Value) -> bool {
    part["text"].is_string()
}

/// Returns the text of parts.
fn plain(parts: &[Value]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

/// Appends a paragraph to the last text.
fn append(content: &mut Vec<Value>, text: &str) {
    match content.last_mut().filter(|last| is_text(last)) {
        _ if text.is_empty() => {}
        Some(last) => *last = text_part(&format!("{}\n\n{text}", plain(std::slice::from_ref(last)))),
        None => content.push(text_part(text)),
    }
}

/// Returns a message content with these parts; a string if it is only text.
fn written(content: Vec<Value>) -> Value {
    match content.iter().all(is_text) {
        true => json!(plain(&content)),
        false => Value::Array(content),
    }
}
