//! Messages of the Anthropic interface: an array, a request with `system` and `messages`, a response. Results stand in
//! the user's messages there, and are tools' messages here.

mod block;
mod element;
mod write;

pub(super) use element::{read as element, system};
pub(super) use write::write;
