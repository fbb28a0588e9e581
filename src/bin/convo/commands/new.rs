//! `new`: creates a session.

use super::Run;
use crate::args::{checked_name, max_messages, memory, pair, tokenizer};
use crate::context::Context;
use crate::edit::alias_conflicts::share;
use crate::errors::named;
use crate::key_args::{KeyNames, key_settings};
use crate::writing::packing;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::format::native::HeaderBuilder;
use convo::model::json::ObjectBuilder;
use convo::model::key::{checked_id, is_id};
use convo::model::retention::RetentionPolicy;
use convo::store::Store;
use convo::tokens::{Tokenizer, counter};

/// Create a session and print its id
///
/// Creates an empty session in the store. With --if-missing, prints the id of the existing session with that id or key
/// instead, so that a loop can run it for every message. With --stdout, prints the session and leaves the store unchanged.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  id=$(convo new --title 'Trip to Paris')
  convo new --id chat --system 'You are terse.'
  convo new --id review --system @rules.md --meta project=convo --alias current
  convo new --key \"$key\" --if-missing                 create it once, reuse it later
  convo key --json ... | convo new --scope @-            with the aliases of the scope")]
pub struct NewCommand {
    /// Session id [default: session_TIME_RANDOM]
    #[arg(long, value_name = "ID", help_heading = "Session")]
    id: Option<String>,
    /// Key of the session, as printed by `convo key`
    ///
    /// Unless --id is given, the id is derived from the key; otherwise the key becomes an alias.
    #[arg(long, value_name = "KEY", help_heading = "Session")]
    key: Option<String>,
    /// Identity, as printed by `convo key --json`
    ///
    /// @FILE reads it from a file, @- from standard input. Stores key and scope in the header and adds the aliases of the
    /// scope. Aliases that are ids of other sessions are skipped; an alias claimed by several sessions becomes ambiguous
    /// and is reported.
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Session")]
    scope: Option<String>,
    /// Reuse a session with this id or key if there is one
    ///
    /// Prints its id, adds missing aliases, and changes nothing else. Of concurrent calls, exactly one creates the session.
    #[arg(long, conflicts_with = "stdout", help_heading = "Session")]
    if_missing: bool,
    /// Title
    #[arg(long, value_name = "TEXT", help_heading = "Session")]
    title: Option<String>,
    /// System message, or @FILE to read it from
    #[arg(long, value_name = "TEXT|@FILE", help_heading = "Session")]
    system: Option<String>,
    /// Add a metadata member; VALUE is JSON or text (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, help_heading = "Session")]
    meta: Vec<(String, Vec<u8>)>,
    /// Store a token count with each message
    ///
    /// Counts with this tokenizer or model. Counts of later messages are stored too and reused.
    #[arg(long, value_name = "NAME", value_parser = tokenizer, help_heading = "Session")]
    tokenizer: Option<Tokenizer>,
    /// Retention policy, e.g. keep_last=5,total=10000
    ///
    /// A strategy, rolling_summary (default), truncation or none, then settings: keep_last=5 exchanges kept completely;
    /// token limits summary=1000 and total=10000 (0: unlimited); overflow=truncate_oldest, truncate_summary or error;
    /// retry_attempts=3, backoff=2s, then one attempt every rest=30s with at most backlog=20 exchanges. `append` enforces
    /// the total; `summarize --if-due` summarizes older exchanges.
    #[arg(long, alias = "memory", value_name = "POLICY", value_parser = memory, help_heading = "Session")]
    retention: Option<String>,
    /// Continue in a new session after N messages
    ///
    /// A setting of the session and of its continuations, used by `append` and `ask`. Takes precedence over `max-messages`
    /// in the configuration file. 0 means no limit.
    #[arg(long, value_name = "N", value_parser = max_messages, conflicts_with = "retention", help_heading = "Session")]
    max_messages: Option<u64>,
    /// Alias (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Session")]
    alias: Vec<String>,
    /// Print the session; do not store it
    #[arg(long, conflicts_with = "alias", help_heading = "Output")]
    stdout: bool,
    /// With --stdout, print the session on one line
    #[arg(long, requires = "stdout", hide_short_help = true, help_heading = "Output")]
    pack: bool,
    /// Print the id as a JSON object
    #[arg(long, conflicts_with = "stdout", help_heading = "Output")]
    json: bool,
}

impl Run for NewCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let now = context.clock.now();
        let keyed = KeyNames::new(
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
                return Err(Error::usage("--if-missing requires --id, --key or --scope").into());
            }
            None if self.stdout => context.free_session_id(None)?,
            None => context.free_session_id(Some(context.store_or_new()?))?,
        };
        if let Some(key) = keyed.key.as_ref().filter(|_| keyed.id().as_ref() != Some(&id))
            && !self.alias.contains(key)
        {
            self.alias.push(key.clone());
        }
        let lines = self.lines(context, &keyed, &id, &now)?;
        if self.stdout {
            return context.output.stdout(|out| {
                packing(context, self.pack.into(), out, |out| {
                    for line in &lines {
                        let written = out.write_all(line).and_then(|()| out.write_all(b"\n"));
                        written.map_err(|error| Error::io("cannot write", error))?;
                    }
                    Ok(())
                })
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
            // Another program created the session first.
            Err(error) if error.kind == ErrorKind::Exists && self.if_missing => {
                return match self.there(store, &keyed, &id)? {
                    Some(id) => self.keep(context, store, &keyed, &id),
                    None => Err(error.into()),
                };
            }
            built => built?,
        }
        let names = || {
            for alias in &self.alias {
                store
                    .alias_add(alias, &id)
                    .map_err(|error| error.hint(format!("convo alias add {alias} {id}")))?;
            }
            share(context, store, &id, &keyed.claims, true)
        };
        // The session exists now, so the error is [`ErrorKind::Unsure`]: a retry must check first.
        names().map_err(|error| Error {
            message: format!("{id}: created without its alias: {}", error.message),
            at: None,
            ..error.kind(ErrorKind::Unsure)
        })?;
        self.report(context, &id, true)
    }
}

impl NewCommand {
    /// Returns the id of an existing session with this key or id.
    fn there(&self, store: &Store, keyed: &KeyNames, id: &str) -> anyhow::Result<Option<String>> {
        if let Some(key) = &keyed.key
            && let Some(found) = store.exactly(key)?
        {
            if self.id.as_ref().is_some_and(|id| *id != found) {
                let error = Error::new(ErrorKind::Exists, format!("{key}: already names session {found}"));
                return Err(error.into());
            }
            return Ok(Some(found));
        }
        Ok(store.exactly(id)?)
    }

    /// Adds missing aliases to an existing session.
    fn keep(&self, context: &Context, store: &Store, keyed: &KeyNames, id: &str) -> anyhow::Result<()> {
        // Another program may have created the session without syncing it yet.
        store.sync_names()?;
        for alias in &self.alias {
            checked_name(alias)?;
            store.alias_add(alias, id).map_err(|error| named(error, alias))?;
        }
        share(context, store, id, &keyed.claims, false)?;
        self.report(context, id, false)
    }

    /// Prints the id of the new or existing session.
    fn report(&self, context: &Context, id: &str, created: bool) -> anyhow::Result<()> {
        if !self.json {
            return context.output.print_done(id);
        }
        let reported = serde_json::json!({
            "schema": "convo.new/1", "id": id, "created": created, "aliases": self.alias,
        });
        context.output.print_done(&reported.to_string())
    }

    /// Checks all names before anything is created, so that a taken name leaves nothing behind.
    fn refuse_taken(&self, store: &Store, keyed: &KeyNames) -> anyhow::Result<()> {
        for alias in &self.alias {
            checked_name(alias)?;
            Store::check_alias(alias)?;
            if store.alias_ids(alias)?.is_some() || (is_id(alias) && store.has(alias)?) {
                return Err(Error::new(ErrorKind::Exists, format!("{alias}: name already used")).into());
            }
        }
        // An alias equal to the key would hide the new session.
        if let Some(key) = &keyed.key
            && let Some(other) = store.exactly(key)?
        {
            let what = match *key == other {
                true => format!("{other}: session already exists"),
                false => format!("{key}: already names session {other}"),
            };
            return Err(Error::new(ErrorKind::Exists, what)
                .hint("reuse it with --if-missing")
                .into());
        }
        Ok(())
    }

    fn lines(
        &self,
        context: &Context,
        keyed: &KeyNames,
        id: &str,
        now: &str,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut header = HeaderBuilder::default();
        header
            .text("created_at", Some(now))
            .text("title", self.title.as_deref())
            .text("tokenizer", self.tokenizer.map(Tokenizer::name));
        if let Some(requested) = &self.retention {
            let memory = RetentionPolicy::default().with(requested)?;
            memory.check().map_err(|error| error.kind(ErrorKind::Usage))?;
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
