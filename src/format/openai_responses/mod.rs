//! Items of the OpenAI Responses interface: an array, a request with `instructions` and `input`, a response. Reasoning,
//! a text and calls that follow one another are one message here, and items again when they are written.

mod item;
mod part;
mod write;

pub(super) use item::{Tools, group, instructions, read as items};
pub(super) use write::write;
