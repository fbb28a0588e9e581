//! Options: which values to find and how to replace them.

use super::kind::{Certainty, SecretKind};
use super::mark::Template;
use regex::Regex;
use std::collections::HashSet;

/// The values to find, and their replacements.
#[derive(Clone, Debug)]
pub struct RedactorOptions {
    /// The minimum level: [`Certainty::Definite`] or [`Certainty::Likely`].
    pub level: Certainty,
    /// Kinds of personal data to find.
    pub personal: Vec<SecretKind>,
    /// Whole words to replace, ignoring case.
    pub names: Vec<String>,
    /// Find only these kinds; empty means all.
    pub only: Vec<SecretKind>,
    /// Skip these kinds.
    pub except: Vec<SecretKind>,
    /// SHA-256 hashes of values to keep, in hexadecimal, as in [`super::Secret`].
    pub allowed: HashSet<String>,
    /// Keep values that match one of these patterns.
    pub allowed_patterns: Vec<Regex>,
    /// The key of the hashes in placeholders, which prevents confirming guesses.
    pub key: Option<Vec<u8>>,
    /// The template of placeholders.
    pub mark: Template,
    /// Also replace images, audio and files.
    pub drop_media: bool,
    /// Drop encrypted parts, which cannot be decoded.
    pub drop_opaque: bool,
}

impl Default for RedactorOptions {
    fn default() -> RedactorOptions {
        RedactorOptions {
            level: Certainty::Likely,
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
