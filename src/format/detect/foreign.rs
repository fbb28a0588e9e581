//! Formats that are recognized but not supported: they are rejected by name and never read as another format. A newly
//! supported format moves its entry to its own file.

use super::shape::ObjectShape;
use super::signature::Signature;

/// One entry per format, tested in order and before the supported formats.
pub(super) static KNOWN: &[Signature] = &[
    Signature {
        name: "deepseek-harness",
        what: "a DeepSeek Harness log",
        header: |shape| {
            let begun = shape.text_equals("type", "session") && shape.get("version") == Some(b"0");
            begun && shape.any(&["createdAt", "delegationDepth"])
        },
        line: |shape| {
            let kind = shape.text("type").unwrap_or_default();
            let event = shape.all(&["seq", "time"]) && shape.is_object("data");
            event
                && ["session/", "user/", "assistant/"]
                    .iter()
                    .any(|begin| kind.starts_with(begin))
        },
        ..Signature::BLANK
    },
    Signature {
        name: "antigravity",
        what: "an Antigravity step log",
        line: |shape| shape.all(&["step_index", "source", "type", "status"]),
        ..Signature::BLANK
    },
    Signature {
        name: "windsurf",
        what: "a Windsurf transcript",
        line: |shape| {
            let step = shape.text("type");
            shape.is_text("status") && step.is_some_and(|step| shape.is_object(&step))
        },
        ..Signature::BLANK
    },
    Signature {
        name: "amp",
        what: "an Amp thread",
        document: |shape| {
            let id = shape.text("id").is_some_and(|id| id.starts_with("T-"));
            id && shape.has_element("messages", |message| message.has("messageId"))
        },
        ..Signature::BLANK
    },
    Signature {
        name: "atif-without-steps",
        what: "a document of the Agent Trajectory Interchange Format without steps",
        document: |shape| {
            let version = shape.text("schema_version");
            version.is_some_and(|version| version.starts_with("ATIF-v")) && !shape.has("steps")
        },
        ..Signature::BLANK
    },
    Signature {
        name: "kiro",
        what: "a Kiro conversation",
        document: |shape| {
            shape.is_text("conversation_id")
                && shape.has_element("history", |turn| turn.all(&["user", "assistant"]))
        },
        ..Signature::BLANK
    },
    Signature {
        name: "vscode-copilot",
        what: "a chat session of VS Code",
        header: |shape| shape.get("kind") == Some(b"0") && shape.object("v").is_array("requests"),
        document: |shape| {
            let named = shape.any(&["sessionId", "requesterUsername", "responderUsername"]);
            named && shape.has_element("requests", |request| request.all(&["message", "response"]))
        },
        ..Signature::BLANK
    },
    Signature {
        name: "zed",
        what: "a Zed agent thread",
        document: |shape| {
            let segments = |message: &ObjectShape<'_>| message.is_array("segments");
            shape.is_array("messages") && shape.list("messages").iter().any(segments)
        },
        ..Signature::BLANK
    },
    Signature {
        name: "hermes",
        what: "a Hermes session",
        document: |shape| shape.all(&["session_id", "platform"]) && shape.is_array("messages"),
        ..Signature::BLANK
    },
    Signature {
        name: "open-webui",
        what: "an Open WebUI export",
        document: |shape| shape.object("chat").object("history").has("currentId"),
        ..Signature::BLANK
    },
    Signature {
        name: "inspect",
        what: "an Inspect evaluation log",
        document: |shape| {
            shape.all(&["version", "status"]) && shape.is_object("eval") && shape.any(&["plan", "samples"])
        },
        ..Signature::BLANK
    },
    Signature {
        name: "otlp",
        what: "OpenTelemetry traces (OTLP)",
        document: |shape| shape.is_array("resourceSpans"),
        ..Signature::BLANK
    },
    Signature {
        name: "opencode-record",
        what: "a record of opencode's storage directory",
        document: |shape| {
            let part = shape.all(&["sessionID", "messageID", "type"]);
            part || (shape.is_object("time") && shape.any(&["projectID", "directory"]))
        },
        message: |message| message.message.has("sessionID") && message.message.is_object("time"),
        ..Signature::BLANK
    },
];
