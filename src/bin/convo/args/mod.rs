//! Options that verbs share. Parsing is pure: nothing is opened here.

mod amounts;
mod selecting;
mod times;

use crate::counter_program;
use crate::output::Color;
pub use amounts::{Fitting, Window, per_cent, tokens, window};
use clap::Args;
use convo::error::{Error, Kind};
use convo::format::Format;
use convo::model::memory::Memory;
use convo::tokens::Tokenizer;
pub use selecting::{Selecting, category};
use std::path::PathBuf;
use std::time::Duration;
pub use times::{When, when};

// Options of every verb. No doc comment, which would become the description of the command that takes them.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// Directory of the store
    ///
    /// By default $CONVO_STORE, or what the config file names, or $XDG_DATA_HOME/convo.
    #[arg(long, value_name = "DIR", global = true, value_hint = clap::ValueHint::DirPath)]
    pub store: Option<PathBuf>,
    /// Read this config file
    ///
    /// By default $CONVO_CONFIG, or $XDG_CONFIG_HOME/convo/config.toml where it is there.
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Read no config file
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "config")]
    pub no_config: bool,
    /// How long to wait for a lock: 500ms, 10s, 1m [default: 10s]
    #[arg(long, value_name = "TIME", global = true, hide_short_help = true, value_parser = duration)]
    pub lock_timeout: Option<Duration>,
    /// Only errors and damage on standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// More on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colour: auto, always, never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub color: Option<Color>,
}

/// What is read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct Reading {
    /// Format of the input [default: detected]
    #[arg(short, long, value_name = "FORMAT", value_parser = readable)]
    pub from: Option<Format>,
    /// Of many sessions in an input this one: its number, or its id
    ///
    /// Sessions are numbered from 1, as they stand in the input; one without an id has the name of the file, # and its
    /// number for one. With -i the other sessions stay as they are.
    #[arg(long, value_name = "N|ID", hide_short_help = true)]
    pub session: Option<String>,
    /// The nth branch or sidechain of the session, or the one of this id, instead of the course that was taken
    ///
    /// A branch comes with what was said ahead of it. Numbers are those of the sessions that are left out otherwise;
    /// `--session ID` takes one as it stands, without what is ahead of it.
    #[arg(
        long,
        value_name = "N|ID",
        hide_short_help = true,
        conflicts_with = "all_branches"
    )]
    pub branch: Option<String>,
    /// The branches and sidechains too, each as a session of its own
    ///
    /// Of a file in which another program keeps what was edited, tried again or done aside, the course that was
    /// taken is read, and what is left out is told.
    #[arg(long, hide_short_help = true)]
    pub all_branches: bool,
    // Whether nothing is left out unless that is asked for: a verb's own choice.
    #[arg(skip)]
    pub takes_all: bool,
    // Whether an empty input is a new session of the format that --from names: a command's own choice.
    #[arg(skip)]
    pub starts: bool,
    // Whether sessions go into a format that another program reads, so that what is left out is lost: a verb's own choice.
    #[arg(skip)]
    pub exports: bool,
    // Whether what is read may go back into its own format: a verb's own choice.
    #[arg(skip)]
    pub returns: bool,
    /// Stop at the first damaged line
    #[arg(long)]
    pub strict: bool,
    /// Refuse what is no goaitools state of this provider
    ///
    /// Names are compared byte for byte. A state that is empty yet becomes one of this provider.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub expect_provider: Option<String>,
    // Whether the view alone is looked at, so that the rest of a stored log need not be read: a verb's own choice.
    #[arg(skip)]
    pub sees_view: bool,
}

/// How far is read.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Input")]
pub struct Chained {
    /// With the whole chain that the session is in, each message once
    #[arg(long)]
    pub chain: bool,
}

/// Where a changed session goes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Writing {
    /// Format of the output [default: native]
    #[arg(short, long, value_name = "FORMAT", value_parser = writable)]
    pub to: Option<Format>,
    /// Each session as one line, for tools that tear lines apart
    ///
    /// Such a line is read as the session that it holds, by every verb.
    #[arg(long, hide_short_help = true)]
    pub pack: bool,
    /// Write to this file, whole or not at all
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// With --to markdown: pages show images of the web
    ///
    /// Without it they are links: a server that has an image learns who opens the page, and what its address holds.
    #[arg(long, requires = "to", hide_short_help = true)]
    pub images: bool,
}

impl Writing {
    /// Refuses options that would have no effect.
    pub fn check(&self) -> convo::Result<()> {
        match self.to {
            Some(to) if self.images && to != Format::Markdown => {
                let what = format!("--images is for --to markdown, and this is --to {}", to.name());
                Err(Error::new(Kind::Usage, what).hint("leave --images out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether what becomes of a session of the store goes elsewhere than to the store.
    pub fn is_elsewhere(&self) -> bool {
        self.to.is_some() || self.output.is_some() || self.pack
    }
}

/// How a verb that changes sessions does it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Changing {
    #[command(flatten)]
    pub writing: Writing,
    /// Change the file itself; =SUFFIX keeps the old one
    ///
    /// The file is replaced as a whole or not at all, in the format that it has. With =SUFFIX the old one stays under
    /// its name and SUFFIX.
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "output")]
    pub in_place: Option<String>,
    /// With -i: although another program has the file open, or it has other names or another owner
    #[arg(long, requires = "in_place")]
    pub force: bool,
    /// Print the changed session; leave the store as it is
    #[arg(long, conflicts_with = "in_place")]
    pub stdout: bool,
    // Whether a stream keeps its whole log, with what is new at its end: a verb's own choice.
    #[arg(skip)]
    pub log: bool,
    // Whether lines are added and nothing else changes, so that the session need not be read: a verb's own choice.
    #[arg(skip)]
    pub adds: bool,
    // Whether a file that is not there is created: a verb's own choice.
    #[arg(skip)]
    pub creates: bool,
    // Whether a dry run is told otherwise than by the planned lines: a verb's own choice.
    #[arg(skip)]
    pub explains: bool,
    // Whether what was done to a stream is told as for the store: a verb's own choice.
    #[arg(skip)]
    pub tells: bool,
    // Whether the plan looks at the view alone, so that the rest of a stored log need not be read: a verb's own choice.
    #[arg(skip)]
    pub sees_view: bool,
    /// Print the planned lines and change nothing
    #[arg(short = 'n', long, conflicts_with = "output")]
    pub dry_run: bool,
    /// Messages as JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// How tokens are counted.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tokens")]
pub struct Counting {
    /// Count as this tokenizer or model does
    ///
    /// An encoding (o200k_base, cl100k_base, ...), an estimate (chars4, ...), a model (gpt-4o, claude-sonnet-4-5, ...) or
    /// cmd:'PROGRAM ARGS', which is run by the shell once, reads one text a line as a JSON string, and prints its number of tokens. By
    /// default $CONVO_TOKENIZER, or what the config file names, or the one of the session's header, or o200k_base.
    #[arg(long, value_name = "NAME", value_parser = tokenizer)]
    pub tokenizer: Option<Tokenizer>,
}

/// A tokenizer or a model by name; what is wrong with the name tells the next one.
pub fn tokenizer(name: &str) -> Result<Tokenizer, String> {
    counter_program::tokenizer(name).map_err(|error| match error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message,
    })
}

/// Most messages of a session before it is continued; 0: no limit.
pub fn max_messages(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(1 | 2) | Err(_) => Err("expected 0 (no limit) or a number from 3".to_string()),
        Ok(limit) => Ok(limit),
    }
}

/// What a session is to remember, as it is spelled: what is not said of it may be known elsewhere.
pub fn memory(text: &str) -> Result<String, String> {
    match Memory::default().with(text) {
        Ok(_) => Ok(text.to_string()),
        Err(error) => Err(match error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message,
        }),
    }
}

/// Where a session is: read from its spelling alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    Path(PathBuf),
    /// A session of the store.
    Name(String),
}

/// Endings that make an operand a path.
const ENDINGS: [&str; 11] = [
    ".json", ".jsonl", ".ndjson", ".md", ".yaml", ".yml", ".db", ".txt", ".zip", ".gz", ".b64",
];

impl Input {
    /// What an operand means.
    pub fn of(operand: &str) -> Input {
        if operand == "-" {
            Input::Stdin
        } else if is_path(operand) {
            Input::Path(operand.into())
        } else {
            Input::Name(operand.to_string())
        }
    }

    /// What the operands mean; none is standard input.
    pub fn all(operands: &[String]) -> Vec<Input> {
        if operands.is_empty() {
            vec![Input::Stdin]
        } else {
            operands.iter().map(|o| Input::of(o)).collect()
        }
    }

    /// The name in messages.
    pub fn label(&self) -> String {
        match self {
            Input::Stdin => "-".to_string(),
            Input::Path(path) => crate::output::path_name(path),
            Input::Name(name) => name.clone(),
        }
    }
}

fn is_path(operand: &str) -> bool {
    operand.contains('/') || ENDINGS.iter().any(|ending| operand.ends_with(ending))
}

/// Refuses a new name that every verb would take for a path or for standard input.
pub fn checked_name(name: &str) -> convo::Result<&str> {
    if name == "-" || is_path(name) {
        return Err(
            Error::new(Kind::Usage, format!("the name {name:?} would be read as a path"))
                .hint("a name has no / and no ending such as .json"),
        );
    }
    Ok(name)
}

fn format(name: &str, fit: impl Fn(Format) -> bool) -> Result<Format, String> {
    const LISTED: &str = "`convo detect --help` lists them";
    match Format::from_name(name) {
        Some(format) if fit(format) => Ok(format),
        Some(known) if known.is_read() => Err(format!("this format is only read; {LISTED}")),
        Some(_) => Err(format!("this format is only written; {LISTED}")),
        None => {
            let near = |known: &&str| known.contains(name) || strsim::damerau_levenshtein(known, name) <= 2;
            let fitting = Format::ALL.into_iter().filter(|format| fit(*format));
            let near: Vec<&str> = fitting.map(Format::name).filter(near).collect();
            Err(match near.as_slice() {
                [] => format!("no such format; {LISTED}"),
                near => format!("no such format, perhaps {}; {LISTED}", near.join(" or ")),
            })
        }
    }
}

/// A format that sessions are read from.
pub fn readable(name: &str) -> Result<Format, String> {
    format(name, Format::is_read)
}

/// A format that sessions are written in.
pub fn writable(name: &str) -> Result<Format, String> {
    format(name, Format::is_written)
}

/// A span of time: a number and `ms`, `s`, `m`, `h`, `d` or `w`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a number and ms, s, m, h, d or w";
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(EXPECTED.to_string()),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED.to_string())?;
    number
        .checked_mul(factor)
        .map(Duration::from_millis)
        .ok_or_else(|| "too long".to_string())
}

/// A `key=value` pair; the value is JSON when it parses as such, else text.
pub fn pair(text: &str) -> Result<(String, Vec<u8>), String> {
    let (name, value) = text.split_once('=').ok_or("this must be KEY=VALUE")?;
    if name.is_empty() {
        return Err("the key is empty".to_string());
    }
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(value).is_ok();
    let raw = if is_json {
        value.trim().as_bytes().to_vec()
    } else {
        let mut raw = Vec::new();
        convo::model::json::push_text(&mut raw, value);
        raw
    };
    Ok((name.to_string(), raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_told_by_their_spelling() {
        assert_eq!(Input::of("-"), Input::Stdin);
        assert_eq!(Input::of("chat"), Input::Name("chat".into()));
        assert_eq!(
            Input::of("agent:main:main"),
            Input::Name("agent:main:main".into())
        );
        for path in ["./chat", "a/b", "x.jsonl", "notes.md", "../x"] {
            assert_eq!(Input::of(path), Input::Path(path.into()));
        }
        assert_eq!(Input::all(&[]), [Input::Stdin]);
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
