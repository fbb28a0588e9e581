//! `ask`: a question and its answer, both or neither.

mod asking;
mod keep;
mod shown;

use super::Run;
use crate::args::{Changing, Counting, Fitting, Input, Reading, duration, max_messages, tokenizer};
use crate::change;
use crate::context::Context;
use crate::inputs::each_session;
use crate::output::counted;
use crate::program::Named;
use crate::{incoming, sending};
use asking::Asking;
use clap::Args;
use convo::check::Api;
use convo::error::{Error, Kind};
use convo::tokens::Tokenizer;
use std::ffi::OsString;
use std::time::Duration;

/// Say something to a model and keep what it answers, both or neither
///
/// The program behind --with is given what `context` prints of the session, with the user's message at its end; what it
/// answers is checked, stored behind that message in one piece, and printed. When it fails, or gives no reply, or is
/// interrupted, the session stays as it is, to the byte, with status 69. No session is locked while it thinks: what is added
/// meanwhile stays, and stands before the question.
///
/// The program prints the messages of its reply one a line, as `cat` prints them: the assistant's, its tool calls with
/// their results. Lines such as {"type":"partial","text":"..."} between them are shown and not kept; it is asked for them by
/// CONVO_PARTIAL=1 in its environment. What does not begin with { is a text, and is the reply as it is.
///
/// On a terminal the reply is shown as it comes; otherwise it is printed when it is stored. In a stream it stands behind the
/// question, and is not printed by itself.
///
/// A session that waits for the result of a tool call is not asked anything (status 1): append the result, then --reply. One
/// that ends with a question without an answer is given the new one behind it; --reply asks for the answer alone.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo ask chat 'Weather in Paris?'                         the plugin llm, whose model is in its own settings
  convo ask chat 'And tomorrow?' -- --model gpt-5            what stands behind -- is for the program
  convo ask chat --with cmd:'ollama run llama3' < question   any program, and the text from a pipe
  convo ask chat --reply                                     when the question stands there already
  convo ask chat 'Why?' --budget 60% --window gpt-4o         it is given what fits
  convo ask -i talk.jsonl 'And then?'                        a file
  convo ask - 'And then?' < in.jsonl > out.jsonl             a stream")]
pub struct Ask {
    /// The session: a name, a file, or -
    #[arg(value_name = "INPUT")]
    input: String,
    /// What the user says [default: standard input]
    #[arg(value_name = "TEXT", conflicts_with = "reply")]
    text: Option<String>,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
    /// Who answers: a plugin, or cmd:'PROGRAM' [default: llm]
    ///
    /// A program of cmd: is run by the shell; the plugin NAME is the program convo-NAME. By default $CONVO_ASK_WITH, or what
    /// the config file names as `ask-with`, or llm.
    #[arg(long, value_name = "WHO", value_parser = who, help_heading = "The program")]
    with: Option<Named>,
    /// How long it may take; then it is ended [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true, help_heading = "The program")]
    timeout: Option<Duration>,
    /// What it prints is text, also when it begins with {
    #[arg(long, hide_short_help = true, help_heading = "The program")]
    plain: bool,
    /// Add no message: ask for the reply to what stands there
    #[arg(long, help_heading = "What to do")]
    reply: bool,
    #[command(flatten)]
    fitting: Fitting,
    /// Give it what this interface would not refuse; see `check`
    #[arg(long = "for", value_name = "API", value_parser = sending::api, hide_short_help = true, help_heading = "What to do")]
    api: Option<Api>,
    /// Continue in a new session after N messages
    ///
    /// As with `append`, at the end of the chain that the name belongs to. Question and answer are kept together. 0 is no limit.
    #[arg(long, alias = "boundary", value_name = "N", value_parser = max_messages, hide_short_help = true, help_heading = "The session")]
    #[arg(conflicts_with_all = ["in_place", "stdout", "output", "to", "dry_run"])]
    max_messages: Option<u64>,
    /// With --budget: count as this tokenizer or model does
    #[arg(long, value_name = "NAME", value_parser = tokenizer, requires = "budget", hide_short_help = true, help_heading = "What to do")]
    tokenizer: Option<Tokenizer>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
}

fn who(text: &str) -> Result<Named, String> {
    Named::read(text, "")
}

impl Run for Ask {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.changing.json);
        let input = Input::of(&self.input);
        self.changing.log = true;
        self.changing.adds = true;
        let stored = change::in_store(&input, &self.changing) && self.changing.in_place.is_none();
        if self.max_messages.is_some() && !stored {
            let error = Error::new(Kind::Usage, "--max-messages is for sessions of the store");
            return Err(error
                .hint("convo continue makes the next session of a stream")
                .into());
        }
        let budget = self.fitting.budget()?;
        if budget.is_none() && self.fitting.window.is_some() {
            let error = Error::new(Kind::Usage, "--window is for --budget");
            return Err(error.hint("--budget 60% --window gpt-4o").into());
        }
        let text = match self.reply {
            true => None,
            false => Some(incoming::text(self.text.as_ref(), &input, "ask")?),
        };
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let error = Error::new(Kind::Usage, "the text is blank");
            return Err(error
                .hint("--reply asks for the reply to what stands there")
                .into());
        }
        let mut asking = Asking {
            context,
            text,
            plain: self.plain,
            budget,
            window: self.fitting.window(),
            counting: Counting {
                tokenizer: self.tokenizer,
            },
            api: self.api,
            strict: self.reading.strict,
            timeout: self.timeout.unwrap_or(TIMEOUT),
            shows: stored || self.changing.in_place.is_some(),
            json: self.changing.json,
            program: None,
        };
        if self.changing.dry_run {
            return each_session(context, &[input], &self.reading, |label, session| {
                let sent = asking.sent(&session, label)?;
                context
                    .output
                    .print(String::from_utf8_lossy(&sent).trim_end_matches('\n'))
            });
        }
        let named = match self.with.clone() {
            Some(named) => named,
            None => default(context)?,
        };
        asking.program = Some(named.program(context, "plugin", &self.arguments)?);
        let count = match &input {
            Input::Name(name) if stored => keep::in_store(asking, name, self.max_messages)?,
            _ => keep::elsewhere(asking, &input, &self.reading, &self.changing)?,
        };
        context
            .output
            .detail(&input.label(), &format!("{} added", counted(count, "message")));
        Ok(())
    }
}

/// How long a model may think, its tools included.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Who answers when the command line does not say.
fn default(context: &Context) -> convo::Result<Named> {
    let Some(named) = context.ask_with() else {
        return Ok(Named::Plugin("llm".to_string()));
    };
    who(named).map_err(|why| {
        let what = format!("CONVO_ASK_WITH or ask-with in the config file: {named:?}: {why}");
        Error::new(Kind::Config, what)
    })
}
