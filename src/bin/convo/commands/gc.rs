//! `gc`: moves hidden messages to the archive.

use super::Run;
use crate::args::{ALL, InputLocation, duration};
use crate::context::Context;
use crate::errors::named;
use crate::input::input_source::certain_format;
use crate::input::report_and_continue;
use crate::output::count_of;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::filter::gc;
use convo::model::time;
use convo::store::foreign::{Compaction, compact};
use convo::store::{GcOptions, Receipt};
use std::time::Duration;

/// Move hidden messages from the logs to the archive
///
/// Moves hidden messages and the events that hid them to the archive; the view is unchanged. `restore SESSION EVENT` with
/// the id of the gc event brings them back. Without names, processes all sessions. Damaged logs are skipped; repair them
/// with `fsck --repair`.
///
/// With -i, compacts a PicoClaw log in place and archives to .convo/archive/ next to it.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo gc                                 the whole store
  convo gc chat                            one session
  convo gc --older-than 30d                only messages hidden for longer
  convo gc -i sessions/telegram_42.jsonl   a PicoClaw log and its sidecar
  convo gc --discard --older-than 365d     delete permanently
  convo gc --json | jq -s 'map(.bytes.before - .bytes.after) | add'")]
pub struct GcCommand {
    /// Sessions [default: all]; with -i, PicoClaw logs
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Compact PicoClaw files in place: a .jsonl and its .meta.json
    #[arg(short, long, requires = "names", conflicts_with_all = ["older_than", "discard", "dry_run"], help_heading = "Action")]
    in_place: bool,
    /// Only messages hidden for longer than this: 12h, 30d
    ///
    /// Newer changes can still be undone one by one.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Selection")]
    older_than: Option<Duration>,
    /// Delete permanently, including earlier archives of these sessions
    #[arg(long, help_heading = "Selection")]
    discard: bool,
    /// Also delete removed sessions, older than --older-than
    #[arg(
        long,
        requires = "discard",
        conflicts_with = "names",
        help_heading = "Selection"
    )]
    trash: bool,
    /// Proceed even if another program has a log open
    #[arg(long, help_heading = "Action")]
    force: bool,
    /// Report what would be moved; change nothing
    #[arg(short = 'n', long, help_heading = "Action")]
    dry_run: bool,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for GcCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if self.names.iter().any(|name| name == ALL) {
            self.names.clear();
        }
        if self.in_place {
            for name in &self.names {
                report_and_continue(context, self.pair(context, name), self.names.len())?;
            }
            return Ok(());
        }
        let until = self.until(context)?;
        let mut ids = Vec::new();
        for name in &self.names {
            if let InputLocation::Path(_) | InputLocation::Stdin = InputLocation::of(name) {
                let error = Error::usage("gc requires stored sessions, not paths");
                return Err(named(error, name)
                    .hint("compact the log of a PicoClaw session with -i")
                    .into());
            }
            ids.push((name.clone(), context.store()?.resolve_id(name)?));
        }
        let store = context.store()?;
        if self.names.is_empty() {
            ids = store
                .ids()?
                .into_iter()
                .map(|entry| (entry.id.clone(), entry.id))
                .collect();
            ids.sort();
        }
        let mut total = (0, Receipt::default());
        for (name, id) in &ids {
            match self.one(context, id, until) {
                Ok(receipt) => {
                    self.report(context, name, id, &receipt, None)?;
                    if receipt.is_change() {
                        total.0 += 1;
                        total.1.taken += receipt.taken;
                        total.1.bytes.0 += receipt.bytes.0;
                        total.1.bytes.1 += receipt.bytes.1;
                    }
                }
                // Not an error: the session needs all of its records.
                Err(error) if error.kind == ErrorKind::No => {
                    self.report(context, name, id, &Receipt::default(), Some(&error.message))?;
                }
                // In a run over the whole store, a session may be removed in the meantime.
                Err(error) if error.kind == ErrorKind::NotFound && self.names.is_empty() => {}
                Err(error) if ids.len() > 1 => context.output.error(&named(error, name)),
                Err(error) => return Err(named(error, name).into()),
            }
        }
        if total.0 > 1 && !self.json {
            let what = format!("{}: {}", count_of(total.0, "session"), self.words(&total.1));
            context.output.notice("", &what);
        }
        if self.trash {
            let (count, bytes) = store.empty_trash(until, self.dry_run)?;
            if self.json {
                let row = serde_json::json!({
                    "schema": "convo.gc-trash/1", "sessions": count, "bytes": bytes, "dry_run": self.dry_run,
                });
                context.output.print_done(&row.to_string())?;
            } else if count > 0 {
                let done = if self.dry_run {
                    "would be deleted permanently"
                } else {
                    "deleted permanently"
                };
                context.output.notice(
                    "",
                    &format!("{}, {bytes} bytes, {done}", count_of(count, "removed session")),
                );
            }
        }
        Ok(())
    }
}

impl GcCommand {
    /// Converts `--older-than` to the latest time of records to archive, in seconds since 1970; none for any.
    fn until(&self, context: &Context) -> anyhow::Result<Option<i64>> {
        let Some(age) = self.older_than else {
            return Ok(None);
        };
        let now = time::seconds(&context.clock.now())
            .ok_or_else(|| Error::new(ErrorKind::InputOutput, "unknown system time"))?;
        Ok(Some(now.saturating_sub(
            i64::try_from(age.as_secs()).unwrap_or(i64::MAX),
        )))
    }

    /// Compacts the two files of a PicoClaw session.
    fn pair(&self, context: &Context, name: &str) -> anyhow::Result<()> {
        let InputLocation::Path(path) = InputLocation::of(name) else {
            let error = Error::usage("-i requires a file");
            return Err(named(error, name)
                .hint("omit -i to compact the stored session")
                .into());
        };
        let options = Compaction {
            lock_timeout: context.lock_timeout(),
            now: context.clock.now(),
            force: self.force,
        };
        let compacted = match certain_format(&path, None).map_err(|error| named(error, name))? {
            (Some(format), false) => compact(&path, format, &options),
            _ => Ok(None),
        };
        let Some(receipt) = compacted.map_err(|error| named(error, name))? else {
            let error = Error::usage("not the log of a PicoClaw session");
            return Err(named(error, name)
                .hint("other files have no archive; print the view with: convo context")
                .into());
        };
        let receipt = Receipt {
            lines: receipt.lines,
            bytes: receipt.bytes,
            taken: receipt.archived,
            ..Receipt::default()
        };
        self.report(context, name, name, &receipt, None)
    }

    fn one(&self, context: &Context, id: &str, until: Option<i64>) -> convo::Result<Receipt> {
        let store = context.store()?;
        let size = store.size(id)?;
        let event = context.new_id("evt_", || format!("gc {id} {size}"))?;
        let options = GcOptions {
            event: &event,
            at: &context.clock.now(),
            discard: self.discard,
            until,
            force: self.force,
            dry_run: self.dry_run,
        };
        store.gc(id, &options, |session| gc::plan(session, until))
    }

    /// Reports the result for one session.
    fn report(
        &self,
        context: &Context,
        name: &str,
        id: &str,
        receipt: &Receipt,
        left: Option<&str>,
    ) -> anyhow::Result<()> {
        if self.json {
            let pair = |(before, after): (u64, u64)| serde_json::json!({"before": before, "after": after});
            let mut row = serde_json::json!({
                "schema": "convo.gc/1", "id": id, "changed": receipt.is_change(), "taken": receipt.taken,
                "lines": pair(receipt.lines), "bytes": pair(receipt.bytes), "archive": pair(receipt.archive),
                "discard": self.discard, "dry_run": self.dry_run,
            });
            if let Some(left) = left {
                row = serde_json::json!({"schema": "convo.gc/1", "id": id, "changed": false, "left": left});
            }
            let printed = context.output.print(&row.to_string());
            return if receipt.is_change() && !self.dry_run {
                context.output.done(printed)
            } else {
                printed
            };
        }
        if let Some(left) = left {
            context.output.notice(name, left);
        } else if receipt.is_change() {
            context.output.notice(name, &self.words(receipt));
        } else {
            context
                .output
                .detail(name, "unchanged: no hidden messages to move");
        }
        Ok(())
    }

    fn words(&self, receipt: &Receipt) -> String {
        let (before, after) = receipt.bytes;
        let destroyed = receipt.archive.0.saturating_sub(receipt.archive.1);
        let verb = match (self.dry_run, self.discard) {
            (true, true) => "would delete",
            (true, false) => "would archive",
            (false, true) => "deleted",
            (false, false) => "archived",
        };
        let lines = count_of(receipt.taken, "line");
        let permanently = if self.discard { " permanently" } else { "" };
        let mut words = format!("{verb} {lines}{permanently} ({before} to {after} bytes)");
        if destroyed > 0 {
            let verb = if self.dry_run { "would delete" } else { "deleted" };
            words.push_str(&format!("; {verb} {destroyed} bytes of the archive permanently"));
        }
        words
    }
}
