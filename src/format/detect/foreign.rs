//! The formats that other programs write and this version does not read. They are known so that they are refused by
//! their name and never read as something that they are not; one that comes to be read takes its signature along.

use super::signature::{Signature, has_line};

pub(super) const CONTINUE: Signature = Signature {
    name: "continue",
    what: "a Continue session",
    document: |shape| shape.has("sessionId") && shape.is_array("history"),
    ..Signature::BLANK
};

pub(super) const OPENCODE_RECORD: Signature = Signature {
    name: "opencode-record",
    what: "a record of opencode's storage folder",
    document: |shape| {
        let part = shape.all(&["sessionID", "messageID", "type"]);
        part || (shape.is_object("time") && shape.any(&["projectID", "directory"]))
    },
    message: |said| said.message.has("sessionID") && said.message.is_object("time"),
    ..Signature::BLANK
};

pub(super) const VERCEL_UI: Signature = Signature {
    name: "vercel-ui",
    what: "Vercel AI SDK messages",
    message: |said| said.message.has("toolInvocations") || said.message.all(&["parts", "id"]),
    ..Signature::BLANK
};

pub(super) const LANGCHAIN: Signature = Signature {
    name: "langchain",
    what: "LangChain messages",
    line: |shape| shape.begins("lc", b'1') || (shape.is_text("type") && shape.is_object("data")),
    message: |said| said.message.has("data") && !said.message.has("parts"),
    ..Signature::BLANK
};

pub(super) const AIDER: Signature = Signature {
    name: "aider",
    what: "a chat history of aider",
    text: |text| has_line(text, "# aider chat started at "),
    ..Signature::BLANK
};

pub(super) const AICHAT: Signature = Signature {
    name: "aichat",
    what: "an aichat session",
    text: |text| {
        let messages = has_line(text, "messages:") || has_line(text, "compressed_messages:");
        has_line(text, "model:") && messages
    },
    ..Signature::BLANK
};

pub(super) const CLINE_ROO: Signature = Signature {
    name: "cline-roo",
    what: "Cline or Roo messages",
    message: |said| {
        let own = ["condenseId", "condenseParent", "truncationId", "truncationParent"];
        said.message.any(&own) && !said.message.has("parts")
    },
    list: |elements| {
        let any = |name: &str| elements.iter().any(|element| element.has(name));
        any("ts") && any("role")
    },
    ..Signature::BLANK
};
