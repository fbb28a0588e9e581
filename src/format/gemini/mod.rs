//! Contents of the Gemini interface: an array, a request with `systemInstruction` and `contents`, a response. Calls
//! mostly have no ids there; those that are made here stay here.

mod element;
mod write;

pub(super) use element::{Calls, read as element, system};
pub(super) use write::write;
