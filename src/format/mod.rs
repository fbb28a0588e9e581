//! Converts between bytes and records. Each format has a file or directory that defines its `SPEC`; `table.rs` lists
//! them.
//!
//! ```
//! use convo::format::detect::{Hints, detect};
//! use convo::format::native::NativeReader;
//! use convo::format::report::Report;
//! use convo::format::{Format, Sessions, Stream};
//!
//! let bytes = br#"{"type":"session","version":1,"id":"trip"}
//! {"role":"user","content":"hi"}
//! "#;
//! assert_eq!(detect(bytes, true, Hints::default()).format, Some(Format::Native));
//! let reader = NativeReader::new(Vec::new(), &bytes[..]);
//! let mut sessions = Sessions::new(Stream::Records(Box::new(reader)));
//! let session = sessions.next(&mut Report::default())?.unwrap();
//! assert_eq!(session.header_text("id").as_deref(), Some("trip"));
//! # convo::Result::Ok(())
//! ```

mod aichat;
mod aider;
pub mod annotations;
mod anthropic;
pub mod array;
mod atif;
pub(crate) mod base64;
mod blocks;
mod branches;
mod chatgpt_export;
mod claude_ai_export;
mod claude_code;
mod cline;
mod cline_roo;
mod codex;
pub mod compression;
mod concatenated_logs;
mod content;
pub mod continuation;
mod continue_ide;
mod conversation_list;
mod copilot_cli;
mod cursor;
pub mod detect;
mod document;
mod droid;
mod gemini;
mod gemini_cli;
mod go_json;
mod goaitools;
mod goose;
mod grok;
pub mod gzip;
pub mod html;
mod id;
mod indent;
mod json_entries;
pub mod jsonl;
mod keyed;
mod kimi;
mod kit;
mod langchain;
pub mod lines;
mod markdown;
pub mod native;
mod object;
mod opaque;
mod openai_chat;
mod openai_responses;
pub mod opencode;
pub mod output_names;
pub mod packed;
pub mod page;
mod page_losses;
pub mod penguiflow;
pub mod penguin;
mod pi;
pub mod picoclaw;
mod qwen_code;
mod read_window;
pub mod recorded;
mod refusal;
pub mod report;
pub mod request;
mod sessions;
mod sharegpt;
pub mod short_strings;
pub mod slim;
mod spec;
mod sts;
mod table;
#[cfg(test)]
mod tests;
pub mod training;
mod vercel_ui;
pub mod workspace;
pub mod zstd;

pub use id::Format;
pub use keyed::LineKeys;
pub use sessions::{Converted, Neighbor, Reader, SessionInput, SessionReader, Sessions, Stream};
use spec::written;
pub use spec::{DocumentSource, EditedSession, FormatSpec, ReadFn, SessionCount, WritePurpose, WriteTarget};
pub use table::{convert, write, write_back, write_page};
