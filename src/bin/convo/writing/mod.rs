//! From sessions to an output: its format, standard output or a file, and what a format cannot represent.

mod export;
mod file;
mod format;
pub mod secrets;

pub use export::{
    Export, Returning, Sessions, goes_back, single, tell_dangling, too_much, with_model, wrap, write_records,
};
pub use file::{objects, packing, rewrite, write_to};
pub use format::Writing;
