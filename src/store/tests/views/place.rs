//! Events that may happen to a session in a store, and the store where they happen.

use super::{counter, extracted, same, wanted};
use crate::filter::{Plan, Stamp, compact, gc, summarize};
use crate::format::report::Report;
use crate::model::event;
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::store::fsck::FsckOptions;
use crate::store::tests::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::os::unix::fs::FileExt;

/// An event for a session or its checkpoint; numbers select among existing things.
#[derive(Clone, Debug)]
pub enum Operation {
    Message(usize, String),
    /// A message without an id, or with the id of an earlier message.
    Nameless,
    Duplicate(usize),
    Tool,
    Truncate(usize, bool),
    TruncateAll,
    Extract(usize),
    Cover(usize, usize),
    Compact(u64),
    Drop(usize),
    Edit(usize),
    Restore(usize),
    RestoreLast,
    Meta(usize),
    Attempt,
    Summary(bool),
    /// Writes by a program without locks and checksums.
    Foreign(&'static str),
    Header,
    CutBack(usize),
    /// Replaces the log with a copy.
    Copied,
    Collect,
    Repair,
    Damage(usize),
    Keep,
    /// Overwrites or truncates the checkpoint, or replaces it with the previous one.
    Checkpoint(usize),
    Forget,
    Old,
}

pub fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let text = prop_oneof![
        4 => "[a-z]{2,6}( [a-z]{2,6}){0,12}",
        1 => "Please always write [a-c]\\.( [a-z]{2,6}){0,4}",
        1 => "[a-z]{3,6}\\. Never call [a-c]\\. From now on use [a-d]\\.",
    ];
    let foreign = prop::sample::select(vec![
        "{\"role\":\"user\",\"content\":\"by hand\",\"id\":\"hand\"}\n",
        "{\"role\":\"user\",\"content\":\"torn\"",
        "not json\n",
        "\n",
        "{\"type\":\"note\",\"id\":\"n\"}\n",
    ]);
    prop_oneof![
        24 => (0usize..5, text).prop_map(|(who, text)| Message(who, text)),
        1 => Just(Nameless),
        1 => (0usize..99).prop_map(Duplicate),
        2 => Just(Tool),
        2 => (0usize..99, any::<bool>()).prop_map(|(at, rules)| Truncate(at, rules)),
        1 => Just(TruncateAll),
        6 => (0usize..4).prop_map(Extract),
        2 => (0usize..99, 0usize..9).prop_map(|(first, more)| Cover(first, more)),
        2 => (20u64..300).prop_map(Compact),
        2 => (0usize..99).prop_map(Drop),
        1 => (0usize..99).prop_map(Edit),
        2 => (0usize..99).prop_map(Restore),
        2 => Just(RestoreLast),
        1 => (0usize..99).prop_map(Meta),
        1 => Just(Attempt),
        1 => any::<bool>().prop_map(Summary),
        1 => foreign.prop_map(Foreign),
        1 => Just(Header),
        1 => (0usize..9).prop_map(CutBack),
        1 => Just(Copied),
        1 => Just(Collect),
        1 => Just(Repair),
        3 => (0usize..100_000).prop_map(Damage),
        10 => Just(Keep),
        1 => (0usize..100_000).prop_map(Checkpoint),
        1 => Just(Forget),
        1 => Just(Old),
    ]
}

pub struct Place {
    _dir: TempDir,
    pub store: Store,
    made: Cell<u64>,
    old: Vec<u8>,
    /// How many reads could use a partial session.
    pub partial_reads: u64,
}

pub const AT: &str = "2026-01-02T00:00:00Z";

impl Place {
    pub fn new(remembers: bool) -> Place {
        let (dir, store) = store();
        let memory = match remembers {
            true => {
                r#","memory":{"strategy":"rolling_summary","keep_last":"2","total":"200","summary":"60"}"#
            }
            false => "",
        };
        let header = format!(r#"{{"type":"session","version":1,"id":"one","created_at":"{AT}"{memory}}}"#);
        let rule = br#"{"role":"system","content":"You must be brief.","id":"rule"}"#.to_vec();
        store.create_session("one", &[header.into_bytes(), rule]).unwrap();
        Place {
            _dir: dir,
            store,
            made: Cell::new(0),
            old: Vec::new(),
            partial_reads: 0,
        }
    }

    fn id(&self, prefix: &str) -> String {
        self.made.set(self.made.get() + 1);
        format!("{prefix}{}", self.made.get())
    }

    fn whole(&self) -> (Session, Report) {
        let mut report = Report::default();
        let session = self.store.load("one", &mut report).unwrap();
        (session, report)
    }

    fn append(&self, line: &[u8]) {
        self.store.append("one", &[line]).unwrap();
    }

    fn event(&self, kind: &str, members: &[(&str, String)]) {
        let mut event = event::begin(kind, &self.id("e"));
        event.text("at", AT);
        for (name, value) in members {
            event.raw(name, value.clone());
        }
        self.append(&event.finish());
    }

    fn planned(&self, plan: Result<Plan>) {
        if let Ok(Plan::Lines(lines, _)) = plan {
            let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            self.store.append("one", &lines).unwrap();
        }
    }

    fn cache(&self) -> PathBuf {
        self.store.path().join("cache/one.view")
    }

    fn message(&self, who: usize, text: &str, id: Option<&str>) {
        let mut line = ObjectBuilder::default();
        let role = ["user", "assistant", "user", "assistant", "developer"][who];
        line.text("role", role).text("content", text);
        if let Some(id) = id {
            line.text("id", id);
        }
        if who == 2 {
            line.text("timestamp", "2026-03-04T05:06:07Z");
        }
        self.append(&line.finish());
    }

    pub fn does(&mut self, what: &Operation) {
        let (session, report) = self.whole();
        let ids: Vec<String> = session
            .messages()
            .filter_map(|(index, _)| session.id(index))
            .collect();
        let one = |nth: usize| ids[nth % ids.len()].clone();
        let events: Vec<String> = (0..session.len())
            .filter_map(|index| Some(session.record(index).event()?.id()?.into_owned()))
            .collect();
        let quoted = |text: &str| {
            let mut raw = Vec::new();
            json::push_text(&mut raw, text);
            String::from_utf8(raw).unwrap()
        };
        match what {
            Operation::Message(who, text) => self.message(*who, text, Some(&self.id("m"))),
            Operation::Nameless => self.message(0, "nameless", None),
            Operation::Duplicate(nth) if !ids.is_empty() => self.message(0, "again", Some(&one(*nth))),
            Operation::Tool => {
                let (call, result, of) = (self.id("m"), self.id("m"), self.id("c"));
                self.append(format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{of}","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}],"id":"{call}"}}"#).as_bytes());
                self.append(
                    format!(
                        r#"{{"role":"tool","tool_call_id":"{of}","content":"read it all","id":"{result}"}}"#
                    )
                    .as_bytes(),
                );
            }
            Operation::Truncate(nth, rules) if !ids.is_empty() => self.event(
                "truncate",
                &[("before", quoted(&one(*nth))), ("keep_system", rules.to_string())],
            ),
            Operation::TruncateAll => self.event("truncate", &[("before", "null".to_string())]),
            Operation::Extract(keep_last) => {
                self.planned(extracted(&session, &self.id("e"), &wanted(*keep_last)))
            }
            Operation::Cover(first, more) if !ids.is_empty() => {
                let last = ids[(first % ids.len() + more).min(ids.len() - 1)].clone();
                let covers = format!("[{},{}]", quoted(&one(*first)), quoted(&last));
                self.event(
                    "summary",
                    &[("content", quoted("It was said.")), ("covers", covers)],
                );
            }
            Operation::Compact(budget) => {
                let options = compact::CompactOptions {
                    budget: Some(*budget),
                    retry: true,
                    ..compact::CompactOptions::default()
                };
                let id = self.id("e");
                let stamp = |_: &str| {
                    Ok(Stamp {
                        id,
                        at: AT.to_string(),
                    })
                };
                self.planned(compact::plan(&session, counter(), &options, stamp).map(|planned| planned.plan));
            }
            Operation::Drop(nth) if !ids.is_empty() => {
                self.event("compact", &[("drop", format!("[{}]", quoted(&one(*nth))))])
            }
            Operation::Edit(nth) if !ids.is_empty() => {
                let edit = format!("[{{\"id\":{},\"content\":\"edited\"}}]", quoted(&one(*nth)));
                self.event("compact", &[("edit", edit)]);
            }
            Operation::Restore(nth) if !events.is_empty() => {
                self.event("restore", &[("of", quoted(&events[nth % events.len()]))]);
            }
            Operation::RestoreLast => {
                if let Some(last) = events.last() {
                    self.event("restore", &[("of", quoted(last))]);
                }
            }
            Operation::Meta(nth) => self.event("meta", &[("set", format!("{{\"title\":\"t{nth}\"}}"))]),
            Operation::Attempt => self.event(
                "attempt",
                &[("of", quoted("summary")), ("failures", "1".to_string())],
            ),
            Operation::Summary(here) => {
                self.event(
                    "summary",
                    &[("content", quoted("Said here.")), ("here", here.to_string())],
                );
            }
            Operation::Foreign(bytes) => {
                let mut log = OpenOptions::new()
                    .append(true)
                    .open(log_path(&self.store, "one"))
                    .unwrap();
                log.write_all(bytes.as_bytes()).unwrap();
            }
            Operation::Header => self.append(&header("two")),
            Operation::CutBack(lines) => {
                let bytes = fs::read(log_path(&self.store, "one")).unwrap();
                let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
                if ends.len() > lines + 2 {
                    let log = OpenOptions::new()
                        .write(true)
                        .open(log_path(&self.store, "one"))
                        .unwrap();
                    log.set_len(ends[ends.len() - 1 - lines] as u64 + 1).unwrap();
                }
            }
            Operation::Copied => {
                let path = log_path(&self.store, "one");
                fs::copy(&path, path.with_extension("new")).unwrap();
                fs::rename(path.with_extension("new"), path).unwrap();
            }
            Operation::Collect => {
                let event = self.id("g");
                let gc_options = GcOptions {
                    event: &event,
                    at: AT,
                    discard: false,
                    until: None,
                    force: false,
                    dry_run: false,
                };
                drop(
                    self.store
                        .gc("one", &gc_options, |session| gc::plan(session, None)),
                );
            }
            Operation::Repair => {
                let built = Cell::new(0);
                let stamp = |_: &str| {
                    built.set(built.get() + 1);
                    Ok(Stamp {
                        id: format!("repair{}_{}", self.made.get(), built.get()),
                        at: NOW.to_string(),
                    })
                };
                let check = FsckOptions {
                    ids: None,
                    repair: Some(&stamp),
                    link: &[],
                    force: true,
                };
                drop(self.store.check(&check, &mut |_| {}));
            }
            Operation::Damage(nth) => self.damaged(*nth),
            Operation::Keep => {
                let mut report = Report::default();
                let (session, length) = self.store.load_view("one", &mut report).unwrap();
                if report.findings.is_empty() {
                    self.store
                        .keep_view("one", &session, length, &summarize::standing_instructions);
                }
            }
            Operation::Checkpoint(nth) => {
                if let Ok(mut bytes) = fs::read(self.cache()) {
                    match nth % 3 {
                        0 => bytes.truncate(nth % bytes.len().max(1)),
                        1 if !bytes.is_empty() => {
                            let at = nth % bytes.len();
                            bytes[at] ^= 1 << (nth % 8);
                        }
                        _ => bytes.extend_from_slice(b"more...."),
                    }
                    fs::write(self.cache(), bytes).unwrap();
                }
            }
            Operation::Forget => drop(fs::remove_file(self.cache())),
            Operation::Old => {
                let now = fs::read(self.cache()).unwrap_or_default();
                if !self.old.is_empty() {
                    fs::write(self.cache(), &self.old).unwrap();
                }
                self.old = now;
            }
            _ => {}
        }
        drop(report);
    }

    /// Changes a byte of the log temporarily: reads that do not need it give the same result.
    fn damaged(&mut self, nth: usize) {
        let (before, _) = self.whole();
        let log = OpenOptions::new()
            .read(true)
            .write(true)
            .open(log_path(&self.store, "one"))
            .unwrap();
        let at = nth as u64 % log.metadata().unwrap().len();
        let mut byte = [0];
        log.read_exact_at(&mut byte, at).unwrap();
        log.write_all_at(&[byte[0] ^ (1 << (nth % 7))], at).unwrap();
        if let Ok(Some((partial, _))) = self.store.partial_session("one") {
            same(&before, &partial);
        }
        log.write_all_at(&byte, at).unwrap();
    }

    pub fn look(&mut self) {
        let (whole, report) = self.whole();
        let Some((partial, length)) = self.store.partial_session("one").unwrap() else {
            return;
        };
        assert_eq!(report.findings.len(), 0, "there is something to be told");
        assert_eq!(length, self.store.size("one").unwrap());
        self.partial_reads += 1;
        same(&whole, &partial);
    }
}
