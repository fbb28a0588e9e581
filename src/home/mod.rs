//! The homes of other programs, in which they store their sessions. They are found by environment and file system only;
//! nothing in them is changed, and no program is started.
//!
//! ```
//! use convo::format::Format;
//! use convo::home::program;
//!
//! assert_eq!(program("codex").and_then(|codex| codex.format), Some(Format::Codex));
//! ```

mod bundle;
mod choice;
mod claude_code;
mod files;
mod gemini_cli;
mod index;
mod name;
mod opencode;
mod places;
pub mod relocation;
mod retention;
mod running;
mod settings;
mod sidecars;
mod slot;
mod table;

pub use bundle::{Bundle, Bundles, Piece};
pub use choice::{Choice, split as split_model};
pub use files::{Directories, Files, Transcript};
pub use index::{Index, folded, plain_project};
pub use name::{Name, Wanted};
pub use opencode::records;
pub use places::{Environment, Home, homes};
pub use retention::{Retention, WEEK};
pub use running::{Mark, Running};
pub use sidecars::{Sidecars, orphans};
pub use slot::{Index as IndexChange, Newcomer, Slot, Takes};
pub use table::{Kind, PROGRAMS, Program, program};
