//! `new`: makes a session.

use super::Run;
use crate::args::{checked_name, memory, pair, tokenizer};
use crate::context::Context;
use clap::Args;
use convo::error::{Error, Kind};
use convo::format::native::HeaderBuilder;
use convo::model::json::ObjectBuilder;
use convo::model::key::{checked_id, is_id};
use convo::model::memory::Memory;
use convo::store::Store;
use convo::tokens::{Tokenizer, counter};

/// Make a session; prints its id and nothing else
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  id=$(convo new --title 'Trip to Paris')
  convo new --id chat --system 'You are terse.'
  convo new --id review --system @rules.md --meta project=convo --alias current")]
pub struct New {
    /// The id [default: session_, the time and 16 random digits]
    #[arg(long, value_name = "ID", help_heading = "The session")]
    id: Option<String>,
    /// What people call it
    #[arg(long, value_name = "TEXT", help_heading = "The session")]
    title: Option<String>,
    /// The system message; with @ in front, the file to read it from
    #[arg(long, value_name = "TEXT|@FILE", help_heading = "The session")]
    system: Option<String>,
    /// A member of the header's metadata; JSON, or else text
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, help_heading = "The session")]
    meta: Vec<(String, Vec<u8>)>,
    /// Keep the count of each message, as this tokenizer or model counts
    ///
    /// Messages that are added then carry their tokens, which are not counted again.
    #[arg(long, value_name = "NAME", value_parser = tokenizer, help_heading = "The session")]
    tokenizer: Option<Tokenizer>,
    /// What it is to remember: rolling_summary,keep_last=5,total=10000,...
    ///
    /// rolling_summary (the default) or truncation, and KEY=VALUE: keep_last=5 turns stay whole; the summary has at most
    /// summary=1000 tokens, everything together total=10000 (0: no limit); overflow=truncate_oldest, truncate_summary or
    /// error says what gives way then. Of failed summaries retry_attempts=3 in a row are repeated after backoff=2s,
    /// doubled each time, and then every rest=30s, with at most backlog=20 turns at once. `append` then keeps within the total,
    /// and `summarize --if-due` sums up what is beyond the turns that stay.
    #[arg(long, value_name = "WHAT", value_parser = memory, help_heading = "The session")]
    memory: Option<Memory>,
    /// Another name for it
    #[arg(long, value_name = "NAME", help_heading = "The session")]
    alias: Vec<String>,
    /// Print the session as a stream, and make nothing
    #[arg(long, conflicts_with = "alias", help_heading = "Output")]
    stdout: bool,
}

impl Run for New {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let now = context.clock.now();
        let id = match &self.id {
            Some(id) => checked_name(checked_id(id)?)?.to_string(),
            None => self.free_id(context)?,
        };
        let lines = self.lines(context, &id, &now)?;
        if self.stdout {
            return context.output.stdout(|out| {
                for line in &lines {
                    let written = out.write_all(line).and_then(|()| out.write_all(b"\n"));
                    written.map_err(|error| Error::io("cannot write", error))?;
                }
                Ok(())
            });
        }
        let store = context.store_or_new()?;
        // Names are looked at before anything is made, so that a taken one leaves nothing behind.
        for alias in &self.alias {
            checked_name(alias)?;
            Store::check_alias(alias)?;
            if store.alias_ids(alias)?.is_some() || (is_id(alias) && store.has(alias)?) {
                return Err(Error::new(Kind::Exists, format!("the name {alias:?} is taken")).into());
            }
        }
        store.create_session(&id, &lines)?;
        for alias in &self.alias {
            // The session is there: whoever repeats the command must look first.
            store.alias_add(alias, &id).map_err(|error| Error {
                message: format!("{id} was made without its alias: {}", error.message),
                ..error
                    .kind(Kind::Unsure)
                    .hint(format!("convo alias add {alias} {id}"))
            })?;
        }
        context.output.print_done(&id)
    }
}

impl New {
    /// An id that no session has: with a seed the ones before may have been made by other runs.
    fn free_id(&self, context: &Context) -> anyhow::Result<String> {
        let prefix = format!("{}_", context.clock.session_stem());
        loop {
            let id = context.new_id(&prefix, String::new)?;
            if self.stdout || !context.store_or_new()?.has(&id)? {
                return Ok(id);
            }
        }
    }

    fn lines(&self, context: &Context, id: &str, now: &str) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut header = HeaderBuilder::default();
        header
            .text("created_at", Some(now))
            .text("title", self.title.as_deref())
            .text("tokenizer", self.tokenizer.map(Tokenizer::name));
        if let Some(memory) = &self.memory {
            memory.check()?;
            header.raw("memory", memory.write());
        }
        if !self.meta.is_empty() {
            let mut metadata = ObjectBuilder::default();
            for (name, value) in &self.meta {
                metadata.raw(name, value);
            }
            header.raw("metadata", metadata.finish());
        }
        let mut lines = vec![header.finish(id)];
        if let Some(system) = &self.system {
            let text = match system.strip_prefix('@') {
                Some(path) => std::fs::read_to_string(path)
                    .map_err(|error| Error::io(format!("cannot read {path}"), error))?,
                None => system.clone(),
            };
            let mut message = ObjectBuilder::default();
            message.text("role", "system").text("content", &text);
            message
                .text("id", &context.new_id("msg_", || format!("{id}\n{text}"))?)
                .text("timestamp", now);
            let line = message.finish();
            lines.push(match self.tokenizer {
                Some(tokenizer) => counter::with_tokens(line, tokenizer),
                None => line,
            });
        }
        Ok(lines)
    }
}
