//! Converts the members of a Penguin session other than its messages to a header.

use super::super::native::{self, HeaderBuilder};
use super::super::{DocumentSource, Format};
use super::member::{is_words, non_null, values, without};
use super::merge::DocumentMerge;
use super::message::PenguinMessages;
use super::native_metadata::{self, MEMBER, PreservedMembers};
use super::totals::DocumentTotals;
use crate::error::Position;
use crate::model::json::{self, ObjectBuilder};
use crate::model::{key, time};
use std::borrow::Cow;

/// The record lists of a session.
pub(super) const RECORDS: [&str; 3] = [
    "llm_request_lifecycles", "tool_call_records", "tool_result_records",
];
const HEADER_MEMBERS: [&str; 4] = ["id", "created_at", "last_active", "metadata"];

/// Header members that are never stored in `convo`, or have an equivalent.
const OUR_OWN: [&str; 10] = [
    "type", "version", "id", "key", "created_at", "title", "continued_from", "continuation_index", "source",
    "metadata",
];

/// File extensions of a session and its backups.
const ENDINGS: [&str; 3] = [".json", ".json.bak", ".json.temp"];

/// File name prefix of sessions in the older format.
pub(super) const OLDER_NAME: &str = "conversation_";

/// The file name without its session extension.
fn stem(name: &str) -> &str {
    ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
}

/// Whether the file name is that of the older format.
pub(super) fn has_older_name(source: &DocumentSource<'_>) -> bool {
    source.name.is_some_and(|name| name.starts_with(OLDER_NAME))
}

/// Whether a document has the older format: a bare list, or an object with id and times in its metadata.
pub(super) fn is_older(head: &[u8], is_list: bool, source: &DocumentSource<'_>) -> bool {
    if is_list {
        return true;
    }
    let [id, created, active, metadata] = values(head, HEADER_MEMBERS);
    let [inner] = values(metadata.unwrap_or_default(), ["session_id"]);
    id.or(created).or(active).is_none() && (inner.is_some_and(is_words) || has_older_name(source))
}

/// The header line.
pub(super) fn header(
    merge: &DocumentMerge<'_>,
    source: &DocumentSource<'_>,
    reader: &mut PenguinMessages<'_>,
) -> Vec<u8> {
    let place = merge.start;
    let (head, numbers) = reader.clean(&merge.head, place);
    let [mut id, mut created, mut active, metadata] = values(&head, HEADER_MEMBERS);
    let inner = metadata.unwrap_or_default();
    let own = PreservedMembers::of(inner);
    let mut taken = Vec::new();
    if reader.older {
        // There, these members are in the metadata.
        let names = ["session_id", "created_at", "last_active"];
        [id, created, active] = values(inner, names);
        taken.extend(names);
    }
    let mut kept = ObjectBuilder::default();
    let mut built = HeaderBuilder::default();

    let own_id = id.filter(|raw| is_words(raw)).and_then(json::text);
    kept.optional(
        "id",
        non_null(id).filter(|_| own_id.as_ref().is_none_or(|id| was_changed(id))),
    );
    let key = identity(own_id, source, reader, place);
    let id = if key::is_id(&key) {
        key.clone()
    } else {
        key::id_for_key(&key)
    };

    if own.get("created_at").is_some() {
        if let Some(raw) = own.or("created_at", None) {
            built.raw("created_at", raw.to_vec());
        }
    } else if let Some(raw) = non_null(created) {
        match reader.time(raw, "created_at", place) {
            Some(time) => {
                built.text("created_at", Some(&time));
            }
            None => {
                kept.raw("created_at", raw);
            }
        }
    }
    if let Some(raw) = non_null(active) {
        reader.time(raw, "last_active", place);
        kept.raw("last_active", raw);
    }
    let [title, continued, index] = values(inner, ["title", "continued_from", "continuation_index"]);
    let text = |raw: Option<&[u8]>| {
        raw.filter(|raw| is_words(raw))
            .and_then(json::text)
            .map(Cow::into_owned)
    };
    let (title, continued) = (text(title), text(continued));
    let index = index.filter(|raw| raw.iter().all(u8::is_ascii_digit));
    for (name, value) in [("title", &title), ("continued_from", &continued)] {
        if value.as_ref().is_some_and(|text| !was_changed(text)) {
            taken.push(name);
        }
    }
    built.text("title", title.as_deref());
    match own.get("key") {
        Some(raw) => built.raw("key", raw.to_vec()),
        None => built.text("key", (key != id).then_some(key.as_str())),
    };
    built.text("continued_from", continued.as_deref());
    if let Some(raw) = index {
        built.raw("continuation_index", raw.to_vec());
        taken.push("continuation_index");
    }
    let mut whence = native::source_member(Format::Penguin, source, &merge.used);
    if let Some(salvaged) = merge.salvaged().filter(|_| source.name.is_some()) {
        // Always an object, because it was just created.
        whence = json::with_members(&whence, &[("salvaged", Some(&salvaged))]).unwrap_or(whence);
    }
    built.raw("source", whence);

    if let Some(raw) = metadata {
        taken.extend((!own.is_empty()).then_some(MEMBER));
        reader.keep_metadata(raw, &taken, &mut kept, place);
        kept.optional(
            "places",
            native_metadata::member_positions(raw, &taken).filter(|_| !reader.older),
        );
    }
    for (name, value) in RECORDS.into_iter().zip(values(&head, RECORDS)) {
        kept.optional(name, non_null(value).filter(|raw| *raw != b"[]"));
    }
    let mut known: Vec<&str> = RECORDS.to_vec();
    // In the older format, these names have no meaning outside of the metadata.
    known.extend(if reader.older {
        &HEADER_MEMBERS[3..]
    } else {
        &HEADER_MEMBERS[..]
    });
    kept.optional("members", without(&head, &known));
    if !reader.older && is_stale(inner, active, &reader.sums) {
        kept.raw("as_read", reader.sums.noted());
    }
    kept.optional("numbers", numbers);
    if let Some(metadata) = own.metadata((!kept.is_empty()).then(|| kept.finish())) {
        built.raw("metadata", metadata);
    }
    let line = built.finish(&id);
    let others: Vec<_> = own
        .others(&OUR_OWN)
        .map(|(name, raw)| (name, Some(raw)))
        .collect();
    json::with_members(&line, &others).unwrap_or(line)
}

/// Whether the totals in the document are wrong, e.g. because messages were added while it was written.
fn is_stale(metadata: &[u8], active: Option<&[u8]>, sums: &DocumentTotals) -> bool {
    let [messages, tokens] = values(metadata, ["message_count", "token_count"]);
    let differs =
        |stated: Option<&[u8]>, is: u64| stated.is_some_and(|stated| stated != is.to_string().as_bytes());
    let active = active.and_then(json::text).and_then(|text| time::read(&text));
    let active = active.and_then(|reading| time::moment(&reading.time));
    differs(messages, sums.messages)
        || differs(tokens, sums.tokens)
        || (active.is_some() && sums.newest > active)
}

/// Whether decoding a string lost data, such as a lone surrogate, so that the original has to be kept.
fn was_changed(text: &str) -> bool {
    text.contains(char::REPLACEMENT_CHARACTER)
}

/// The session's own id, else its file name, else (for a pipe) a hash of its bytes.
fn identity(
    own: Option<Cow<'_, str>>,
    source: &DocumentSource<'_>,
    reader: &mut PenguinMessages<'_>,
    place: Position,
) -> String {
    let file = source.name.map(stem).filter(|stem| !stem.is_empty());
    match (own, file) {
        (Some(id), Some(file)) => {
            if !reader.older && id != file {
                reader
                    .report
                    .damage(place, format!("the id '{id}' differs from the file name"));
            }
            id.into_owned()
        }
        (Some(id), None) => id.into_owned(),
        (None, Some(file)) if reader.older => older_key(file),
        (None, Some(file)) => {
            reader.report.damage(place, "no id; using the file name");
            file.to_string()
        }
        (None, None) => {
            reader.report.damage(place, "no id; derived from the document");
            key::id_from("session_", source.bytes)
        }
    }
}

/// The key of a session of the older format without an id: its file name without extension.
fn older_key(file: &str) -> String {
    let bare = file.strip_prefix(OLDER_NAME).unwrap_or(file);
    if bare.starts_with("session_") {
        bare.to_string()
    } else {
        format!("session_{bare}")
    }
}

/// The key of a session of which only the file name is known.
pub(super) fn file_key(name: &str) -> String {
    match stem(name) {
        file if file.starts_with(OLDER_NAME) => older_key(file),
        file => file.to_string(),
    }
}
