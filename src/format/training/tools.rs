//! Tool definitions recorded in a session.

use crate::format::request;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::session::Session;

/// The definitions in OpenAI Chat form, in order.
pub fn definitions(session: &Session) -> Vec<Vec<u8>> {
    let own = session.metadata("tools");
    let sent = || {
        let members = request::members(session)?;
        json::member(&members, "tools").map(<[u8]>::to_vec)
    };
    let Some(raw) = own.or_else(sent) else {
        return Vec::new();
    };
    // Training sets store the definitions in a string.
    let text = json::text(&raw).map(|text| text.into_owned().into_bytes());
    let raw = text.unwrap_or(raw);
    let tools = json::items(raw.as_slice());
    tools.into_iter().flat_map(definition).collect()
}

/// Converts a definition of any API; an element of Gemini has several.
fn definition(raw: &[u8]) -> Vec<Vec<u8>> {
    if json::member(raw, "function").is_some() {
        return vec![raw.to_vec()];
    }
    let declared = ["functionDeclarations", "function_declarations"];
    let declared = declared.iter().find_map(|name| json::member(raw, name));
    if let Some(list) = declared.and_then(|list| json::elements(list, Dialect::Strict)) {
        return list.into_iter().filter_map(function).collect();
    }
    function(raw).into_iter().collect()
}

fn function(raw: &[u8]) -> Option<Vec<u8>> {
    let mut function = ObjectBuilder::default();
    function.raw("name", json::member(raw, "name")?);
    let schema = [
        "parameters", "input_schema", "inputSchema", "parametersJsonSchema",
    ];
    let schema = schema.iter().find_map(|name| json::member(raw, name));
    for (name, value) in [
        ("description", json::member(raw, "description")),
        ("parameters", schema),
        ("strict", json::member(raw, "strict")),
    ] {
        value.map(|value| function.raw(name, value));
    }
    let mut tool = ObjectBuilder::default();
    tool.text("type", "function").raw("function", function.finish());
    Some(tool.finish())
}

/// Whether the requests of the session allowed parallel calls, if that is recorded.
pub fn parallel(session: &Session) -> Option<bool> {
    let members = request::members(session)?;
    match json::member(&members, "parallel_tool_calls")? {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}
