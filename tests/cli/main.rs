//! The program from outside: every verb as a filter and on a store, its statuses and its words.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[macro_use]
mod env;

mod alias;
mod append;
mod ask;
mod bad_input;
mod bad_names;
mod branches;
mod bytes;
mod cat;
mod check;
mod check_default;
mod claude_code;
mod compact;
mod completion;
mod context;
#[path = "continue.rs"]
mod continuing;
mod count;
mod detect;
mod documents;
mod events;
mod expand;
mod fixtures;
mod folders;
mod foreign;
mod formats;
mod fsck;
mod gc;
mod generated;
mod goaitools;
mod handover;
mod join;
mod key;
mod layering;
mod list;
#[cfg(feature = "llm")]
mod llm;
mod locked;
mod losses;
mod markdown;
mod memory;
mod migrate;
mod migrate_to;
mod moved_keys;
mod names;
mod new;
mod opaque;
mod pairs;
mod penguiflow;
mod penguins;
mod plugins;
mod promote;
mod readme;
mod regression;
mod remove;
mod restore;
mod rolling;
mod salvage;
mod sessions;
mod show;
mod split;
#[cfg(feature = "sqlite")]
mod sqlite;
mod status;
mod streams;
mod summarize;
mod terminal;
mod thousand;
mod truncate;
mod untrusted;
