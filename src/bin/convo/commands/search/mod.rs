//! `search`: the lines of sessions that match a pattern.

mod hits;
mod print;
mod ranking;
mod scan;
mod sources;

use super::Run;
use crate::args::{SessionScope, TimeOptions};
use crate::context::Context;
use crate::output;
use crate::terminal::time_format::Times;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::model::threads::{Taking, cores, each_result};
use convo::search::{Case, Pattern, PatternOptions, Query, TextKind};
use print::{Printer, SearchOutput};
use scan::SearchScan;

/// Search the text of sessions
///
/// Prints each line of the messages that contains PATTERN, newest sessions first: on a terminal below a heading for each
/// session; otherwise session, number of the message, role, part and line, separated by tabs. Searches the decoded text:
/// messages, reasoning, names and arguments of tool calls, results and summaries; never ids, metadata or images. Branches
/// and subagents are searched too. Exit status: 0 if a line matches, 1 if none does.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo search 'quorum lease'                   the store, and what other programs keep
  convo search 'quorum lease' ~/.codex/sessions the files of a directory
  convo search -l 'quorum lease' | head -1 | xargs convo show
  convo search --program claude,codex --project . lease
  convo search -C 2 --role user naïve           with two lines around each match
  convo search --tool Bash --in call 'rm -rf'   the commands of a tool
  convo search --regex '^E[0-9]{4}: ' --since 2w --project .
  convo search --rank 'which port does the gateway use' | head -3
  convo search -c -w retry | sort -t \"$(printf '\\t')\" -k2nr | head
  convo search --json 'quorum lease' | jq -r '[.name, .position, .text] | @tsv'")]
pub struct SearchCommand {
    /// Text to search for
    ///
    /// A text, unless --regex is given. If all its letters are small, case is ignored; -i and -s decide it. A match is
    /// within one line of a message.
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Session names, files, directories, or - for standard input
    ///
    /// Default: the sessions of the programs that `convo agents` lists, and those of the store (`@all`). A session in both
    /// is searched once. Databases require the plugin convo-sqlite.
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Read PATTERN as a regular expression
    ///
    /// The syntax is that of the Rust crate regex: no look-around and no back-references. `^` and `$` match at the ends of
    /// each line.
    #[arg(long, help_heading = "Pattern")]
    regex: bool,
    /// Ignore case
    #[arg(short, long, overrides_with = "case_sensitive", help_heading = "Pattern")]
    ignore_case: bool,
    /// Do not ignore case
    #[arg(short = 's', long, hide_short_help = true, help_heading = "Pattern")]
    case_sensitive: bool,
    /// Match whole words only
    #[arg(short, long, help_heading = "Pattern")]
    word_regexp: bool,
    /// Search only messages of these roles, e.g. user,assistant
    #[arg(
        short,
        long,
        value_name = "ROLE",
        value_delimiter = ',',
        help_heading = "Filter"
    )]
    role: Vec<String>,
    /// Search only calls and results of this tool
    ///
    /// Repeatable.
    #[arg(long, value_name = "NAME", help_heading = "Filter")]
    tool: Vec<String>,
    /// Search only these parts, e.g. text,call,result
    ///
    /// Parts: text, reasoning, call, result, summary, title. Default: all except title.
    #[arg(long = "in", value_name = "PART", value_delimiter = ',', value_parser = part, help_heading = "Filter")]
    parts: Vec<TextKind>,
    /// Search only what a model would receive
    ///
    /// Skips hidden messages and those that a summary covers.
    #[arg(long, help_heading = "Filter")]
    live: bool,
    #[command(flatten)]
    scope: SessionScope,
    /// Fail on damaged lines
    ///
    /// Without this option, damaged lines are searched as text, and their number is reported.
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    strict: bool,
    /// Print N lines around each match
    ///
    /// Of the same message. When piped, their part is `-`, and `--` separates groups of lines.
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with_all = ["json", "names", "count"],
        help_heading = "Output"
    )]
    context: usize,
    /// Print at most N matching lines per session
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    max_count: Option<u64>,
    /// Print only the names of sessions
    #[arg(short = 'l', long, conflicts_with_all = ["json", "count"], help_heading = "Output")]
    names: bool,
    /// Print the number of matching lines per session
    #[arg(short, long, conflicts_with = "json", help_heading = "Output")]
    count: bool,
    /// With -l or -c, end rows with NUL instead of a newline
    #[arg(
        short = '0',
        long = "null",
        conflicts_with = "json",
        hide_short_help = true,
        help_heading = "Output"
    )]
    null: bool,
    /// Print the sessions that fit PATTERN best, as a question
    ///
    /// Ranks sessions by the words of PATTERN: rare words and words of the user count more (BM25). Prints session, score,
    /// number of the best message, and its first line with a word. With -l, only the names.
    #[arg(
        long,
        conflicts_with_all = [
            "regex", "ignore_case", "case_sensitive", "word_regexp", "role", "tool", "parts", "live", "context",
            "max_count", "count", "unordered",
        ],
        help_heading = "Output"
    )]
    rank: bool,
    /// Print sessions as soon as they are searched, in any order
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    unordered: bool,
    #[command(flatten)]
    times: TimeOptions,
    /// Print one object per matching line
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Parses the name of a part.
fn part(name: &str) -> Result<TextKind, String> {
    TextKind::from_name(name)
        .ok_or_else(|| format!("expected one of {}", TextKind::ALL.map(TextKind::name).join(", ")))
}

impl Run for SearchCommand {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        self.scope.make_absolute();
        let query = self.query()?;
        let sources = sources::of(context, &self.inputs, &self.scope)?;
        let store = context.store().ok();
        let scan = SearchScan {
            query: &query,
            scope: &self.scope,
            store,
            most: match self.names {
                true => 1,
                false => self
                    .max_count
                    .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
            },
            strict: self.strict,
            now: convo::model::time::seconds(&context.clock.now()),
        };
        let form = match (self.json, self.names, self.count) {
            (true, ..) => SearchOutput::Json,
            (_, true, _) => SearchOutput::Names,
            (_, _, true) => SearchOutput::Counts,
            _ if output::columns().is_some() => SearchOutput::Terminal,
            _ => SearchOutput::Lines,
        };
        let times = Times::new(self.times, &context.clock);
        let palette = context.palette()?;
        let mut printer = Printer::new(form, self.null, &palette, &times);
        if self.rank {
            ranking::run(context, &self.pattern, &sources, &scan, &mut printer, form)?;
            if !printer.has_printed() {
                context.output.note_status(ErrorKind::No);
            }
            return Ok(());
        }
        let mut damaged = (0, 0);
        let taking = match self.unordered {
            true => Taking::AsCompleted,
            false => Taking::InOrder,
        };
        let write = |out: &mut dyn std::io::Write| {
            each_result(
                sources.len(),
                cores(),
                taking,
                |nth| scan.source(&sources[nth]),
                |nth, scanned| -> anyhow::Result<()> {
                    let source = &sources[nth];
                    if let Some(error) = scanned.error {
                        source.report(context, &error, self.strict);
                    }
                    damaged.0 += scanned.damaged;
                    damaged.1 += u64::from(scanned.damaged > 0);
                    let is_first = !printer.has_printed();
                    let printed = printer.session(&mut *out, source, &scanned.matched);
                    // The first match is shown at once; the others fill the buffer.
                    let flushed = match is_first && printer.has_printed() {
                        true => printed.and_then(|()| out.flush()),
                        false => printed,
                    };
                    Ok(flushed.map_err(|error| Error::io("cannot write", error))?)
                },
            )
        };
        // JSON escapes control characters itself; all other output is sanitized here.
        match form {
            SearchOutput::Json => context.output.stdout(write)?,
            _ => context.output.styled(write)?,
        }
        self.report_damage(context, damaged)?;
        if !printer.has_printed() {
            context.output.note_status(ErrorKind::No);
        }
        Ok(())
    }
}

impl SearchCommand {
    fn query(&self) -> convo::Result<Query> {
        let settings = PatternOptions {
            regex: self.regex,
            case: match (self.ignore_case, self.case_sensitive) {
                (true, _) => Case::Ignore,
                (_, true) => Case::Exact,
                _ => Case::Smart,
            },
            words: self.word_regexp,
        };
        Ok(Query {
            pattern: Pattern::new(&self.pattern, settings)?,
            parts: self.parts.clone(),
            roles: self.role.clone(),
            tools: self.tool.clone(),
            live: self.live,
            around: self.context,
        })
    }

    fn report_damage(&self, context: &Context, (lines, sessions): (u64, u64)) -> convo::Result<()> {
        if lines == 0 {
            return Ok(());
        }
        let lines = crate::terminal::measure::many(lines, "damaged line");
        let sessions = crate::terminal::measure::many(sessions, "file");
        let what = format!("{lines} in {sessions}");
        if self.strict {
            return Err(Error::data(what).hint("omit --strict to search damaged lines as text"));
        }
        context.output.notice("", &format!("{what} searched as text"));
        Ok(())
    }
}
