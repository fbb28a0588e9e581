//! `append --stream` to a session of the store.

use super::{AppendCommand, StoredTarget};
use crate::context::Context;
use crate::edit::streaming::{BackgroundWriter, LineBatch, StreamTarget};
use crate::errors::named;
use crate::input::stdin_messages::{self, Incoming, NextLines};
use crate::output::in_line;
use crate::programs::change_hooks;
use crate::programs::counter_choice::stored_tokenizer;
use convo::error::{Error, Result};
use convo::format::packed::write_object;
use convo::format::report::Report;
use convo::model::json;
use convo::tokens::counter;
use std::sync::{PoisonError, RwLock};

/// Lines that are made durable together, and what follows when they are.
struct LineGroup {
    lot: LineBatch,
    /// For standard output.
    printed: String,
    /// For the hooks, if any.
    lines: Vec<Vec<u8>>,
}

impl AppendCommand {
    /// Appends the messages of standard input: while one group is made durable, the next one is read.
    pub(super) fn stream(&self, context: &Context, name: &str, found: &StoredTarget) -> anyhow::Result<()> {
        let mut report = Report::default();
        let store = context.store()?;
        let target = StreamTarget::open(context, name, found.limit)?;
        let id = target.id().to_string();
        let size = store.size(&id)?;
        let tokenizer = stored_tokenizer(context, counter::name_in(&store.first_line(&id)?).as_deref());
        let mut incoming = Incoming::open(context, &self.reading, self.events, &mut report)?;
        let target = RwLock::new(target);
        let target = || target.write().unwrap_or_else(PoisonError::into_inner);
        let empty = || LineGroup {
            lot: target().new_batch(),
            printed: String::new(),
            lines: Vec::new(),
        };
        let store = |group: LineGroup| {
            let placed = target().store(group.lot).map_err(|error| named(error, name))?;
            // What is printed is stored.
            if !group.printed.is_empty() {
                context.output.print_done(group.printed.trim_end_matches('\n'))?;
            }
            let mut lines = group.lines.iter().map(Vec::as_slice);
            for (id, count) in placed {
                change_hooks::after(context, name, &id, lines.by_ref().take(count));
            }
            Ok(())
        };
        let done = std::thread::scope(|scope| {
            let mut after = BackgroundWriter::new(scope);
            let mut group = empty();
            let done = incoming.each_group(&mut report, |records, next| {
                let now = context.clock.now();
                for record in records {
                    let what = || format!("{id}\n{size}\n{}", String::from_utf8_lossy(record.body));
                    let stamp = || Ok((context.new_id("msg_", what)?, Some(&now)));
                    let line = stdin_messages::stamped(record, tokenizer, stamp)?;
                    group.lot.push(record, line.as_deref());
                    self.note(context, &mut group, line.as_deref().unwrap_or(record.body))?;
                }
                if next == NextLines::Same || group.lot.is_empty() {
                    return Ok(());
                }
                after.finish()?;
                let group = std::mem::replace(&mut group, empty());
                match next {
                    NextLines::More => after.start(|| store(group)),
                    _ => store(group),
                }
            });
            after.finish().and(done)
        });
        context.output.report("-", &mut report);
        incoming.report_dropped_lines(context);
        let what = format!("acknowledged {}", target().acknowledged());
        context.output.notice(name, &what);
        done
    }

    /// Notes what follows when a line is durable.
    fn note(&self, context: &Context, group: &mut LineGroup, line: &[u8]) -> Result<()> {
        if context.hooks().is_some() {
            group.lines.push(line.to_vec());
        }
        if self.edit_args.json {
            let mut object = Vec::new();
            write_object(line, &mut object).map_err(|error| Error::io("cannot write", error))?;
            group.printed.push_str(&String::from_utf8_lossy(&object));
        } else if self.ack {
            let id = json::member_text(line, "id");
            group.printed.push_str(&in_line(id.as_deref().unwrap_or("-")));
            group.printed.push('\n');
        }
        Ok(())
    }
}
