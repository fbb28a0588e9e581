//! Names of encodings, estimators and models, and how much a model's context holds.

use super::{Tokenizer, Way};
use crate::error::{Error, Kind, Result};

pub(super) fn named(name: &str) -> Result<Tokenizer> {
    match name {
        "o200k_base" => Ok(Tokenizer(Way::O200k)),
        "cl100k_base" => Ok(Tokenizer(Way::Cl100k)),
        "chars4" => Ok(Tokenizer(Way::Chars4)),
        _ if name.starts_with("gpt-4o") => Ok(Tokenizer(Way::O200k)),
        _ if name.starts_with("gpt-4") => Ok(Tokenizer(Way::Cl100k)),
        _ => Err(Error::new(Kind::Usage, format!("no tokenizer {name:?}"))),
    }
}

/// Tokens that the context of a known model holds.
pub fn window(model: &str) -> Option<u64> {
    model.starts_with("gpt-4o").then_some(128_000)
}
