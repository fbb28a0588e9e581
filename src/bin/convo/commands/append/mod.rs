//! `append`: one message, or all messages of standard input.

mod stream;

use super::Run;
use crate::args::{EditArgs, Global, InputArgs, InputLocation, category, max_messages, memory, pair, plain};
use crate::context::Context;
use crate::edit::continuation::{self, ChainWriter};
use crate::edit::{self, EditRequest, EventIds, processed, retention};
use crate::errors::named;
use crate::input::stdin_messages::{self, Incoming};
use crate::input::{InputSettings, operands};
use crate::programs::change_hooks;
use crate::programs::counter_choice::stored_tokenizer;
use clap::Args;
use convo::error::{Error, Position};
use convo::filter::Plan;
use convo::format::report::Report;
use convo::model::json::ObjectBuilder;
use convo::model::message::Category;
use convo::model::record::Record;
use convo::model::session::Session;
use convo::tokens::counter;
use std::ffi::OsString;

/// Append messages to a session
///
/// Appends one message; its text is the argument or standard input. With --stream, appends all messages read from
/// standard input, in any format. Exit status 0 means that the messages are on stable storage. If the session is a file
/// or standard input, prints the extended session, or rewrites the file with -i. With --from or --to, the session is
/// standard input and the only operand is the text.
///
/// With -i, a missing file is created: as a native session if its name ends in .jsonl, otherwise in the --to format.
#[derive(Args, Debug, Default)]
#[command(before_long_help = "Examples:
  convo append chat 'Weather in Paris?'                    a user message
  make 2>&1 | convo append chat                            text from a pipe
  convo append chat -r assistant '22 C and sunny.'
  convo append chat --event 'The build failed.'            a context message
  convo append chat --stream < messages.jsonl              many, with tool calls and results
  convo append chat --max-messages 500 'And then?'         continue after 500 messages
  convo append - 'And tomorrow?' < in.jsonl > out.jsonl    a filter")]
pub struct AppendCommand {
    /// Session name, file, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    /// Message text [default: standard input]
    #[arg(value_name = "TEXT", conflicts_with_all = ["stream", "event"])]
    text: Option<String>,
    /// Role: user, assistant, system, ... [default: user]
    ///
    /// Other roles are stored unchanged.
    #[arg(
        short,
        long,
        value_name = "ROLE",
        default_value = "user",
        hide_default_value = true,
        help_heading = "Message"
    )]
    role: String,
    /// Append the message even if its text is empty
    #[arg(
        long,
        conflicts_with = "stream",
        hide_short_help = true,
        help_heading = "Message"
    )]
    allow_empty: bool,
    /// Append a context message that needs no reply
    ///
    /// The message has the category context and does not start an exchange.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["stream", "role"], help_heading = "Message")]
    event: Option<String>,
    /// Category of the message [default: from the role]
    ///
    /// system, context, dialog or system_output. `compact` drops the last of these first.
    #[arg(long, value_name = "CATEGORY", value_parser = category, conflicts_with = "stream", help_heading = "Message")]
    category: Option<Category>,
    /// Add a metadata member; VALUE is JSON or text (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, conflicts_with = "stream", help_heading = "Message")]
    meta: Vec<(String, Vec<u8>)>,
    /// Append the messages read from standard input
    ///
    /// In any format, as they arrive, in batches if they arrive fast.
    #[arg(long, help_heading = "Message")]
    stream: bool,
    /// With --stream, also append events that change the header or the view
    ///
    /// Appends meta, truncate, compact, summary, restore and attempt events. Never appends events about a log (link,
    /// split, gc, repair) or truncate events without a message. Without --events, appends only messages and passthrough
    /// records, and reports the events that it skips.
    #[arg(long, requires = "stream", hide_short_help = true, help_heading = "Message")]
    events: bool,
    /// With --stream, print each id once its message is durable
    ///
    /// One line per message, in order; - if it has no id.
    #[arg(long, requires = "stream", hide_short_help = true, conflicts_with_all = ["json", "in_place", "stdout", "output", "to", "dry_run"], help_heading = "Message")]
    ack: bool,
    /// Mark all messages as processed by the model (goaitools)
    ///
    /// Sets processed_length to the number of messages.
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with = "ack",
        help_heading = "Message"
    )]
    processed: bool,
    /// Continue in a new session after N messages
    ///
    /// Appends to the last session of the chain. An unfinished exchange moves along; an exchange larger than N is not divided. N must
    /// exceed the number of copied messages. Default: the session's own setting (`convo new --max-messages`), or `max-messages` in the
    /// configuration file, or no limit. 0 means no limit.
    #[arg(long, alias = "boundary", value_name = "N", value_parser = max_messages, help_heading = "Session")]
    #[arg(conflicts_with_all = ["in_place", "stdout", "output", "to", "dry_run"])]
    max_messages: Option<u64>,
    /// Change the retention policy
    ///
    /// Settings that are not given are unchanged. See `convo new --retention`. A PenguiFlow state contains its own policy; a
    /// user message is kept in the file until its reply completes the exchange.
    #[arg(long, alias = "memory", value_name = "POLICY", value_parser = memory, hide_short_help = true, help_heading = "Session")]
    retention: Option<String>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
}

/// A session of the store to append to.
struct StoredTarget {
    id: String,
    header: Vec<u8>,
    /// Most messages before it is continued.
    limit: Option<u64>,
}

/// The line with its count where the session keeps counts.
fn with_count(context: &Context, line: Vec<u8>, name: Option<&str>) -> Vec<u8> {
    match stored_tokenizer(context, name) {
        Some(tokenizer) => counter::with_tokens(line, tokenizer),
        None => line,
    }
}

impl Run for AppendCommand {
    fn plain(given: &[OsString]) -> Option<(AppendCommand, Global)> {
        let line = plain(given, ["-r", "--role"], "--json")?;
        let mut operands = line.operands.iter().map(|operand| operand.to_string());
        let mut append = AppendCommand {
            input: operands.next(),
            text: operands.next(),
            role: line.value.unwrap_or("user").to_string(),
            ..AppendCommand::default()
        };
        append.edit_args.json = line.flag;
        operands.next().is_none().then(|| (append, line.global()))
    }

    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        // With a format option and one operand, the session is standard input and the operand is the text.
        let piped = !self.stream && (self.reading.from.is_some() || self.edit_args.writing.to.is_some());
        if piped
            && self.text.is_none()
            && self.event.is_none()
            && self
                .input
                .as_deref()
                .is_some_and(|input| matches!(InputLocation::of(input), InputLocation::Name(_)))
        {
            self.text = self.input.take();
        }
        if self.role.is_empty() {
            return Err(Error::usage("--role: expected a role, e.g. user").into());
        }
        if self.events && !self.stream {
            return Err(Error::usage("--events requires --stream").into());
        }
        let input = operands::input(context, self.input.as_deref().unwrap_or("-"))?;
        // Hidden messages remain in the log: an append does not materialize the view.
        let edit = EditRequest {
            full_log: true,
            append_only: true,
            creates: true,
            reports: true,
            // The number of processed messages is counted over the whole session.
            view_only: !self.processed,
            reading: InputSettings {
                creates: true,
                ..(&self.reading).into()
            },
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        let reading = match input {
            InputLocation::Stdin => self.reading.clone(),
            _ => InputArgs::default(),
        };
        let edit = edit.resolve(std::slice::from_ref(&input), &reading)?;
        let stored = edit.in_store(&input)
            && !self.processed
            && !self.edit_args.dry_run
            && self.edit_args.in_place.is_none();
        if self.ack && !(stored && self.stream) {
            return Err(Error::usage("--ack requires --stream and a stored session").into());
        }
        if self.max_messages.is_some() && !stored {
            let error = Error::usage("--max-messages requires a stored session");
            return Err(error
                .hint("continue a file or a stream with: convo continue")
                .into());
        }
        if self.stream {
            return self.many(context, &input, edit, stored);
        }
        let text = stdin_messages::text(self.event.as_ref().or(self.text.as_ref()), &input, "append")?;
        if text.trim().is_empty() && !self.allow_empty {
            let error = Error::usage("empty message");
            return Err(error.hint("append an empty message with --allow-empty").into());
        }
        if let (true, InputLocation::Name(name)) = (stored, &input)
            && let Some(found) = self.found(context, name)?
        {
            return self.one(context, name, &text, &found);
        }
        edit::run(context, &[input], edit, |session, event_ids| {
            let line = self.message(&text, event_ids)?;
            let line = with_count(context, line, counter::named_by(session).as_deref());
            self.planned(context, session, event_ids, vec![line], "appended 1 message")
        })
    }
}

impl AppendCommand {
    /// The session of this name. None when all of it has to be read, since it lets go of what is old when something is added.
    fn found(&self, context: &Context, name: &str) -> anyhow::Result<Option<StoredTarget>> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        let first = store.first_line(&id)?;
        let remembers = retention::is_requested(&first);
        if self.retention.is_some() && !remembers {
            let error = Error::usage("--retention requires a session with a retention policy");
            return Err(named(error, name)
                .hint("create one with: convo new --retention POLICY")
                .into());
        }
        if !remembers {
            return Ok(Some(StoredTarget {
                limit: continuation::limit(context, self.max_messages, &first),
                header: first,
                id,
            }));
        }
        match self.max_messages {
            None | Some(0) => Ok(None),
            Some(_) => Err(continuation::limit_conflicts_with_retention(name).into()),
        }
    }

    /// One message for a session of the store: nothing of the session is read.
    fn one(&self, context: &Context, name: &str, text: &str, found: &StoredTarget) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.edit_args.json);
        let store = context.store()?;
        let built = |id: &str, header: &[u8]| -> convo::Result<Vec<u8>> {
            // The log's length tells an append from the one before it.
            let what = || format!("{id}\n{}\n{text}", store.size(id).unwrap_or_default());
            let line = self.line(text, &context.new_id("msg_", what)?, Some(&context.clock.now()));
            Ok(with_count(context, line, counter::name_in(header).as_deref()))
        };
        let (id, line) = match found.limit {
            None => {
                let line = built(&found.id, &found.header)?;
                store
                    .append(&found.id, &[&line])
                    .map_err(|error| named(error, name))?;
                (found.id.clone(), line)
            }
            Some(limit) => {
                let mut filling = ChainWriter::open(context, name, limit)?;
                loop {
                    let header = store.first_line(filling.id())?;
                    let line = [(built(filling.id(), &header)?, true)];
                    if filling.append(&line, true).map_err(|error| named(error, name))? == 1 {
                        let [(line, _)] = line;
                        break (filling.id().to_string(), line);
                    }
                    // The session was full, so the message belongs to the next one.
                    context.chance.take_back();
                }
            }
        };
        if self.edit_args.json {
            context.output.print_done(&String::from_utf8_lossy(&line))?;
        }
        change_hooks::after(context, name, &id, [line.as_slice()]);
        Ok(())
    }

    /// Plans the new messages, the processed mark, and the changes of the retention policy.
    fn planned(
        &self,
        context: &Context,
        session: &Session,
        event_ids: &EventIds<'_>,
        mut lines: Vec<Vec<u8>>,
        reported: &str,
    ) -> convo::Result<Plan> {
        if self.processed {
            lines.push(processed::event(session, &lines, event_ids)?);
        }
        let requested = self.retention.as_deref();
        match retention::added_with(
            context,
            session,
            requested,
            lines,
            reported.to_string(),
            event_ids,
        )? {
            // A plain append prints nothing; changes by the retention policy are reported.
            Plan::Lines(lines, same)
                if same == reported && !self.edit_args.dry_run && !self.edit_args.json =>
            {
                Ok(Plan::Lines(lines, String::new()))
            }
            plan => Ok(plan),
        }
    }

    fn message(&self, text: &str, event_ids: &EventIds<'_>) -> convo::Result<Vec<u8>> {
        let (id, time) = event_ids.message(text)?;
        Ok(self.line(text, &id, time.as_deref()))
    }

    fn line(&self, text: &str, id: &str, time: Option<&str>) -> Vec<u8> {
        let mut message = ObjectBuilder::default();
        message
            .text("role", &self.role)
            .text("content", text)
            .text("id", id);
        if let Some(time) = time {
            message.text("timestamp", time);
        }
        let event_category = self.event.as_ref().map(|_| Category::Context);
        if let Some(category) = self.category.or(event_category) {
            message.text("category", category.name());
        }
        if !self.meta.is_empty() {
            let mut metadata = ObjectBuilder::default();
            for (name, value) in &self.meta {
                metadata.raw(name, value);
            }
            message.raw("metadata", metadata.finish());
        }
        message.finish()
    }

    /// Appends the messages of standard input.
    fn many(
        &self,
        context: &Context,
        input: &InputLocation,
        edit: EditRequest<'_>,
        stored: bool,
    ) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.edit_args.json);
        if *input == InputLocation::Stdin {
            return Err(
                Error::usage("--stream conflicts with a session on standard input")
                    .hint("give a session: convo append NAME --stream < messages")
                    .into(),
            );
        }
        let mut report = Report::default();
        if let (true, InputLocation::Name(name)) = (stored, input)
            && let Some(found) = self.found(context, name)?
        {
            return self.stream(context, name, &found);
        }
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut incoming = Incoming::open(context, &self.reading, self.events, &mut report)?;
        incoming.each_group(&mut report, |group, _| {
            lines.extend(group.iter().map(|record| record.body.to_vec()));
            Ok(())
        })?;
        context.output.report("-", &mut report);
        incoming.report_dropped_lines(context);
        // `--from` is the format of standard input; the format of the session is detected. An empty file becomes a new
        // session in the output format.
        let is_empty = |path| std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0);
        let new = matches!(input, InputLocation::Path(path) if is_empty(path));
        let args = InputArgs {
            from: edit.to.filter(|_| new),
            ..self.reading.clone()
        };
        let reading = InputSettings {
            args: &args,
            ..edit.reading
        };
        let edit = EditRequest { reading, ..edit };
        edit::run(
            context,
            std::slice::from_ref(input),
            edit,
            |session, event_ids| {
                let tokenizer = stored_tokenizer(context, counter::named_by(session).as_deref());
                if lines.is_empty() && !self.processed {
                    return Ok(Plan::Nothing("no messages to append".to_string()));
                }
                let stamped = lines.iter().enumerate().map(|(nth, line)| {
                    let what = || format!("{nth} {}", String::from_utf8_lossy(line));
                    let record = Record::parse(line, Position { line: 1, offset: 1 });
                    let changed = stdin_messages::stamped(&record, tokenizer, || event_ids.message(&what()))?;
                    Ok(changed.unwrap_or_else(|| line.clone()))
                });
                let stamped = stamped.collect::<convo::Result<_>>()?;
                let what = format!("appended {} messages", lines.len());
                self.planned(context, session, event_ids, stamped, &what)
            },
        )
    }
}

#[cfg(test)]
mod tests;
