//! The formats that other programs write and this version does not read. They are known so that they are refused by
//! their name and never read as something that they are not; one that comes to be read takes its signature along.

use super::signature::Signature;

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
