//! Plans changes of a session's title, tags and notes as events that `restore` can undo.

use super::overview::{TAGS, tags_of};
use super::{Plan, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::{Action, Event};
use crate::model::json::{self, Dialect, quoted, wrapped};
use crate::model::note::{NOTE, is_note};
use crate::model::session::{Class, Session};

/// The header member that holds the title.
pub const TITLE: &str = "title";

/// Maximum length of a tag in characters.
const LONGEST: usize = 64;

/// A tag to add or to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagChange {
    /// The tag.
    pub tag: String,
    /// Whether to add or remove it.
    pub adds: bool,
}

impl TagChange {
    /// Parses `+TAG` or `-TAG`.
    pub fn parse(text: &str) -> std::result::Result<TagChange, String> {
        let (adds, tag) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(tag), _) => (true, tag),
            (None, Some(tag)) => (false, tag),
            (None, None) => return Err("expected +TAG or -TAG".to_string()),
        };
        check_tag(tag)?;
        Ok(TagChange {
            tag: tag.to_string(),
            adds,
        })
    }
}

/// Checks that a text is a tag: lower-case letters and digits, and after the first character also `.`, `_` and `-`.
pub fn check_tag(tag: &str) -> std::result::Result<(), String> {
    let is_start = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_rest = |b: &u8| is_start(b) || matches!(b, b'.' | b'_' | b'-');
    let bytes = tag.as_bytes();
    match bytes.first().is_some_and(is_start) && bytes.iter().all(is_rest) && bytes.len() <= LONGEST {
        true => Ok(()),
        false => Err(format!(
            "expected a tag of at most {LONGEST} lower-case letters, digits, '.', '_' and '-'"
        )),
    }
}

/// Plans to set the title; an empty text removes it.
pub fn set_title(session: &Session, title: &str, stamp: impl FnOnce(&str) -> Result<Stamp>) -> Result<Plan> {
    let title = title.trim();
    let old = session.header_text(TITLE).unwrap_or_default();
    match title {
        "" if old.is_empty() => Ok(Plan::Nothing("no title was set".to_string())),
        "" => change(session, TITLE, None, "title removed".to_string(), stamp),
        title if title == old => Ok(Plan::Nothing(format!("the title is '{title}'"))),
        title => change(
            session,
            TITLE,
            Some(quoted(title)),
            format!("title set to '{title}'"),
            stamp,
        ),
    }
}

/// Plans to add and remove tags. New tags come last.
pub fn set_tags(
    session: &Session,
    changes: &[TagChange],
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let old = tags_of(session);
    let mut tags = old.clone();
    for TagChange { tag, adds } in changes {
        match (adds, tags.contains(tag)) {
            (true, false) => tags.push(tag.clone()),
            (false, true) => tags.retain(|other| other != tag),
            _ => {}
        }
    }
    let list = |tags: &[String]| match tags {
        [] => "no tags".to_string(),
        tags => format!("tags: {}", tags.join(", ")),
    };
    if tags == old {
        return Ok(Plan::Nothing(list(&tags)));
    }
    let value = (!tags.is_empty()).then(|| json::texts(&tags));
    change(session, TAGS, value, list(&tags), stamp)
}

/// Plans to add a note to the session, or to the message with the id `of`.
///
/// # Errors
/// [`ErrorKind::Usage`] if the text is blank, [`ErrorKind::No`] if there is no such message.
pub fn add_note(
    session: &Session,
    text: &str,
    of: Option<&str>,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::usage("empty note"));
    }
    if let Some(id) = of.filter(|id| session.all_of(id).is_empty()) {
        let error = Error::new(ErrorKind::No, format!("no such message: {id}"));
        return Err(error.hint("list the ids of messages with: convo context INPUT | jq -r .id"));
    }
    let stamp = stamp(text)?;
    let mut event = stamp.event(NOTE);
    event.text("text", text);
    if let Some(id) = of {
        event.text("of", id);
    }
    let subject = of.map_or(String::new(), |id| format!(" to {id}"));
    Ok(Plan::Lines(
        vec![event.finish()],
        format!("added a note{subject}"),
    ))
}

/// The event that sets or removes a member of the header.
fn change(
    session: &Session,
    name: &str,
    value: Option<Vec<u8>>,
    what: String,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    if !(0..session.len()).any(|index| session.class(index) == Class::Header) {
        let error = Error::new(ErrorKind::No, format!("no header for the {name}"));
        return Err(error.hint("import the session first: convo migrate FILE"));
    }
    let stamp = stamp(&what)?;
    let mut event = stamp.event("meta");
    match value {
        Some(value) => {
            event.raw("set", wrapped(name, value));
        }
        None => {
            event.raw("unset", json::texts([name]));
        }
    }
    Ok(Plan::Lines(vec![event.finish()], what))
}

/// Whether an event is a note, or a user command that changes only the title or the tags.
pub fn is_change(event: &Event<'_>) -> bool {
    if is_note(event) {
        return true;
    }
    let Action::Meta(meta) = event.action() else {
        return false;
    };
    let set = meta
        .set
        .map(|raw| json::members(raw, Dialect::Strict).unwrap_or_default());
    let set = set.unwrap_or_default();
    let mut names = set.iter().map(|(name, _)| name).chain(&meta.unset).peekable();
    names.peek().is_some() && !event.is_update() && names.all(|name| name == TITLE || name == TAGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_a_narrow_alphabet() {
        for good in ["a", "0", "a.b_c-d", &"x".repeat(64)] {
            assert_eq!(check_tag(good), Ok(()), "{good}");
        }
        for bad in ["", "A", "-a", ".a", "_a", "a b", "é", "a,b", &"x".repeat(65)] {
            assert!(check_tag(bad).is_err(), "{bad}");
        }
        assert!(TagChange::parse("a").is_err() && TagChange::parse("++a").is_err());
        assert!(TagChange::parse("-a").is_ok_and(|change| !change.adds && change.tag == "a"));
    }
}
