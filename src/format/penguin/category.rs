//! Penguin's categories, and its rules for messages without one.

use crate::model::json;
use crate::model::message::{Category, Role};

/// A name and its native category, if there is one; otherwise the role determines the category.
pub(super) type KnownCategory = (&'static str, Option<Category>);

/// Penguin's categories; the first five are numbered from 1.
const CATEGORIES: [KnownCategory; 7] = [
    ("SYSTEM", Some(Category::System)),
    ("CONTEXT", Some(Category::Context)),
    ("DIALOG", Some(Category::Dialog)),
    ("SYSTEM_OUTPUT", Some(Category::SystemOutput)),
    ("ERROR", None),
    ("INTERNAL", None),
    ("UNKNOWN", None),
];

/// The names until March 2025.
const OLDER_CATEGORIES: [KnownCategory; 5] = [
    ("SYSTEM_PROMPT", Some(Category::System)),
    ("DECLARATIVE_NOTES", Some(Category::Context)),
    ("WORKING_MEMORY", Some(Category::Context)),
    ("CONVERSATION", Some(Category::Dialog)),
    ("ACTION_RESULTS", Some(Category::SystemOutput)),
];

/// Texts that identify a system message as tool output.
const OUTPUT_MARKS: [&str; 4] = ["action executed:", "code saved to:", "result:", "status:"];

/// The category with this name, ignoring case; also by older names if `older`.
pub(super) fn named(name: &str, older: bool) -> Option<KnownCategory> {
    let older: &[_] = if older { &OLDER_CATEGORIES } else { &[] };
    let mut known = CATEGORIES.iter().chain(older);
    known.find(|(known, _)| name.eq_ignore_ascii_case(known)).copied()
}

/// A number from 1 to 5, and the category that it means.
pub(super) fn numbered(raw: &[u8]) -> Option<(usize, KnownCategory)> {
    let number = json::number::<usize>(raw)?;
    let nth = number.checked_sub(1).filter(|nth| *nth < 5)?;
    Some((number, CATEGORIES[nth]))
}

/// Penguin's name for a native category.
pub(super) fn name_of(category: Category) -> &'static str {
    match category {
        Category::System => "SYSTEM",
        Category::Context => "CONTEXT",
        Category::Dialog => "DIALOG",
        Category::SystemOutput => "SYSTEM_OUTPUT",
    }
}

/// The category of a message without one by Penguin's rules. Tool results are an exception that Penguin makes on
/// writing.
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

/// The default `message_type`: action for tool results, status for the system prompt.
pub(super) fn message_type(role: Role, is_prompt: bool) -> &'static str {
    match role {
        Role::Tool => "action",
        Role::System | Role::Developer if is_prompt => "status",
        _ => "message",
    }
}

/// The category in a document's member, by name or number.
pub(super) fn read(raw: &[u8], older: bool) -> Option<KnownCategory> {
    match json::text(raw) {
        Some(name) => named(&name, older),
        None => numbered(raw).map(|(_, known)| known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_category_rule_agrees_with_penguin() {
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
    fn categories_are_recognized_by_name_and_number() {
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
