//! Penguin's categories, its rule for messages without one, and what else follows from a category.

use crate::model::json;
use crate::model::message::{Category, Role};

/// A name, and which of ours it is; those that are none of ours go by the role.
pub(super) type Known = (&'static str, Option<Category>);

/// Penguin's categories; the first five have the numbers from 1.
const CATEGORIES: [Known; 7] = [
    ("SYSTEM", Some(Category::System)),
    ("CONTEXT", Some(Category::Context)),
    ("DIALOG", Some(Category::Dialog)),
    ("SYSTEM_OUTPUT", Some(Category::SystemOutput)),
    ("ERROR", None),
    ("INTERNAL", None),
    ("UNKNOWN", None),
];

/// The names until March 2025.
const OLDER_CATEGORIES: [Known; 5] = [
    ("SYSTEM_PROMPT", Some(Category::System)),
    ("DECLARATIVE_NOTES", Some(Category::Context)),
    ("WORKING_MEMORY", Some(Category::Context)),
    ("CONVERSATION", Some(Category::Dialog)),
    ("ACTION_RESULTS", Some(Category::SystemOutput)),
];

/// What gives a system message away as a tool's output.
const OUTPUT_MARKS: [&str; 4] = ["action executed:", "code saved to:", "result:", "status:"];

/// The category of this name in any case, the older names among them where that is asked for.
pub(super) fn named(name: &str, older: bool) -> Option<Known> {
    let older: &[_] = if older { &OLDER_CATEGORIES } else { &[] };
    let mut known = CATEGORIES.iter().chain(older);
    known.find(|(known, _)| name.eq_ignore_ascii_case(known)).copied()
}

/// The category of this number, and the number.
pub(super) fn numbered(raw: &[u8]) -> Option<(usize, Known)> {
    let number = std::str::from_utf8(raw).ok()?.parse::<usize>().ok()?;
    let nth = number.checked_sub(1).filter(|nth| *nth < 5)?;
    Some((number, CATEGORIES[nth]))
}

/// Penguin's name for one of our categories.
pub(super) fn name_of(category: Category) -> &'static str {
    match category {
        Category::System => "SYSTEM",
        Category::Context => "CONTEXT",
        Category::Dialog => "DIALOG",
        Category::SystemOutput => "SYSTEM_OUTPUT",
    }
}

/// What Penguin's rule makes of a message without a category. The results of tools are the exception that Penguin
/// itself makes where it writes them.
pub(super) fn by_rule(role: Role, text: &str, is_prompt: bool) -> Category {
    match role {
        Role::System | Role::Developer if is_prompt => Category::System,
        Role::System | Role::Developer => {
            let text = text.to_lowercase();
            match OUTPUT_MARKS.iter().any(|mark| text.contains(mark)) {
                true => Category::SystemOutput,
                false => Category::Context,
            }
        }
        Role::Tool => Category::SystemOutput,
        Role::User | Role::Assistant | Role::Other => Category::Dialog,
    }
}

/// The `message_type` of a message without one: that of tools' results is an action, that of the system prompt a status.
pub(super) fn message_type(role: Role, is_prompt: bool) -> &'static str {
    match role {
        Role::Tool => "action",
        Role::System | Role::Developer if is_prompt => "status",
        _ => "message",
    }
}

/// The category that a document's member names, whatever its spelling.
pub(super) fn read(raw: &[u8], older: bool) -> Option<Known> {
    match json::text(raw) {
        Some(name) => named(&name, older),
        None => numbered(raw).map(|(_, known)| known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_penguins() {
        let cases = [
            (Role::System, "You are terse.", true, "SYSTEM"),
            (Role::Developer, "You are terse.", true, "SYSTEM"),
            (Role::System, "Action Executed: ls", false, "SYSTEM_OUTPUT"),
            (Role::System, "code saved to: a", false, "SYSTEM_OUTPUT"),
            (Role::System, "STATUS: ok", false, "SYSTEM_OUTPUT"),
            (Role::System, "the result: 4", false, "SYSTEM_OUTPUT"),
            (Role::System, "results", false, "CONTEXT"),
            (Role::Tool, "x", false, "SYSTEM_OUTPUT"),
            (Role::User, "result: 4", false, "DIALOG"),
            (Role::Other, "x", true, "DIALOG"),
        ];
        for (role, text, is_prompt, name) in cases {
            assert_eq!(name_of(by_rule(role, text, is_prompt)), name, "{text}");
        }
    }

    #[test]
    fn categories_are_known_by_name_and_number() {
        assert_eq!(
            read(b"\"dialog\"", false),
            Some(("DIALOG", Some(Category::Dialog)))
        );
        assert_eq!(read(b"5", false), Some(("ERROR", None)));
        assert_eq!(
            read(b"0", false).or(read(b"6", false)).or(read(b"-1", false)),
            None
        );
        assert_eq!(read(b"\"CONVERSATION\"", false), None);
        assert_eq!(
            read(b"\"CONVERSATION\"", true),
            Some(("CONVERSATION", Some(Category::Dialog)))
        );
    }
}
