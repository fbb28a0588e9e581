//! `append`: a message, many messages, or something that happened.

use super::Run;
use crate::args::{Changing, Input, Reading, memory, pair};
use crate::change::{self, Stamps};
use crate::context::{Context, named};
use crate::continuation::{Filling, Target};
use crate::incoming::{self, Incoming};
use crate::output::in_line;
use crate::{processed, remember};
use clap::Args;
use convo::error::{Error, Kind, Place};
use convo::filter::Plan;
use convo::format::packed::write_object;
use convo::format::report::Report;
use convo::model::json::{self, ObjectBuilder};
use convo::model::message::Category;
use convo::model::record::Record;
use convo::model::session::Session;
use convo::tokens::{Tokenizer, counter};

/// Add a message, many messages, or something that happened
///
/// With exit status 0 what was added is on stable storage. The text is the argument, or else standard input. As
/// a filter (the session is a file or -) it prints the session with the message at its end; with --from or --to
/// one operand is the text, and the session comes from standard input. With -i a file that does not exist is created: a native
/// session for the ending .jsonl, else in the format of --to.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo append chat 'Weather in Paris?'                    a user's message
  make 2>&1 | convo append chat -r user                    the text from a pipe
  convo append chat -r assistant '22 C and sunny.'
  convo append chat --event 'The build turned red.'        context, without a turn
  convo append chat --stream < messages.jsonl              many, with tool calls and results
  convo append chat --boundary 500 'And then?'             in a new session when 500 are full
  convo append - 'And tomorrow?' < in.jsonl > out.jsonl    a stream")]
pub struct Append {
    /// The session: a name, a file, or -
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    /// The text [default: standard input]
    #[arg(value_name = "TEXT", conflicts_with_all = ["stream", "event"])]
    text: Option<String>,
    /// Who speaks: user, assistant, system, tool, ...
    ///
    /// By default user. Other roles than those of OpenAI Chat are taken as they are.
    #[arg(
        short,
        long,
        value_name = "ROLE",
        default_value = "user",
        hide_default_value = true,
        help_heading = "The message"
    )]
    role: String,
    /// Append the message even if its text is empty
    #[arg(
        long,
        conflicts_with = "stream",
        hide_short_help = true,
        help_heading = "The message"
    )]
    allow_empty: bool,
    /// Something that happened: it begins no turn
    ///
    /// A message of the category context, which the model is told and need not answer.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["stream", "role"], help_heading = "The message")]
    event: Option<String>,
    /// What it is worth [default: from the role]
    ///
    /// system, context, dialog or system_output: when room is short, the last of these go first.
    #[arg(long, value_name = "CATEGORY", value_parser = category, conflicts_with = "stream", help_heading = "The message")]
    category: Option<Category>,
    /// A member of its metadata; JSON, or else text
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, conflicts_with = "stream", help_heading = "The message")]
    meta: Vec<(String, Vec<u8>)>,
    /// Add the messages of standard input as they come
    ///
    /// In any format. Lines are added as soon as they are there, in groups when they come fast.
    #[arg(long, help_heading = "The message")]
    stream: bool,
    /// With --stream: also add the events that change header or view
    ///
    /// Without it only messages and passthrough records are added; other events belong to the session that they come
    /// from, and are reported. meta, truncate, compact, summary, restore and attempt events are added; links and events
    /// about a log (link, split, gc, repair) never are, and neither is a truncate event without a message.
    #[arg(
        long,
        requires = "stream",
        hide_short_help = true,
        help_heading = "The message"
    )]
    events: bool,
    /// With --stream: print the id of each line as it becomes durable
    ///
    /// One line for each that was added, in order; `-` for one that has no id.
    #[arg(long, requires = "stream", hide_short_help = true, conflicts_with_all = ["json", "in_place", "stdout", "output", "to", "dry_run"], help_heading = "The message")]
    ack: bool,
    /// The model has seen everything, what is added included: a call is done
    ///
    /// For goaitools states, which count how many messages the model has seen: processed_length becomes the number of messages.
    /// Without it what is added is yet to be seen.
    #[arg(
        long,
        hide_short_help = true,
        conflicts_with = "ack",
        help_heading = "The message"
    )]
    processed: bool,
    /// Go on in a new session when this one has N messages
    ///
    /// As `continue` does, at the end of the chain that the name belongs to. An exchange that is not finished goes along;
    /// one that would fill a session by itself stays, and makes it longer. N must be more than what is copied.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(3..), help_heading = "The session")]
    #[arg(conflicts_with_all = ["in_place", "stdout", "output", "to", "dry_run"])]
    boundary: Option<u64>,
    /// What it is to remember from now on; see `convo new --memory`
    ///
    /// What is not said stays as the session has it: `keep_last=3` changes that alone. A PenguiFlow state has its own memory in
    /// it, and its turn is complete when the answer comes: what the user said waits for it in the file.
    #[arg(long, value_name = "WHAT", value_parser = memory, hide_short_help = true, help_heading = "The session")]
    memory: Option<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
}

/// The tokenizer by which the session keeps counts; one that is not known here keeps none.
fn known(name: Option<&str>) -> Option<Tokenizer> {
    name.and_then(|name| Tokenizer::named(name).ok())
}

/// The line with its count where the session keeps counts.
fn counted(line: Vec<u8>, name: Option<&str>) -> Vec<u8> {
    match known(name) {
        Some(tokenizer) => counter::with_tokens(line, tokenizer),
        None => line,
    }
}

fn category(name: &str) -> Result<Category, String> {
    Category::from_name(name)
        .ok_or_else(|| format!("there are {}", Category::ALL.map(Category::name).join(", ")))
}

impl Run for Append {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        // With a format named and one operand the session is piped through, and the operand is the text.
        let piped = !self.stream && (self.reading.from.is_some() || self.changing.writing.to.is_some());
        if piped
            && self.text.is_none()
            && self.event.is_none()
            && self
                .input
                .as_deref()
                .is_some_and(|input| matches!(Input::of(input), Input::Name(_)))
        {
            self.text = self.input.take();
        }
        if self.role.is_empty() {
            return Err(Error::new(Kind::Usage, "the role is empty").into());
        }
        if self.events && !self.stream {
            return Err(Error::new(Kind::Usage, "--events requires --stream").into());
        }
        let input = Input::of(self.input.as_deref().unwrap_or("-"));
        // What is hidden in a log stays in it: an addition settles nothing.
        self.changing.log = true;
        self.changing.adds = true;
        self.reading.starts = true;
        self.changing.creates = true;
        self.changing.tells = true;
        // What the model has seen is counted over the whole session.
        self.changing.sees_view = !self.processed;
        let stored = change::in_store(&input, &self.changing)
            && !self.processed
            && !self.changing.dry_run
            && self.changing.in_place.is_none();
        if self.ack && !(stored && self.stream) {
            return Err(Error::new(Kind::Usage, "--ack is for --stream into a session of the store").into());
        }
        if self.boundary.is_some() && !stored {
            let error = Error::new(Kind::Usage, "--boundary is for sessions of the store");
            return Err(error
                .hint("convo continue makes the next session of a stream")
                .into());
        }
        if self.stream {
            return self.many(context, &input, stored);
        }
        let text = incoming::text(self.event.as_ref().or(self.text.as_ref()), &input, "append")?;
        if text.trim().is_empty() && !self.allow_empty {
            let error = Error::new(Kind::Usage, "the text is empty");
            return Err(error.hint("append an empty message with --allow-empty").into());
        }
        if let (true, Input::Name(name)) = (stored, &input)
            && !self.remembers(context, name)?
        {
            return self.one(context, name, &text);
        }
        change::run(
            context,
            &[input],
            &self.reading,
            &self.changing,
            |session, stamps| {
                let line = self.message(&text, stamps)?;
                let line = counted(line, counter::named_by(session).as_deref());
                self.planned(context, session, stamps, vec![line], "1 message added")
            },
        )
    }
}

impl Append {
    /// Whether the session of this name is to be read, since it lets go of what is old when something is added.
    fn remembers(&self, context: &Context, name: &str) -> anyhow::Result<bool> {
        let store = context.store()?;
        let first = store.first_line(&store.resolve(name)?)?;
        let remembers = remember::is_asked_for(&first);
        if self.memory.is_some() && !remembers {
            let error = Error::new(Kind::Usage, "it remembers nothing by itself, and begins so");
            return Err(named(error, name)
                .hint("convo new --memory WHAT makes a session that does")
                .into());
        }
        if self.boundary.is_some() && remembers {
            let error = Error::new(
                Kind::Usage,
                "it lets go of old turns by itself, and has no boundary",
            );
            return Err(named(error, name)
                .hint("leave --boundary out; convo continue goes on in a new session")
                .into());
        }
        Ok(remembers)
    }

    /// One message for a session of the store: nothing of the session is read.
    fn one(&self, context: &Context, name: &str, text: &str) -> anyhow::Result<()> {
        context.output.speak_json(self.changing.json);
        let store = context.store()?;
        let made = |id: &str| -> convo::Result<Vec<u8>> {
            // The log's length tells an append from the one before it.
            let what = || format!("{id}\n{}\n{text}", store.size(id).unwrap_or_default());
            let line = self.line(text, &context.new_id("msg_", what)?, Some(&context.clock.now()));
            Ok(counted(line, counter::name_in(&store.first_line(id)?).as_deref()))
        };
        let line = match self.boundary {
            None => {
                let id = store.resolve(name)?;
                let line = made(&id)?;
                store.append(&id, &[&line]).map_err(|error| named(error, name))?;
                line
            }
            Some(limit) => {
                let mut filling = Filling::open(context, name, limit)?;
                loop {
                    let line = [(made(filling.id())?, true)];
                    if filling.append(&line, true).map_err(|error| named(error, name))? == 1 {
                        break line
                            .into_iter()
                            .map(|(line, _)| line)
                            .collect::<Vec<_>>()
                            .concat();
                    }
                    // It was full, and the message is one of the next session.
                    context.chance.take_back();
                }
            }
        };
        if self.changing.json {
            context.output.print_done(&String::from_utf8_lossy(&line))?;
        }
        Ok(())
    }

    /// What is added, that the model has seen it, and what makes room for it.
    fn planned(
        &self,
        context: &Context,
        session: &Session,
        stamps: &Stamps<'_>,
        mut lines: Vec<Vec<u8>>,
        told: &str,
    ) -> convo::Result<Plan> {
        if self.processed {
            lines.push(processed::event(session, &lines, stamps)?);
        }
        let asked = self.memory.as_deref();
        match remember::added_with(context, session, asked, lines, told.to_string(), stamps)? {
            // That it was added goes without saying; what had to go for it does not.
            Plan::Lines(lines, same) if same == told && !self.changing.dry_run && !self.changing.json => {
                Ok(Plan::Lines(lines, String::new()))
            }
            plan => Ok(plan),
        }
    }

    fn message(&self, text: &str, stamps: &Stamps<'_>) -> convo::Result<Vec<u8>> {
        let (id, time) = stamps.message(text)?;
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
        let happened = self.event.as_ref().map(|_| Category::Context);
        if let Some(category) = self.category.or(happened) {
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

    /// The messages of standard input.
    fn many(&self, context: &Context, input: &Input, stored: bool) -> anyhow::Result<()> {
        context.output.speak_json(self.changing.json);
        if *input == Input::Stdin {
            return Err(Error::new(
                Kind::Usage,
                "--stream reads standard input, and so does the session",
            )
            .hint("convo append NAME --stream < messages")
            .into());
        }
        let mut report = Report::default();
        if let (true, Input::Name(name)) = (stored, input)
            && !self.remembers(context, name)?
        {
            let store = context.store()?;
            let mut target = Target::open(context, name, self.boundary)?;
            let id = target.id().to_string();
            let size = store.size(&id)?;
            let tokenizer = known(counter::name_in(&store.first_line(&id)?).as_deref());
            let mut incoming = Incoming::open(context, &self.reading, self.events, &mut report)?;
            let done = incoming.each_group(&mut report, |group| {
                let mut printed = String::new();
                for record in group {
                    let what = || format!("{id}\n{size}\n{}", String::from_utf8_lossy(record.body));
                    let stamp = || Ok((context.new_id("msg_", what)?, Some(context.clock.now())));
                    let line = incoming::stamped(record, tokenizer, stamp)?;
                    target.push(record, line.as_deref())?;
                    let stored = line.as_deref().unwrap_or(record.body);
                    if self.changing.json {
                        let mut object = Vec::new();
                        write_object(stored, &mut object)
                            .map_err(|error| Error::io("cannot write", error))?;
                        printed.push_str(&String::from_utf8_lossy(&object));
                    } else if self.ack {
                        let id = json::member(stored, "id").and_then(json::text);
                        printed.push_str(&in_line(id.as_deref().unwrap_or("-")));
                        printed.push('\n');
                    }
                }
                target.flush().map_err(|error| named(error, name))?;
                // What is printed is stored.
                if printed.is_empty() {
                    Ok(())
                } else {
                    context.output.print_done(printed.trim_end_matches('\n'))
                }
            });
            context.output.report("-", &mut report);
            incoming.tell_left_out(context);
            context
                .output
                .tell(name, &format!("acknowledged {}", target.acknowledged()));
            return done;
        }
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut incoming = Incoming::open(context, &self.reading, self.events, &mut report)?;
        incoming.each_group(&mut report, |group| {
            lines.extend(group.iter().map(|record| record.body.to_vec()));
            Ok(())
        })?;
        context.output.report("-", &mut report);
        incoming.tell_left_out(context);
        // What `--from` names is the format of standard input; the session's own is detected. Nothing at all is a new one
        // of the format that is to come out.
        let is_empty = |path| std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0);
        let new = matches!(input, Input::Path(path) if is_empty(path));
        let reading = Reading {
            from: self.changing.writing.to.filter(|_| new),
            ..self.reading.clone()
        };
        change::run(
            context,
            std::slice::from_ref(input),
            &reading,
            &self.changing,
            |session, stamps| {
                let tokenizer = known(counter::named_by(session).as_deref());
                if lines.is_empty() && !self.processed {
                    return Ok(Plan::Nothing("nothing to add".to_string()));
                }
                let stamped = lines.iter().enumerate().map(|(nth, line)| {
                    let what = || format!("{nth} {}", String::from_utf8_lossy(line));
                    let record = Record::parse(line, Place { line: 1, offset: 1 });
                    let changed = incoming::stamped(&record, tokenizer, || stamps.message(&what()))?;
                    Ok(changed.unwrap_or_else(|| line.clone()))
                });
                let told = format!("{} messages added", lines.len());
                self.planned(
                    context,
                    session,
                    stamps,
                    stamped.collect::<convo::Result<_>>()?,
                    &told,
                )
            },
        )
    }
}
