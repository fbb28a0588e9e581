//! Options shared by commands. Parsing opens no files.

mod damage;
mod following;
mod message_conditions;
mod packing;
mod pages;
mod plain;
mod scope;
mod selecting;
mod times;
mod token_args;

use crate::output::{Color, Diagnostics};
use crate::programs::counter_program;
use clap::Args;
use convo::error::Error;
use convo::format::Format;
use convo::model::json::quoted;
use convo::model::retention::RetentionPolicy;
pub use convo::model::time::duration;
use convo::tokens::Tokenizer;
pub use damage::DamageArgs;
pub use following::Following;
pub use message_conditions::MessageConditions;
pub use packing::PackArgs;
pub use pages::PageArgs;
pub use plain::plain;
pub use scope::{SessionScope, named_program, of_format, program_of, project_of, unknown_program};
pub use selecting::{Selecting, category};
use std::path::PathBuf;
use std::time::Duration;
pub use times::{TimeOptions, TimeStyle};
pub use token_args::{BudgetArgs, Window, per_cent, tokens, window};

// Options of every command. No doc comment: clap would use it as the description of each command that flattens them.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Store directory
    ///
    /// Default: $CONVO_STORE, the configuration file, or $XDG_DATA_HOME/convo.
    #[arg(long, value_name = "DIR", global = true, value_hint = clap::ValueHint::DirPath)]
    pub store: Option<PathBuf>,
    /// Configuration file
    ///
    /// Default: $CONVO_CONFIG, or $XDG_CONFIG_HOME/convo/config.toml if it exists.
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Ignore the configuration file
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "config")]
    pub no_config: bool,
    /// Maximum wait for a lock, e.g. 500ms, 10s, 1m [default: 10s]
    #[arg(long, value_name = "TIME", global = true, hide_short_help = true, value_parser = duration)]
    pub lock_timeout: Option<Duration>,
    /// Print only errors and damage reports
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Use colors: auto, always, never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub color: Option<Color>,
    /// Print diagnostics as text or json [default: text]
    ///
    /// json: one object per line on standard error. Implied by --json.
    #[arg(
        long,
        value_name = "FORM",
        global = true,
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub diagnostics: Option<Diagnostics>,
    /// Do not use a pager
    #[arg(long, global = true, hide_short_help = true)]
    pub no_pager: bool,
}

/// The input.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Input format [default: detected]
    #[arg(short, long, value_name = "FORMAT", value_parser = readable)]
    pub from: Option<Format>,
    /// Select one session of the input
    ///
    /// By number in input order, from 1, or by id. A session without id is called FILE#N. With -i, the other sessions
    /// are unchanged.
    #[arg(long, value_name = "N|ID", hide_short_help = true)]
    pub session: Option<String>,
    /// Read a branch or sidechain instead of the active branch
    ///
    /// Includes the messages before the branch point. Numbers are those of the skipped branches. `--session ID` reads
    /// only the messages of the branch itself.
    #[arg(
        long,
        value_name = "N|ID",
        hide_short_help = true,
        conflicts_with = "all_branches"
    )]
    pub branch: Option<String>,
    /// Also read branches and sidechains, each as a session
    ///
    /// By default, only the active branch is read and skipped branches are reported.
    #[arg(long, hide_short_help = true)]
    pub all_branches: bool,
    /// Fail on damaged lines and on lossy conversion
    #[arg(long, conflicts_with = "damage_ok")]
    pub strict: bool,
    #[command(flatten)]
    pub _damage: DamageArgs,
    /// Require a goaitools state of this provider
    ///
    /// The name must match exactly. An empty state is assigned to the provider.
    #[arg(long, value_name = "NAME", hide = true)]
    pub expect_provider: Option<String>,
}

/// Extent of the input.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct ChainArgs {
    /// Include all sessions of the chain, each message once
    #[arg(long)]
    pub chain: bool,
}

/// Destination and format of the output.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Output format, or `same` [default: native]
    ///
    /// same is the format of the first input. Without --to, an output file that ends in .md or .html is a page.
    #[arg(short, long, value_name = "FORMAT", value_parser = target)]
    pub to: Option<TargetFormat>,
    #[command(flatten)]
    pub packing: PackArgs,
    /// Write to FILE, replacing it atomically
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// With --to markdown, show remote images
    ///
    /// By default, they are links: the server of an image learns who opens the page.
    #[arg(long, requires = "to", hide_short_help = true)]
    pub images: bool,
}

/// Options of commands that change sessions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct EditArgs {
    #[command(flatten)]
    pub writing: OutputArgs,
    /// Rewrite the input file; keep the original as FILE+SUFFIX
    ///
    /// The file is replaced atomically and keeps its format. Without SUFFIX, no backup is kept.
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["output", "damage_ok"])]
    pub in_place: Option<String>,
    /// With -i, rewrite a file that is open elsewhere, hard-linked or not yours
    #[arg(long, requires = "in_place", hide_short_help = true)]
    pub force: bool,
    /// Print the result; do not change the store
    #[arg(long, conflicts_with = "in_place")]
    pub stdout: bool,
    /// Print the planned change; change nothing
    #[arg(short = 'n', long, conflicts_with = "output")]
    pub dry_run: bool,
    /// Print the result as JSON Lines
    ///
    /// Diagnostics on standard error are JSON objects too. If the result is a session, only they change.
    #[arg(long)]
    pub json: bool,
}

/// Token counting.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tokens")]
pub struct TokenizerArgs {
    /// Tokenizer or model to count tokens with
    ///
    /// An encoding (o200k_base, cl100k_base, ...), an estimate (chars4, ...), a model (gpt-4o, claude-sonnet-4-5, ...) or
    /// cmd:'COMMAND'. The command runs once in the shell, reads one JSON string per line, and prints the number of tokens
    /// of each. Default: $CONVO_TOKENIZER, the configuration file, the session header, or o200k_base.
    #[arg(long, value_name = "NAME", value_parser = tokenizer)]
    pub tokenizer: Option<Tokenizer>,
}

/// Parses the name of a tokenizer or a model.
pub fn tokenizer(name: &str) -> Result<Tokenizer, String> {
    counter_program::tokenizer(name).map_err(|error| match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    })
}

/// Parses the message limit of a session; 0 is none.
pub fn max_messages(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(1 | 2) | Err(_) => Err("expected 0 (no limit) or a number from 3".to_string()),
        Ok(limit) => Ok(limit),
    }
}

/// Validates a retention policy and returns it unchanged; missing settings may be configured elsewhere.
pub fn memory(text: &str) -> Result<String, String> {
    match RetentionPolicy::default().with(text) {
        Ok(_) => Ok(text.to_string()),
        Err(error) => Err(match error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message,
        }),
    }
}

/// The location of a session, derived from the operand alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLocation {
    /// Standard input.
    Stdin,
    /// A file.
    Path(PathBuf),
    /// The name of a stored session.
    Name(String),
    /// A session in another program's database: the name as given, the path of the database, and the id in it.
    Row(String, PathBuf, String),
}

/// The operand for every session of the store.
pub const ALL: &str = "@all";

/// File name suffixes that make an operand a path.
const ENDINGS: [&str; 12] = [
    ".json", ".jsonl", ".ndjson", ".md", ".yaml", ".yml", ".db", ".txt", ".zip", ".gz", ".zst", ".b64",
];

impl InputLocation {
    /// Classifies an operand.
    pub fn of(operand: &str) -> InputLocation {
        if operand == "-" {
            InputLocation::Stdin
        } else if is_path(operand) {
            InputLocation::Path(operand.into())
        } else {
            InputLocation::Name(operand.to_string())
        }
    }

    /// The name of the input in messages.
    pub fn label(&self) -> String {
        match self {
            InputLocation::Stdin => "-".to_string(),
            InputLocation::Path(path) => crate::output::path_name(path),
            InputLocation::Name(name) | InputLocation::Row(name, ..) => name.clone(),
        }
    }
}

fn is_path(operand: &str) -> bool {
    operand.contains('/') || ENDINGS.iter().any(|ending| operand.ends_with(ending))
}

/// Rejects a new name that would be read as a path or as standard input.
pub fn checked_name(name: &str) -> convo::Result<&str> {
    if name == "-" || is_path(name) {
        return Err(Error::usage(format!("{name}: invalid name: looks like a path"))
            .hint("use a name without '/' and without an extension such as .json"));
    }
    Ok(name)
}

fn format(name: &str, fit: impl Fn(Format) -> bool) -> Result<Format, String> {
    const LIST: &str = "list formats with: convo detect --help";
    let name = if name == "md" {
        Format::Markdown.name()
    } else {
        name
    };
    match Format::from_name(name) {
        Some(format) if fit(format) => Ok(format),
        Some(known) if known.is_read() => Err(match known.spec().refuses {
            Some(why) => format!("read-only format: {why}; {LIST}"),
            None => format!("read-only format; {LIST}"),
        }),
        Some(_) => Err(format!("write-only format; {LIST}")),
        None => {
            let near = |known: &&str| known.contains(name) || strsim::damerau_levenshtein(known, name) <= 2;
            let fitting = Format::ALL.into_iter().filter(|format| fit(*format));
            let near: Vec<&str> = fitting.map(Format::name).filter(near).collect();
            Err(match near.as_slice() {
                [] => format!("unknown format; {LIST}"),
                near => format!("unknown format; did you mean '{}'?", near.join("' or '")),
            })
        }
    }
}

/// Parses the name of a readable format.
pub fn readable(name: &str) -> Result<Format, String> {
    format(name, Format::is_read)
}

/// Parses the name of a writable format.
pub fn writable(name: &str) -> Result<Format, String> {
    format(name, Format::is_written)
}

/// The output format as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFormat {
    /// The format of the first input.
    Same,
    Format(Format),
}

fn target(name: &str) -> Result<TargetFormat, String> {
    match name {
        "same" => Ok(TargetFormat::Same),
        name => writable(name).map(TargetFormat::Format),
    }
}

/// Parses a `key=value` pair; the value is JSON if it parses as JSON, otherwise text.
pub fn pair(text: &str) -> Result<(String, Vec<u8>), String> {
    let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    if name.is_empty() {
        return Err("expected KEY=VALUE; the key is empty".to_string());
    }
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(value).is_ok();
    let raw = if is_json {
        value.trim().as_bytes().to_vec()
    } else {
        quoted(value)
    };
    Ok((name.to_string(), raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_names_paths_or_standard_input() {
        assert_eq!(InputLocation::of("-"), InputLocation::Stdin);
        assert_eq!(InputLocation::of("chat"), InputLocation::Name("chat".into()));
        assert_eq!(
            InputLocation::of("agent:main:main"),
            InputLocation::Name("agent:main:main".into())
        );
        for path in ["./chat", "a/b", "x.jsonl", "notes.md", "../x"] {
            assert_eq!(InputLocation::of(path), InputLocation::Path(path.into()));
        }
    }

    #[test]
    fn times_and_pairs() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(604_800)));
        assert!(
            duration("soon").is_err() && duration("").is_err() && duration("99999999999999999d").is_err()
        );
        assert_eq!(pair("a=1").unwrap().1, b"1");
        assert_eq!(pair("a=b c").unwrap().1, b"\"b c\"");
        assert!(pair("a").is_err());
    }
}
