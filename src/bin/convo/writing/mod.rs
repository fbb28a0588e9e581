//! From sessions to an output: its format, standard output or a file, and what a format cannot represent.

mod export;
mod file;
mod format;
mod packing;
pub mod secrets;

pub use export::{
    Export, SessionGroups, SessionWriter, can_write_back, losses_refused, report_dangling, single,
    with_model, wrap, write_records,
};
pub use file::{objects, rewrite, write_output, write_to};
pub use format::OutputFormat;
pub use packing::{Packing, packing};
