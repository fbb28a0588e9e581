//! The values to find, and what becomes of them.

use super::kind::{Kind, Level};
use super::mark::Template;
use regex::Regex;
use std::collections::HashSet;

/// The values to find, and their replacements.
#[derive(Clone, Debug)]
pub struct Options {
    /// The least certain findings that count: [`Level::Definite`] or [`Level::Likely`].
    pub level: Level,
    /// Kinds of personal data.
    pub personal: Vec<Kind>,
    /// Whole words to remove, in upper or lower case.
    pub names: Vec<String>,
    /// Only these kinds; none: all.
    pub only: Vec<Kind>,
    /// Not these kinds.
    pub except: Vec<Kind>,
    /// SHA-256 of values that are kept, in hexadecimal digits, as [`super::Secret`] has it.
    pub allowed: HashSet<String>,
    /// Values that match one of these are kept.
    pub allowed_patterns: Vec<Regex>,
    /// The key of the hashes in placeholders, so that nobody can confirm a guess.
    pub key: Option<Vec<u8>>,
    /// The form of placeholders.
    pub mark: Template,
    /// Replace images, audio and files too.
    pub drop_media: bool,
    /// Drop encrypted parts, which cannot be read.
    pub drop_opaque: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            level: Level::Likely,
            personal: Vec::new(),
            names: Vec::new(),
            only: Vec::new(),
            except: Vec::new(),
            allowed: HashSet::new(),
            allowed_patterns: Vec::new(),
            key: None,
            mark: Template::default(),
            drop_media: false,
            drop_opaque: false,
        }
    }
}
