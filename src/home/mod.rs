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
mod home_program;
mod index;
mod index_entry;
mod listing;
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

pub use bundle::{Bundle, BundleFile, Bundles};
pub use choice::{ModelChoice, split as split_model};
pub use files::{HomeFiles, Transcript};
pub use home_program::{FileKind, HomeProgram};
pub use index::{HomeIndex, folded, plain_project};
pub use index_entry::{without_project, without_session};
pub use listing::Directories;
pub use name::{Name, SelectedId};
pub use opencode::records;
pub use places::{Environment, Home, homes};
pub use retention::{Retention, WEEK};
pub use running::{RunningMarkers, RunningSign};
pub use sidecars::{Sidecars, orphans};
pub use slot::{AcceptMode, IndexChange, NewSessionInfo, SessionSlot, is_plain_id};
pub use table::{PROGRAMS, program, program_names, written_program_names};
