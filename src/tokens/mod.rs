//! Token counts of texts and messages.
//!
//! OpenAI's encodings are counted exactly, with tables that are compiled into the program ([`Tokenizer::count`] needs
//! no initialization). All other counts are estimates with documented sources; `docs/compaction.md` lists them.
//!
//! ```
//! use convo::tokens::Tokenizer;
//!
//! assert_eq!(Tokenizer::named("o200k_base")?.count("hello world"), 2);
//! # convo::Result::Ok(())
//! ```

pub mod counter;
mod encoding;
mod estimate;
pub mod external;
mod hash;
mod image;
mod inline_data;
mod lines;
mod media;
mod merge;
mod message_cost;
mod models;
mod split;
mod table;
mod tokenizer;
pub mod usage;
mod word_cache;

pub use counter::Counter;
pub(crate) use lines::LineTokens;
pub use models::window;
pub use tokenizer::Tokenizer;

use crate::error::Result;

impl Tokenizer {
    /// The tokenizer with this name: an encoding, an estimate, or a model with its tokenizer.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] for an unknown name.
    pub fn named(name: &str) -> Result<Tokenizer> {
        models::named(name)
    }
}
