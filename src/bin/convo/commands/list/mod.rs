//! `list`: the sessions of a store, of files or of directories.

mod row;

use super::Run;
use crate::args::{ALL, Input, Reading, TimeOptions, When, when};
use crate::context::{Context, detect_file, head, named};
use crate::inputs::{each_session, tell_and_go_on};
use crate::measure::thousands;
use crate::output::{columns, counted, path_name};
use crate::scan::{self, Follow};
use crate::table::{Column, Table};
use crate::time_format::Times;
use crate::tree::{self, Node};
use clap::Args;
use convo::error::{Error, Kind};
use convo::format::detect::HEAD;
use convo::format::picoclaw;
use convo::format::report::Report;
use convo::model::time;
use row::{Row, row};
use std::collections::HashMap;
use std::path::Path;

/// List sessions
///
/// Lists the sessions of the store, of files or of directories, newest first. Prints id, messages in the view, last
/// change and title: in aligned columns on a terminal, otherwise separated by tabs. A session without title shows the
/// beginning of its first user message. A fifth column shows the summarizer's health unless it is healthy: retry,
/// degraded or recovering.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo list
  convo list | cut -f1                          only the ids
  convo list --until 30d | cut -f1 | xargs -r -d '\\n' convo remove --
  convo list -n 20 --offset 40                  the third page of 20 sessions
  convo list --since 2026-11-01 --json
  convo list --json | jq -r 'select(.messages > 100).id'
  convo list --tree                             continuations below their first session
  convo list ./session.json                     the sessions of a file
  convo list ~/.codex/sessions                  the sessions of a directory")]
pub struct List {
    /// Sessions, files or directories [default: the store]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// List at most N sessions
    ///
    /// Applies after all other filters, in output order.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Filter")]
    limit: Option<u64>,
    /// Skip the first N sessions
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Filter"
    )]
    offset: u64,
    /// List sessions changed since WHEN: 12h, 7d, 2w, 2026-11-01
    ///
    /// A duration before now, a date (its start in the local time zone) or an RFC 3339 time. The time of a session is
    /// that of its newest record; sessions without a time are not listed.
    #[arg(long, alias = "newer-than", value_name = "WHEN", value_parser = when, help_heading = "Filter")]
    since: Option<When>,
    /// List sessions last changed before WHEN
    #[arg(long, alias = "older-than", value_name = "WHEN", value_parser = when, help_heading = "Filter")]
    until: Option<When>,
    #[command(flatten)]
    reading: Reading,
    /// Show continuations and branches below their first session
    ///
    /// Branches are indented one level more. With --json, objects have a depth.
    #[arg(long, help_heading = "Output")]
    tree: bool,
    #[command(flatten)]
    times: TimeOptions,
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The columns of a terminal.
const COLUMNS: [Column; 4] = [
    Column::text("ID"),
    Column::dim("UPDATED").from_width(32),
    Column::number("MSGS").from_width(45),
    Column::rest("TITLE"),
];

impl Run for List {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let mut rows = Vec::new();
        if self.inputs.is_empty() || self.inputs == [ALL] {
            rows = stored(context)?;
        } else {
            let inputs = Input::all(&self.inputs);
            for input in &inputs {
                let done = match input {
                    Input::Path(path) if path.is_dir() => self.folder(context, path, &mut rows),
                    input => each_session(
                        context,
                        std::slice::from_ref(input),
                        &self.reading,
                        |label, session| {
                            rows.push(row(&session, label, false));
                            Ok(())
                        },
                    )
                    .map_err(|error| with_folder(error, input)),
                };
                tell_and_go_on(context, done, inputs.len())?;
            }
        }
        let now = time::seconds(&context.clock.now());
        rows.retain(|row| self.fits(row, now));
        name_aliases(context, &mut rows);
        // Newest first; sessions without any time come last, by their ids.
        rows.sort_by_cached_key(|row| {
            (
                std::cmp::Reverse(row.updated.as_deref().and_then(time::seconds)),
                row.id.clone(),
            )
        });
        let now = context.clock.now();
        let leaves = tree::arrange(&rows.iter().map(node).collect::<Vec<_>>());
        for leaf in &leaves {
            let row = &mut rows[leaf.node];
            row.depth = if self.tree { leaf.depth } else { 0 };
            // Counted from the first session; what another system wrote there may be anything.
            row.chain.index = leaf.index.filter(|index| *index > 0).or(row.chain.index);
        }
        if self.tree {
            let mut places = vec![0; rows.len()];
            leaves
                .iter()
                .enumerate()
                .for_each(|(place, leaf)| places[leaf.node] = place);
            let mut placed: Vec<(usize, Row)> = places.into_iter().zip(rows).collect();
            placed.sort_by_key(|(place, _)| *place);
            rows = placed.into_iter().map(|(_, row)| row).collect();
        }
        let rows = self.page(rows);
        if self.json {
            return context.output.stdout(|out| {
                rows.iter().try_for_each(|row| {
                    let written = writeln!(out, "{}", row.object(&now));
                    Ok(written.map_err(|error| Error::io("cannot write", error))?)
                })
            });
        }
        let times = Times::new(self.times, &context.clock);
        let messages: usize = rows.iter().map(|row| row.view).sum();
        let footer = format!(
            "{} · {} · times in {}",
            counted(rows.len() as u64, "session"),
            match messages {
                1 => "1 message".to_string(),
                messages => format!("{} messages", thousands(messages as u64)),
            },
            times.zone()
        );
        let is_terminal = columns().is_some();
        let cells = rows.iter().map(|row| row.cells(&now, is_terminal));
        Table::new(&COLUMNS, &times)
            .footer(footer)
            .print(&context.output, cells)
    }
}

/// A name that is none of the store's, and that a folder here has, is meant for that one.
fn with_folder(error: anyhow::Error, input: &Input) -> anyhow::Error {
    match (error.downcast::<Error>(), input) {
        (Ok(error), Input::Name(name)) if error.kind == Kind::NotFound && Path::new(name).is_dir() => error
            .hint(format!("convo list ./{name} lists the folder of this name"))
            .into(),
        (Ok(error), _) => error.into(),
        (Err(error), _) => error,
    }
}

fn node(row: &Row) -> Node {
    Node {
        id: row.id.clone(),
        continued_from: row.links.continued_from.clone(),
        branched_from: row.branched_from.clone(),
        newest: row.updated.as_deref().and_then(time::seconds),
    }
}

/// Every session of the store, read on as many threads as there are processors.
fn stored(context: &Context) -> anyhow::Result<Vec<Row>> {
    let store = context.store()?;
    let ids: Vec<String> = store.ids()?.into_iter().map(|entry| entry.id).collect();
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(1 + ids.len() / 64);
    let share = ids.len().div_ceil(threads.max(1)).max(1);
    let read = |ids: &[String]| -> Vec<convo::Result<Row>> {
        let one = |id: &String| {
            let mut report = Report::default();
            let session = store.load(id, &mut report)?;
            // The name of the log, whatever its lines say.
            let id = id.clone();
            Ok(Row {
                id,
                ..row(&session, "", report.is_damaged())
            })
        };
        ids.iter().map(one).collect()
    };
    let results: Vec<convo::Result<Row>> = std::thread::scope(|scope| {
        let workers: Vec<_> = ids
            .chunks(share)
            .map(|ids| scope.spawn(move || read(ids)))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_default())
            .collect()
    });
    let mut rows = Vec::with_capacity(results.len());
    for result in results {
        match result {
            Ok(row) => {
                if row.damaged {
                    context.output.note_status(Kind::Data);
                    context
                        .output
                        .tell(&row.id, "has damaged lines; `convo cat` tells which");
                }
                rows.push(row);
            }
            // Removed by somebody between the listing and the reading.
            Err(error) if error.kind == Kind::NotFound => {}
            Err(error) => context.output.error(&crate::context::named(error, "list")),
        }
    }
    Ok(rows)
}

/// Whether a file is something else, and not a session that is damaged.
fn is_other(path: &Path) -> bool {
    let head = std::fs::File::open(path)
        .map_err(|error| Error::io("cannot open", error))
        .and_then(|mut file| head(&mut file, HEAD));
    head.is_ok_and(|(head, whole)| {
        let verdict = detect_file(&head, whole, Some(path));
        verdict.format.is_none() && !verdict.damaged && !head.is_empty()
    })
}

fn name_aliases(context: &Context, rows: &mut [Row]) {
    let Ok(aliases) = context.store().and_then(|store| store.aliases()) else {
        return;
    };
    let mut by_id: HashMap<String, Vec<String>> = HashMap::new();
    for (alias, ids) in aliases {
        for id in ids {
            by_id.entry(id).or_default().push(alias.clone());
        }
    }
    for row in rows {
        row.aliases
            .extend(by_id.get(&row.id).cloned().unwrap_or_default());
    }
}

impl List {
    /// Whether its time is asked for. A session without any time has none.
    fn fits(&self, row: &Row, now: Option<i64>) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let time = row.updated.as_deref().and_then(time::seconds);
        now.zip(time).is_some_and(|(now, time)| {
            self.until.is_none_or(|until| until.is_after(time, now))
                && self.since.is_none_or(|since| !since.is_after(time, now))
        })
    }

    /// The rows between `--offset` and `--limit`.
    fn page(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        rows.drain(..count(self.offset).min(rows.len()));
        rows.truncate(self.limit.map_or(usize::MAX, count));
        rows
    }

    /// The sessions of a directory, of whatever system, those in directories in it too. What is no session is passed
    /// over.
    fn folder(&self, context: &Context, path: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let files = scan::files(path, true, Follow::Files).map_err(|error| named(error, &path_name(path)))?;
        for (file, why) in &files.skipped {
            context.output.tell(&path_name(file), why);
        }
        let several = files.sessions.len().max(2);
        for file in files.sessions {
            if self.reading.from.is_none() && is_other(&file) {
                context.output.detail(&path_name(&file), "no session");
                continue;
            }
            let done = each_session(context, &[Input::Path(file)], &self.reading, |label, session| {
                let first = (!session.is_empty()).then(|| session.record(0).body);
                rows.push(Row {
                    aliases: first.map(picoclaw::aliases).unwrap_or_default(),
                    ..row(&session, label, false)
                });
                Ok(())
            });
            tell_and_go_on(context, done, several)?;
        }
        Ok(())
    }
}
