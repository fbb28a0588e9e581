//! Counts cuts that violate an API's rules: for every session and every number of newest messages to keep, compares a
//! plain "last N messages" with `truncate --keep-messages`.
//!
//!     cargo bench --bench cuts -- --for openai-chat FILE...
//!
//! Files are native streams, bare messages, or documents of any other readable format. Both methods keep system
//! messages. Calls that are open at the end, and violations that existed before the cut, are not counted. With
//! `--orphans` only one universal rule counts: no result without its call.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr)]

use convo::check::{Api, CheckOptions, check};
use convo::filter::truncate::{self, CutPoint};
use convo::filter::{Plan, Stamp};
use convo::format::detect::{Hints, detect};
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format, Sessions, Stream, native, request};
use convo::model::session::Session;
use convo::model::view::View;
use std::collections::{BTreeMap, HashSet};

fn main() {
    let mut files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let mut api = Api::OpenaiChat;
    if let Some(at) = files.iter().position(|argument| argument == "--for") {
        let name = files.get(at + 1).cloned().unwrap_or_default();
        api = Api::from_name(&name).unwrap_or_else(|| panic!("no interface {name}"));
        files.drain(at..(at + 2).min(files.len()));
    }
    let count = files.len();
    files.retain(|argument| argument != "--orphans");
    let measure = match files.len() < count {
        true => Measure::Orphans,
        false => Measure::Rules(api),
    };
    if files.is_empty() {
        println!("no files: nothing was cut");
        return;
    }
    println!("file\tsessions\tcuts\tnaive breaks\tconvo breaks");
    let mut all = [0; 4];
    for file in &files {
        let counts = match sessions(file) {
            Ok(sessions) => of_file(measure, &sessions),
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        row(file, counts);
    }
    row("all", all);
}

/// What counts as a violation.
#[derive(Clone, Copy)]
enum Measure {
    /// Any rule of an API.
    Rules(Api),
    /// A result without its call.
    Orphans,
}

fn row(name: &str, [sessions, cuts, naive, own]: [usize; 4]) {
    let share = 100.0 * naive as f64 / cuts.max(1) as f64;
    println!("{name}\t{sessions}\t{cuts}\t{naive} ({share:.1} %)\t{own}");
}

fn sessions(file: &str) -> convo::Result<Vec<Session>> {
    let bytes = std::fs::read(file).map_err(|error| convo::Error::io("cannot read", error))?;
    let mut report = Report::default();
    let head = &bytes[..bytes.len().min(64 * 1024)];
    let found = detect(head, head.len() == bytes.len(), Hints::default());
    let format = found.format.unwrap_or(Format::Native);
    if !format.is_lines() {
        return format::convert(format, &DocumentSource::alone(&bytes), &mut report);
    }
    let reader = native::NativeReader::new(Vec::new(), bytes.as_slice());
    let mut sessions = Sessions::new(Stream::Records(Box::new(reader)));
    let mut all = Vec::new();
    while let Some(session) = sessions.next(&mut report)? {
        all.push(session);
    }
    Ok(all)
}

/// The numbers of sessions, cuts, plain cuts with violations, and our cuts with violations.
fn of_file(measure: Measure, sessions: &[Session]) -> [usize; 4] {
    let mut counts = [sessions.len(), 0, 0, 0];
    for session in sessions {
        let view = View::replay(session);
        let known = broken(measure, session);
        let count = view
            .items
            .iter()
            .filter(|item| !item.is_never_dropped(session))
            .count();
        for keep in 1..count {
            counts[1] += 1;
            counts[2] += usize::from(is_worse(&broken(measure, &last(session, &view, keep)), &known));
            counts[3] += usize::from(is_worse(&broken(measure, &truncated(session, keep)), &known));
        }
    }
    counts
}

/// The number of violations per rule.
fn broken(measure: Measure, session: &Session) -> BTreeMap<&'static str, usize> {
    let view = View::replay(session);
    let Measure::Rules(api) = measure else {
        return BTreeMap::from([("orphans", orphans(session, &view))]);
    };
    let request =
        request::elements(api, session, &view, &mut Report::default()).expect("a view has elements");
    let raws: Vec<&[u8]> = request
        .elements
        .iter()
        .map(|element| element.raw.as_slice())
        .collect();
    let options = CheckOptions {
        open_end: true,
        ..CheckOptions::default()
    };
    let mut rules = BTreeMap::new();
    for finding in check(api, &raws, &options)
        .iter()
        .filter(|finding| finding.is_error())
    {
        *rules.entry(finding.rule.id).or_default() += 1;
    }
    rules
}

/// The number of results whose calls are not in the view.
fn orphans(session: &Session, view: &View) -> usize {
    let messages: Vec<_> = view.messages(session).collect();
    let calls: HashSet<String> = messages
        .iter()
        .flat_map(|message| message.tool_calls().into_iter().map(|call| call.id.into_owned()))
        .collect();
    let answers = messages.iter().filter_map(|message| message.tool_call_id());
    answers.filter(|id| !calls.contains(id.as_ref())).count()
}

fn is_worse(rules: &BTreeMap<&str, usize>, known: &BTreeMap<&str, usize>) -> bool {
    rules
        .iter()
        .any(|(rule, count)| known.get(rule).is_none_or(|known| known < count))
}

/// The session with its instructions and only the newest messages.
fn last(session: &Session, view: &View, keep: usize) -> Session {
    let mut cut = Session::default();
    if !session.is_empty() && session.record(0).event().is_some_and(|event| event.is_header()) {
        cut.push_new(session.record(0).body);
    }
    let count = view
        .items
        .iter()
        .filter(|item| !item.is_never_dropped(session))
        .count();
    let mut seen = 0;
    for item in &view.items {
        let stays = item.is_never_dropped(session);
        seen += usize::from(!stays);
        if stays || seen > count - keep {
            cut.push_new(item.body(session));
        }
    }
    cut
}

/// The session as this program truncates it.
fn truncated(session: &Session, keep: usize) -> Session {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_1".to_string(),
            at: "2026-01-01T00:00:00Z".to_string(),
        })
    };
    let mut cut = session.clone();
    if let Ok(Plan::Lines(lines, _)) = truncate::plan(session, &CutPoint::LastMessages(keep), stamp) {
        lines.iter().for_each(|line| cut.push_new(line));
    }
    cut
}
