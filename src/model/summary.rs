//! How a summary is shown to a model.

use super::json::ObjectBuilder;

/// A summary as a message: of the role that its author wanted, else `system`, which survives trimming.
pub fn message(text: &str, role: Option<&str>) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    built.text("role", role.unwrap_or("system")).text(
        "content",
        &format!("Summary of the earlier conversation:\n{text}"),
    );
    built.finish()
}
