//! What a conversation is. Knows no file and no format.

pub mod calls;
pub mod chain;
pub mod event;
pub mod excerpt;
pub mod exchange;
mod header;
pub mod health;
pub mod json;
pub mod key;
pub mod lineage;
pub mod memory;
pub mod message;
pub mod note;
pub mod origin;
pub mod outline;
pub mod record;
pub mod replay;
pub mod scope;
pub mod session;
pub mod speaker;
pub mod stats;
pub mod summary;
pub mod threads;
pub mod time;
pub mod title;
pub mod view;
pub mod visible;
