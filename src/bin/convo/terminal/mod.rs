//! Output for people: tables, colors, widths, times, the pager, and removal of control characters.

pub mod measure;
pub mod pager;
pub mod palette;
pub mod session_tree;
pub mod table;
pub mod terminal_filter;
pub mod time_format;
pub mod visible;
