//! `new`: makes a session.

use super::Run;
use crate::args::{checked_name, max_messages, memory, pair, tokenizer};
use crate::claims::share;
use crate::context::{Context, named};
use crate::keyed::{Keyed, key_settings};
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
  convo new --id review --system @rules.md --meta project=convo --alias current
  convo new --key \"$key\" --if-missing                 in a loop, on every message
  convo key --json ... | convo new --scope @-            with all names it is known by")]
pub struct New {
    /// The id [default: session_, the time and 16 random digits]
    #[arg(long, value_name = "ID", help_heading = "The session")]
    id: Option<String>,
    /// What programs call it, as `convo key` makes it
    ///
    /// Its id is made of it, unless there is an --id: then it is another name of the session.
    #[arg(long, value_name = "KEY", help_heading = "The session")]
    key: Option<String>,
    /// What it is of: JSON as `convo key` takes and prints it
    ///
    /// With @ in front the file to read it from, @- for standard input. The key, when there is none, and the scope go to
    /// the header; the session gets the names that come with them. Such a name may come with several sessions: it then
    /// means none of them, and tells them all. One that is another session's own is left to that one.
    #[arg(long, value_name = "JSON|@FILE", help_heading = "The session")]
    scope: Option<String>,
    /// When there is a session of this id or key, print its id
    ///
    /// Names that it lacks are given to it; everything else stays as it is. Of many that do so at once one makes the
    /// session.
    #[arg(long, conflicts_with = "stdout", help_heading = "The session")]
    if_missing: bool,
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
    memory: Option<String>,
    /// Continue in a new session after N messages
    ///
    /// A setting of the session and of all its continuations: `append` and `ask` then behave as with --max-messages N. It takes precedence over
    /// `max-messages` in the configuration file. 0 is no limit.
    #[arg(long, value_name = "N", value_parser = max_messages, conflicts_with = "memory", help_heading = "The session")]
    max_messages: Option<u64>,
    /// Another name for it
    #[arg(long, value_name = "NAME", help_heading = "The session")]
    alias: Vec<String>,
    /// Print the session as a stream, and make nothing
    #[arg(long, conflicts_with = "alias", help_heading = "Output")]
    stdout: bool,
}

impl Run for New {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        let now = context.clock.now();
        let keyed = Keyed::new(
            self.key.as_deref(),
            self.scope.as_deref(),
            &key_settings(context)?,
        )?;
        if let Some(key) = &keyed.key {
            checked_name(key)?;
        }
        let id = match self.id.clone().or(keyed.id()) {
            Some(id) => checked_name(checked_id(&id)?)?.to_string(),
            None if self.if_missing => {
                let error = Error::new(Kind::Usage, "--if-missing needs --id, --key or --scope");
                return Err(error
                    .hint("else there is no telling which session is meant")
                    .into());
            }
            None => self.free_id(context)?,
        };
        if let Some(key) = keyed.key.as_ref().filter(|_| keyed.id().as_ref() != Some(&id))
            && !self.alias.contains(key)
        {
            self.alias.push(key.clone());
        }
        let lines = self.lines(context, &keyed, &id, &now)?;
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
        if self.if_missing
            && let Some(id) = self.there(store, &keyed, &id)?
        {
            return self.keep(context, store, &keyed, &id);
        }
        self.refuse_taken(store, &keyed)?;
        match store.create_session(&id, &lines) {
            // Somebody else was faster.
            Err(error) if error.kind == Kind::Exists && self.if_missing => {
                return match self.there(store, &keyed, &id)? {
                    Some(id) => self.keep(context, store, &keyed, &id),
                    None => Err(error.into()),
                };
            }
            made => made?,
        }
        let names = || {
            for alias in &self.alias {
                store
                    .alias_add(alias, &id)
                    .map_err(|error| error.hint(format!("convo alias add {alias} {id}")))?;
            }
            share(context, store, &id, &keyed.claims, true)
        };
        // The session is there: whoever repeats the command must look first.
        names().map_err(|error| Error {
            message: format!("{id} was made without its alias: {}", error.message),
            ..error.kind(Kind::Unsure)
        })?;
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

    /// The session that is there already.
    fn there(&self, store: &Store, keyed: &Keyed, id: &str) -> anyhow::Result<Option<String>> {
        if let Some(key) = &keyed.key
            && let Some(found) = store.exactly(key)?
        {
            if self.id.as_ref().is_some_and(|id| *id != found) {
                let error = Error::new(Kind::Exists, format!("{key} is a name of {found} already"));
                return Err(error.into());
            }
            return Ok(Some(found));
        }
        Ok(store.exactly(id)?)
    }

    /// Gives a session that is there the names that it lacks.
    fn keep(&self, context: &Context, store: &Store, keyed: &Keyed, id: &str) -> anyhow::Result<()> {
        // It may be of a process that has not synced yet.
        store.settle_names()?;
        for alias in &self.alias {
            checked_name(alias)?;
            store.alias_add(alias, id).map_err(|error| named(error, alias))?;
        }
        share(context, store, id, &keyed.claims, false)?;
        context.output.print_done(id)
    }

    /// Names are looked at before anything is made, so that a taken one leaves nothing behind.
    fn refuse_taken(&self, store: &Store, keyed: &Keyed) -> anyhow::Result<()> {
        for alias in &self.alias {
            checked_name(alias)?;
            Store::check_alias(alias)?;
            if store.alias_ids(alias)?.is_some() || (is_id(alias) && store.has(alias)?) {
                return Err(Error::new(Kind::Exists, format!("the name {alias:?} is taken")).into());
            }
        }
        // An alias of the key's name would hide the new session.
        if let Some(key) = &keyed.key
            && let Some(other) = store.exactly(key)?
        {
            let what = match *key == other {
                true => format!("there is a session {other} already"),
                false => format!("{key} is a name of {other} already"),
            };
            return Err(Error::new(Kind::Exists, what)
                .hint("--if-missing prints the id of one that is there")
                .into());
        }
        Ok(())
    }

    fn lines(&self, context: &Context, keyed: &Keyed, id: &str, now: &str) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut header = HeaderBuilder::default();
        header
            .text("created_at", Some(now))
            .text("title", self.title.as_deref())
            .text("tokenizer", self.tokenizer.map(Tokenizer::name));
        if let Some(asked) = &self.memory {
            let memory = Memory::default().with(asked)?;
            memory.check().map_err(|error| error.kind(Kind::Usage))?;
            header.raw("memory", memory.write());
        }
        if let Some(limit) = self.max_messages {
            header.raw("max_messages", limit.to_string().into_bytes());
        }
        for (name, value) in keyed.header(&self.meta) {
            header.raw(name, value);
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
