//! What a file of pi looks like.

use crate::format::detect::Signature;

/// What it looks like.
pub(in crate::format) const SIGNATURE: Signature = Signature {
    name: super::NAME,
    what: "a pi session",
    header: |shape| shape.says("type", "session") && shape.has("cwd"),
    line: |shape| shape.says("type", "message") && shape.has("message"),
    ..Signature::BLANK
};
