//! Options of a check.

use crate::error::Result;
use crate::model::event::Stamp;

/// Creates id and time of a line that a repair adds; the argument distinguishes it from others.
pub type CreateStamp<'a> = &'a dyn Fn(&str) -> Result<Stamp>;

/// Options of a check.
#[derive(Clone, Copy)]
pub struct FsckOptions<'a> {
    /// Check only these sessions; otherwise the whole store.
    pub ids: Option<&'a [String]>,
    /// Repair, with these stamps.
    pub repair: Option<CreateStamp<'a>>,
    /// Sessions whose claims to belong to others a repair accepts.
    pub link: &'a [String],
    /// Repair even if another program has a log open.
    pub force: bool,
}
