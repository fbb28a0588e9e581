//! The JSON schema of a record. Like the readers, it requires the members they rely on, and accepts unknown members,
//! roles and types.

use convo::model::event::VERSION;
use convo::model::message::Category;
use convo::model::retention::{Overflow, RetentionStrategy};
use serde_json::{Value, json};

/// Returns the schema as a file.
pub fn text() -> String {
    format!("{:#}\n", schema())
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:convo:record:1",
        "title": "A line of a convo record stream",
        "description": "A message has a role; an event has a type and no role. Unknown members and types are kept. See convo-format(5).",
        "type": "object",
        "if": {"required": ["role"]},
        "then": {"$ref": "#/$defs/message"},
        "else": {"$ref": "#/$defs/event"},
        "$defs": {
            "message": message(),
            "tool_call": tool_call(),
            "event": event(),
            "time": {"type": "string", "description": "RFC 3339 with an offset"},
            "id": {"type": "string", "minLength": 1},
            "span": {
                "description": "A message id, an id with the number of the message, or the first and last id of a range",
                "anyOf": [{"$ref": "#/$defs/id"}, {"$ref": "#/$defs/range"}, {
                    "type": "array", "prefixItems": [{"$ref": "#/$defs/id"}, {"type": "integer", "minimum": 1}],
                    "minItems": 2, "maxItems": 2,
                }],
            },
            "range": {"type": "array", "items": {"$ref": "#/$defs/id"}, "minItems": 2, "maxItems": 2},
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
        },
    })
}

fn message() -> Value {
    json!({
        "description": "A message",
        "type": "object",
        "required": ["role"],
        "properties": {
            "role": {"type": "string", "examples": ["system", "developer", "user", "assistant", "tool"]},
            "content": {
                "anyOf": [
                    {"type": ["string", "null"]},
                    {"type": "array", "items": {
                        "type": "object",
                        "properties": {"type": {"type": "string"}, "text": {"type": "string"}},
                    }},
                ],
            },
            "tool_calls": {"type": ["array", "null"], "items": {"$ref": "#/$defs/tool_call"}},
            "tool_call_id": {"type": "string"},
            "name": {"type": "string"},
            "reasoning": {"type": "array", "items": {"type": "object"}},
            "id": {"$ref": "#/$defs/id"},
            "timestamp": {"$ref": "#/$defs/time"},
            "category": {"enum": Category::ALL.map(Category::name)},
            "tokens": {"type": "integer", "minimum": 0},
            "usage": {"type": "object"},
            "model": {"type": "string"},
            "metadata": {"type": "object"},
            "_crc": {"$ref": "#/$defs/checksum"},
        },
    })
}

fn tool_call() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "type": {"type": "string"},
            "function": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "arguments": {"type": "string", "description": "The text written by the model, JSON or not"},
                },
            },
        },
    })
}

fn event() -> Value {
    let of = |name: &str, required: &[&str], properties: Value| {
        json!({
            "if": {"properties": {"type": {"const": name}}},
            "then": {"required": required, "properties": properties},
        })
    };
    let id = json!({"$ref": "#/$defs/id"});
    let nth = json!({"type": "integer", "minimum": 1});
    let size = json!({"type": "object", "properties": {
        "messages": {"type": "integer", "minimum": 0}, "tokens": {"type": "integer", "minimum": 0},
    }});
    let id_or_null = json!({"anyOf": [{"$ref": "#/$defs/id"}, {"type": "null"}]});
    json!({
        "description": "An event",
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {"type": "string"},
            "id": id,
            "at": {"$ref": "#/$defs/time"},
            "_crc": {"$ref": "#/$defs/checksum"},
        },
        "allOf": [
            of("session", &["version", "id"], json!({
                "version": {"type": "integer", "minimum": 1, "maximum": VERSION},
                "created_at": {"$ref": "#/$defs/time"},
                "title": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "key": {"type": "string"},
                "scope": {},
                "continued_from": id,
                "continuation_index": {"type": "integer", "minimum": 0},
                "original_created_at": {"$ref": "#/$defs/time"},
                "source_tokens": {"type": "integer", "minimum": 0},
                "chain_tokens": {"type": "integer", "minimum": 0},
                "tokenizer": {"type": "string"},
                "memory": memory(),
                "max_messages": {"type": "integer", "minimum": 0},
                "source": {"type": "object"},
                "metadata": {"type": "object"},
            })),
            of("meta", &["id", "at"], json!({
                "set": {"type": "object"},
                "unset": {"type": "array", "items": {"type": "string"}},
                "by": {"type": "string"},
            })),
            of("truncate", &["id", "at", "before"], json!({
                "before": id_or_null,
                "nth": nth,
                "keep_system": {"type": "boolean", "default": true},
            })),
            of("compact", &["id", "at"], json!({
                "drop": {"type": "array", "items": {"$ref": "#/$defs/span"}},
                "edit": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {
                    "id": id, "nth": nth, "unset": {"type": "array", "items": {"type": "string"}},
                }}},
                "insert": {"type": "array", "items": {
                    "type": "object",
                    "required": ["message"],
                    "properties": {"before": id_or_null, "nth": nth, "message": {"$ref": "#/$defs/message"}},
                }},
                "summary": {"type": ["object", "null"], "required": ["content"], "properties": {
                    "before": id_or_null, "nth": nth, "content": {"type": "string"}, "covers": {"$ref": "#/$defs/range"},
                    "role": {"type": "string"},
                }},
                "strategy": {"type": "string"},
                "by": {"type": "string"},
                "tokenizer": {"type": "string"},
                "was": size,
                "now": size,
            })),
            of("summary", &["id", "at", "content"], json!({
                "content": {"type": "string"},
                "covers": {"$ref": "#/$defs/range"},
                "nth": {"type": "array", "items": nth, "minItems": 2, "maxItems": 2},
                "here": {"type": "boolean"},
                "copied_from": {"type": "string"},
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "by": {"type": "string"},
                "as": {"type": "string", "description": "Role of the summary message"},
                "tokenizer": {"type": "string"},
                "was": size,
                "now": size,
            })),
            of("attempt", &["id", "at", "of"], json!({
                "of": {"type": "string", "examples": ["summary"]},
                "failures": {"type": "integer", "minimum": 1},
                "health": {"enum": ["retry", "degraded"]},
                "next_attempt_at": {"$ref": "#/$defs/time"},
                "by": {"type": "string"},
                "why": {"type": "string"},
            })),
            of("note", &["id", "at", "text"], json!({"text": {"type": "string"}, "of": id})),
            of("conflict", &["id", "at", "of", "theirs"], json!({"of": id, "theirs": {"type": "object"}})),
            of("restore", &["id", "at", "of"], json!({"of": id, "by": {"type": "string"}})),
            of("link", &["id", "at"], json!({
                "continued_to": id,
                "aliases": {"type": "array", "items": {"type": "string"}},
                "promoted_to": id,
                "promoted_from": id,
                "alias": {"type": "string"},
            })),
            of("split", &["id", "at", "into"], json!({"into": {"type": "array", "items": id}})),
            of("gc", &["id", "at", "lines", "bytes"], json!({
                "lines": {"type": "integer", "minimum": 0},
                "bytes": {"type": "integer", "minimum": 0},
                "discarded": {"type": "boolean", "default": false},
                "destroyed": {"type": "array", "items": id},
            })),
            of("repair", &["id", "at"], json!({"_chain": {"$ref": "#/$defs/checksum"}})),
            of("redact", &["id", "at", "kinds", "lines"], json!({
                "kinds": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "lines": {"type": "integer", "minimum": 1},
            })),
            of("foreign", &["format", "raw"], json!({"format": {"type": "string"}})),
            of("packed", &["records"], json!({
                "id": {"type": "string"},
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "records": {"type": "array", "minItems": 1, "items": {"anyOf": [
                    {"type": "object"}, {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
                ]}},
            })),
        ],
    })
}

/// The schema of a retention policy.
fn memory() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    let seconds = json!({"type": "number", "minimum": 0});
    json!({"type": "object", "properties": {
        "strategy": {"enum": RetentionStrategy::ALL.map(RetentionStrategy::name)},
        "keep_last": count, "summary": count, "total": count,
        "overflow": {"enum": Overflow::ALL.map(Overflow::name)},
        "digests": {"type": "boolean"},
        "backlog": count, "retry_attempts": count, "backoff": seconds, "rest": seconds,
    }})
}
