//! `ask`: sends a prompt to a program and stores prompt and reply together.

mod live_output;
mod run_program;
mod store_reply;

use super::Run;
use crate::args::{
    BudgetArgs, EditArgs, InputArgs, InputLocation, TokenizerArgs, duration, max_messages, tokenizer,
};
use crate::context::Context;
use crate::edit::EditRequest;
use crate::input::{each_session, operands, stdin_messages};
use crate::output::count_of;
use crate::programs::external_program::ProgramName;
use crate::provider_request;
use clap::Args;
use convo::check::Api;
use convo::error::{Error, ErrorKind};
use convo::tokens::Tokenizer;
use run_program::PromptRequest;
use std::ffi::OsString;
use std::time::Duration;

/// Send a prompt to a model and store the reply
///
/// Appends TEXT as a user message, passes the context to the program given by --with, prints the reply, and stores prompt
/// and reply together. If the program fails, is interrupted or returns no reply, the session is unchanged and the status
/// is 69. The session is not locked meanwhile; messages appended by others are placed before the prompt.
///
/// The program reads the output of `convo context` and prints message records or plain text. Lines
/// {"type":"partial","text":"..."} are displayed but not stored; CONVO_PARTIAL=1 asks for them. If a tool call is
/// unanswered (status 1), append its result, then use --reply.
///
/// On a terminal, the reply is displayed as it arrives; otherwise, it is printed once it is stored. For a file or standard
/// input, prints the extended session instead, or rewrites the file with -i.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo ask chat 'Weather in Paris?'                         with the plugin llm
  convo ask chat 'And tomorrow?' -- --model gpt-5            with arguments for the program
  convo ask chat --with cmd:'ollama run llama3' < question   with a shell command; prompt from a file
  convo ask chat --reply                                     answer the last message
  convo ask chat 'Why?' --budget 60% --window gpt-4o         with a compacted context
  convo ask -i talk.jsonl 'And then?'                        a file
  convo ask - 'And then?' < in.jsonl > out.jsonl             a filter")]
pub struct AskCommand {
    /// Session name, file, or - for standard input
    #[arg(value_name = "INPUT")]
    input: String,
    /// Prompt [default: standard input]
    #[arg(value_name = "TEXT", conflicts_with = "reply")]
    text: Option<String>,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
    /// Program that replies: a plugin or cmd:'COMMAND' [default: llm]
    ///
    /// cmd: runs a shell command; NAME runs the plugin convo-NAME. Default: $CONVO_ASK_WITH, `ask-with` in the
    /// configuration file, or llm.
    #[arg(long, value_name = "PROGRAM", value_parser = program, help_heading = "Program")]
    with: Option<ProgramName>,
    /// Kill the program after this long [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true, help_heading = "Program")]
    timeout: Option<Duration>,
    /// Treat the program's output as plain text
    #[arg(long, hide_short_help = true, help_heading = "Program")]
    plain: bool,
    /// Request a reply without adding a message
    #[arg(long, help_heading = "Program")]
    reply: bool,
    #[command(flatten)]
    budget_args: BudgetArgs,
    /// Repair the context for this API; see `check`
    #[arg(long = "for", value_name = "API", value_parser = provider_request::api, hide_short_help = true, help_heading = "Program")]
    api: Option<Api>,
    /// Continue in a new session after N messages
    ///
    /// Like `append --max-messages`. Prompt and reply are stored in the same session. 0 means no limit.
    #[arg(long, alias = "boundary", value_name = "N", value_parser = max_messages, hide_short_help = true, help_heading = "Session")]
    #[arg(conflicts_with_all = ["in_place", "stdout", "output", "to", "dry_run"])]
    max_messages: Option<u64>,
    /// With --budget, tokenizer or model to count tokens with
    #[arg(long, value_name = "NAME", value_parser = tokenizer, requires = "budget", hide_short_help = true, help_heading = "Tokens")]
    tokenizer: Option<Tokenizer>,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
}

fn program(text: &str) -> Result<ProgramName, String> {
    ProgramName::read(text, "")
}

impl Run for AskCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.edit_args.json);
        let input = operands::input(context, &self.input)?;
        let edit = EditRequest {
            full_log: true,
            append_only: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        let stored = edit.in_store(&input) && !edit.in_place();
        if self.max_messages.is_some() && !stored {
            let error = Error::usage("--max-messages requires a stored session");
            return Err(error
                .hint("continue a file or a stream with: convo continue")
                .into());
        }
        let budget = self.budget_args.budget()?;
        if budget.is_none() && self.budget_args.window.is_some() {
            let error = Error::usage("--window requires --budget");
            return Err(error
                .hint("add --budget, e.g. --budget 60% --window gpt-4o")
                .into());
        }
        let text = match self.reply {
            true => None,
            false => Some(stdin_messages::text(self.text.as_ref(), &input, "ask")?),
        };
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let error = Error::usage("empty prompt");
            return Err(error
                .hint("give a prompt, or use --reply to answer the last message")
                .into());
        }
        let mut request = PromptRequest {
            context,
            text,
            plain: self.plain,
            budget,
            window: self.budget_args.window(),
            tokenizer_args: TokenizerArgs {
                tokenizer: self.tokenizer,
            },
            api: self.api,
            strict: self.reading.strict,
            timeout: self.timeout.unwrap_or(TIMEOUT),
            shows: stored || self.edit_args.in_place.is_some(),
            json: self.edit_args.json,
            program: None,
        };
        if self.edit_args.dry_run {
            return each_session(context, &[input], &self.reading, |label, session| {
                let sent = request.sent(&session, label)?;
                context
                    .output
                    .print(String::from_utf8_lossy(&sent).trim_end_matches('\n'))
            });
        }
        let named = match self.with.clone() {
            Some(named) => named,
            None => default(context)?,
        };
        request.program = Some(named.program(context.store_path().ok(), "plugin", &self.arguments)?);
        let count = match &input {
            InputLocation::Name(name) if stored => store_reply::in_store(request, name, self.max_messages)?,
            _ => store_reply::elsewhere(request, &input, edit)?,
        };
        context.output.detail(
            &input.label(),
            &format!("appended {}", count_of(count, "message")),
        );
        Ok(())
    }
}

/// Default time limit of a reply, including tool calls.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The program that replies if the command line names none.
fn default(context: &Context) -> convo::Result<ProgramName> {
    let Some(named) = context.default_program() else {
        return Ok(ProgramName::Plugin("llm".to_string()));
    };
    program(named).map_err(|why| {
        let what = format!("CONVO_ASK_WITH or ask-with in the configuration file: '{named}': {why}");
        Error::new(ErrorKind::Config, what)
    })
}
