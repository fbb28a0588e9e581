//! `list`: the sessions of a store, of files or of directories.

mod table;

use super::Run;
use crate::args::{Input, Reading, When, when};
use crate::context::{Context, detect_file, head, named};
use crate::inputs::{each_session, tell_and_go_on};
use crate::output::{columns, path_name};
use crate::scan::{self, Follow};
use crate::tree::{self, Node};
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::memory;
use convo::format::detect::HEAD;
use convo::format::picoclaw;
use convo::format::report::Report;
use convo::model::chain::Links;
use convo::model::health::{Health, State};
use convo::model::json;
use convo::model::lineage::Lineage;
use convo::model::session::{Class, Session};
use convo::model::time;
use convo::model::view::{Item, View};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use table::{flat, indented, table};

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
    /// Print one object per session
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Members of a session line that tell of its chain.
#[derive(Default)]
struct Chain {
    index: Option<u64>,
    original: Option<String>,
    source_tokens: Option<u64>,
    tokens: Option<u64>,
}

/// One line of the list.
struct Row {
    id: String,
    title: Option<String>,
    key: Option<String>,
    messages: usize,
    view: usize,
    created: Option<String>,
    updated: Option<String>,
    links: Links,
    /// What the session line says of the chain.
    chain: Chain,
    branched_from: Option<String>,
    depth: usize,
    aliases: Vec<String>,
    damaged: bool,
    health: Health,
    /// Turns that wait for a summary, where the session remembers by itself: pending, backlog.
    waiting: Option<(usize, usize)>,
}

impl Run for List {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let mut rows = Vec::new();
        if self.inputs.is_empty() {
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
        context.output.stdout(|out| match columns() {
            Some(columns) if !self.json => table(&rows, columns, &now, out),
            _ => rows.iter().try_for_each(|row| self.print(row, &now, out)),
        })
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

impl Row {
    /// How the summaries of the session fare, when they do not fare well.
    fn ailing(&self, now: &str) -> Option<State> {
        Some(self.health.state(now)).filter(|state| *state != State::Healthy)
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

fn row(session: &Session, label: &str, damaged: bool) -> Row {
    let view = View::replay(session);
    let header = session.header();
    let raw = |name: &str| header.iter().find(|(known, _)| known == name).map(|(_, raw)| raw);
    let text = |name: &str| {
        raw(name)
            .and_then(|raw| json::text(raw))
            .map(|text| text.into_owned())
    };
    let number = |name: &str| raw(name).and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok());
    Row {
        id: text("id").unwrap_or_else(|| label.to_string()),
        title: text("title")
            .filter(|title| !title.trim().is_empty())
            .or_else(|| beginning(session)),
        key: text("key"),
        messages: session.messages().count(),
        view: view
            .items
            .iter()
            .filter(|item| !matches!(item, Item::Summary(_)))
            .count(),
        created: text("created_at"),
        updated: session.newest_time(),
        links: Links::of(session),
        chain: Chain {
            index: number("continuation_index"),
            original: text("original_created_at"),
            source_tokens: number("source_tokens"),
            tokens: number("chain_tokens"),
        },
        branched_from: Lineage::of(session).and_then(|lineage| lineage.parent),
        depth: 0,
        aliases: Vec::new(),
        damaged,
        health: Health::of(session),
        waiting: memory::waiting(session).ok().flatten(),
    }
}

/// The first line of the first question, cut to 40 characters.
fn beginning(session: &Session) -> Option<String> {
    let is_user = |index: &usize| matches!(session.class(*index), Class::Message(t) if t.role == convo::model::message::Role::User);
    let first = (0..session.len()).find(is_user)?;
    let record = session.record(first);
    let text = record.message()?.text();
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim();
    if line.chars().count() <= 40 {
        return Some(line.to_string());
    }
    Some(line.chars().take(37).collect::<String>() + "...")
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

    fn print(&self, row: &Row, now: &str, out: &mut dyn Write) -> anyhow::Result<()> {
        let title = row.title.as_deref().unwrap_or_default();
        let updated = row.updated.as_deref().unwrap_or("-");
        let line = if self.json {
            serde_json::json!({
                "schema": "convo.list/1", "id": row.id, "title": row.title, "key": row.key,
                "messages": row.messages, "view": row.view, "created_at": row.created,
                "updated_at": row.updated, "continued_from": row.links.continued_from,
                "continued_to": row.links.continued_to, "continuation_index": row.chain.index,
                "original_created_at": row.chain.original, "source_tokens": row.chain.source_tokens,
                "chain_tokens": row.chain.tokens, "depth": row.depth, "aliases": row.aliases,
                "damaged": row.damaged, "health": row.health.state(now).name(), "failures": row.health.failures,
                "next_attempt_at": row.health.next_attempt_at,
                "pending": row.waiting.map(|(pending, _)| pending),
                "backlog": row.waiting.map(|(_, backlog)| backlog),
            })
            .to_string()
        } else {
            let health = row
                .ailing(now)
                .map_or(String::new(), |state| format!("\t{}", state.name()));
            format!(
                "{}\t{}\t{}\t{}{health}",
                indented(row),
                row.view,
                flat(updated),
                flat(title)
            )
        };
        Ok(writeln!(out, "{}", line.trim_end_matches(' '))
            .map_err(|error| Error::io("cannot write", error))?)
    }
}
