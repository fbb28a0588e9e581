//! The stored parts of a message: text as is, everything else as JSON, in which large texts and attachments are
//! references.

use super::super::database::{self, Database};
use super::super::session_lines::{NOWHERE, object};
use super::attachment;
use convo::error::Result;
use convo::format::report::Report;
use convo::model::json::{self, Dialect, ObjectBuilder, quoted};

/// A part with its references resolved.
pub struct ResolvedPart {
    /// Its type.
    pub kind: String,
    /// Its text, if any.
    pub text: Option<String>,
    /// Its other members: an object.
    pub members: Vec<u8>,
    /// Its attachments as content parts.
    pub attached: Vec<Vec<u8>>,
}

/// Reads the parts of a message.
pub fn parts(database: &Database, hash: &str, report: &mut Report) -> Result<Vec<ResolvedPart>> {
    let (from, key) = database.by("parts", "message_hash")?;
    let query =
        format!("SELECT t.type, t.text, t.payload FROM {from} WHERE {key} = ?1 ORDER BY t.position, t.id");
    let rows = database.all(&query, &[hash], |row| {
        let text = database::text(row, 1)?;
        Ok((
            database::text(row, 0)?.unwrap_or_default(),
            text,
            database::bytes(row, 2)?,
        ))
    })?;
    let mut parts = Vec::new();
    for (kind, text, payload) in rows {
        let payload = payload.filter(|payload| !payload.is_empty());
        let members = payload.as_deref().and_then(object);
        if let (Some(_), None) = (&payload, &members) {
            let what = format!("additional data of a part of {hash} is not a JSON object; skipped");
            report.damage(NOWHERE, what);
        }
        let members = members.unwrap_or_else(|| b"{}".to_vec());
        let (text, members) = resolved(database, text, members, hash, report)?;
        let (attached, members) = attached(database, &kind, members, report)?;
        parts.push(ResolvedPart {
            kind,
            text,
            members,
            attached,
        });
    }
    Ok(parts)
}

/// Returns the text, assembled from fragments if it refers to any.
fn resolved(
    database: &Database,
    text: Option<String>,
    members: Vec<u8>,
    hash: &str,
    report: &mut Report,
) -> Result<(Option<String>, Vec<u8>)> {
    let pieces = json::member(&members, "text_ref").and_then(|raw| json::elements(raw, Dialect::Strict));
    let Some(pieces) = pieces else {
        return Ok((text, members));
    };
    let mut whole = text.unwrap_or_default();
    for piece in pieces {
        if let Some(literal) = json::member_text(piece, "literal") {
            whole.push_str(&literal);
            continue;
        }
        let id = String::from_utf8_lossy(json::member(piece, "fragment").unwrap_or_default()).into_owned();
        let query = "SELECT content FROM fragments WHERE id = CAST(?1 AS INTEGER)";
        match database
            .first(query, &[&id], |row| database::text(row, 0))?
            .flatten()
        {
            Some(content) => whole.push_str(&content),
            None => {
                let what = format!("a text of {hash} refers to the missing fragment {id}");
                report.damage(NOWHERE, what);
            }
        }
    }
    let rest = without(&members, "text_ref");
    Ok((Some(whole), rest))
}

/// Reads the attachments of a part.
fn attached(
    database: &Database,
    kind: &str,
    members: Vec<u8>,
    report: &mut Report,
) -> Result<(Vec<Vec<u8>>, Vec<u8>)> {
    let (name, listed) = match kind {
        "attachment" => (
            "attachment",
            json::member(&members, "attachment").map(|one| vec![one]),
        ),
        "tool_result" => (
            "attachments",
            json::member(&members, "attachments").and_then(|raw| json::elements(raw, Dialect::Strict)),
        ),
        _ => return Ok((Vec::new(), members)),
    };
    let mut found = Vec::new();
    for one in listed.unwrap_or_default() {
        let id = json::member_text(one, "id");
        let row = match &id {
            Some(id) => attachment::find(database, id)?,
            None => None,
        };
        found.push(attachment::part(row.as_ref(), report));
    }
    let rest = without(&members, name);
    Ok((found, rest))
}

/// Returns an object without one of its members.
pub fn without(object: &[u8], name: &str) -> Vec<u8> {
    json::with_members(object, &[(name, None)]).unwrap_or_else(|_| object.to_vec())
}

/// Whether an object has members.
pub fn is_filled(object: &[u8]) -> bool {
    json::members(object, Dialect::Strict).is_some_and(|members| !members.is_empty())
}

/// Returns an object without the known members.
pub fn extra_members(object: &[u8], known: &[&str]) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    for (name, value) in json::members(object, Dialect::Strict).unwrap_or_default() {
        if !known.contains(&name.as_ref()) {
            built.raw(&name, value);
        }
    }
    built.finish()
}

/// Encodes a content part with this type, text, and other members.
pub fn encode_part(kind: &str, text: Option<&str>, members: &[u8]) -> Vec<u8> {
    let mut part = ObjectBuilder::default();
    part.text("type", kind);
    if let Some(text) = text {
        part.raw("text", quoted(text));
    }
    for (name, value) in json::members(members, Dialect::Strict).unwrap_or_default() {
        part.raw(&name, value);
    }
    part.finish()
}

/// Converts reasoning. A signature that the provider requires in later requests is encoded as in its API.
pub fn reasoning_part(text: Option<&str>, members: &[u8]) -> Vec<u8> {
    let metadata = json::member(members, "provider_metadata");
    let by_anthropic = metadata.and_then(|metadata| json::member(metadata, "anthropic"));
    if let Some(signature) = by_anthropic.and_then(|own| json::member(own, "signature")) {
        let mut part = ObjectBuilder::default();
        part.text("type", "thinking")
            .raw("thinking", quoted(text.unwrap_or_default()))
            .raw("signature", signature);
        return part.finish();
    }
    let providers = metadata.and_then(|metadata| json::members(metadata, Dialect::Strict));
    let mut part = ObjectBuilder::default();
    part.text("type", "thinking")
        .raw("text", quoted(text.unwrap_or_default()));
    for (_, own) in providers.unwrap_or_default() {
        for name in ["signature", "encrypted_content", "thoughtSignature"] {
            if let Some(value) = json::member(own, name) {
                part.raw(name, value);
            }
        }
    }
    for (name, value) in json::members(members, Dialect::Strict).unwrap_or_default() {
        part.raw(&name, value);
    }
    part.finish()
}
