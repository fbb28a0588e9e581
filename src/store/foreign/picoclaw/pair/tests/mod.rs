//! Tests the steps of a compaction, interrupted after each, and the guarantees of an append.

mod apply;

use super::compact::{CompactionStep, run};
use super::*;
use crate::model::view::{Item, View};
use crate::store::foreign::system::{Compaction, CompactionResult};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const NOW: &str = "2026-11-20T18:02:03Z";

/// Two lines, one that is not a message, and two in the view.
const LOG: &str = concat!(
    r#"{"role":"user","content":"old1","created_at":"2026-03-01T09:00:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"old2","created_at":"2026-03-01T09:01:00Z"}"#,
    "\nbroken\n",
    r#"{"role":"user","content":"k1","created_at":"2026-03-01T09:02:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"k2","created_at":"2026-03-01T09:03:00Z"}"#,
    "\n",
);

/// The lines outside the view.
fn archived() -> &'static str {
    &LOG[..LOG.find(r#"{"role":"user","content":"k1""#).unwrap()]
}

fn kept() -> &'static str {
    &LOG[archived().len()..]
}

const HELD: &str = "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"-\"}\n";

fn sidecar(skip: u64, count: u64, updated: &str) -> String {
    format!(
        "{{\n  \"key\": \"s\",\n  \"summary\": \"what old1 and old2 said\",\n  \"skip\": {skip},\n  \"count\": {count},\n  \
         \"created_at\": \"2026-03-01T09:00:00Z\",\n  \"updated_at\": \"{updated}\",\n  \"x\": [1,  2]\n}}"
    )
}

const BEFORE: &str = "2026-03-01T09:03:00Z";

struct TestDir(tempfile::TempDir);

impl TestDir {
    fn new(log: &str, sidecar: &str) -> TestDir {
        let dir = TestDir(tempfile::tempdir().unwrap());
        fs::write(dir.log(), log).unwrap();
        fs::write(dir.path("s.meta.json"), sidecar).unwrap();
        dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn log(&self) -> PathBuf {
        self.path("s.jsonl")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn archive(&self) -> String {
        self.text(".convo/archive/s.jsonl")
    }

    /// Log and sidecar.
    fn state(&self) -> (String, String) {
        (self.text("s.jsonl"), self.text("s.meta.json"))
    }

    fn pair(&self) -> Pair {
        Pair::open(&self.log(), Duration::ZERO).unwrap()
    }

    /// The texts in the view, including the summary.
    fn view(&self) -> Vec<String> {
        let mut report = Report::default();
        let session = self.pair().session(&mut report).unwrap();
        let view = View::replay(&session);
        let text = |item: &Item| match item.message(&session) {
            Some(message) => message.text().into_owned(),
            None => item.summary(&session).unwrap().into_owned(),
        };
        view.items.iter().map(text).collect()
    }

    fn compact(&self, stop: Option<CompactionStep>) -> Result<CompactionResult> {
        run(&self.log(), &options(), &mut |step| {
            if Some(step) == stop {
                Err(Error::new(ErrorKind::InputOutput, "the power went"))
            } else {
                Ok(())
            }
        })
    }

    /// Names other than those of the pair and of the archive.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| !matches!(name.as_str(), "s.jsonl" | "s.meta.json" | ".convo"))
            .collect()
    }
}

fn options() -> Compaction {
    Compaction {
        lock_timeout: Duration::ZERO,
        now: NOW.into(),
        force: false,
    }
}

fn line(text: &str) -> Vec<u8> {
    format!(r#"{{"role":"user","content":"{text}","created_at":"{NOW}"}}"#).into_bytes()
}

#[test]
fn every_compaction_step_keeps_the_view_and_can_resume() {
    let replaced = HELD.repeat(3) + kept();
    let states = [
        (None, (kept().to_string(), sidecar(0, 2, NOW))),
        (
            Some(CompactionStep::Archived),
            (LOG.to_string(), sidecar(3, 5, BEFORE)),
        ),
        (
            Some(CompactionStep::Placeholders),
            (replaced.clone(), sidecar(3, 5, BEFORE)),
        ),
        (Some(CompactionStep::SkipCleared), (replaced, sidecar(0, 5, NOW))),
        (
            Some(CompactionStep::Removed),
            (kept().to_string(), sidecar(0, 5, NOW)),
        ),
    ];
    for (stop, state) in states {
        let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
        let view = dir.view();
        assert_eq!(view, ["what old1 and old2 said", "k1", "k2"]);
        assert_eq!(dir.compact(stop).is_err(), stop.is_some());
        assert_eq!(dir.state(), state, "{stop:?}");
        assert_eq!(
            (dir.view(), dir.archive()),
            (view.clone(), archived().to_string())
        );
        // Repeat, and repeat with nothing to do.
        dir.compact(None).unwrap();
        let end = dir.state();
        assert_eq!(end, (kept().to_string(), sidecar(0, 2, NOW)), "{stop:?}");
        let receipt = dir.compact(None).unwrap();
        assert_eq!((receipt.archived, receipt.lines), (0, (2, 2)));
        assert_eq!((dir.state(), dir.view()), (end, view));
        assert_eq!(dir.archive(), archived(), "{stop:?}");
        assert_eq!(dir.others(), Vec::<String>::new());
    }
}

#[test]
fn an_append_between_two_steps_is_in_view() {
    for stop in [
        CompactionStep::Archived,
        CompactionStep::Placeholders,
        CompactionStep::SkipCleared,
        CompactionStep::Removed,
    ] {
        let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
        dir.compact(Some(stop)).unwrap_err();
        dir.pair().append(&[line("new")], NOW).unwrap();
        let view = ["what old1 and old2 said", "k1", "k2", "new"];
        assert_eq!(dir.view(), view, "{stop:?}");
        dir.compact(None).unwrap();
        assert_eq!(
            (dir.view(), dir.archive()),
            (view.map(str::to_string).to_vec(), archived().to_string())
        );
    }
}

#[test]
fn a_resumed_compaction_archives_lines_cut_since() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    dir.compact(Some(CompactionStep::Placeholders)).unwrap_err();
    fs::write(dir.path("s.meta.json"), sidecar(4, 5, BEFORE)).unwrap();
    let receipt = dir.compact(None).unwrap();
    assert_eq!((receipt.archived, receipt.lines), (1, (5, 1)));
    let first = kept().find('\n').unwrap() + 1;
    assert_eq!(dir.archive(), LOG[..archived().len() + first]);
    assert_eq!(dir.text("s.jsonl"), kept()[first..]);
}

#[test]
fn the_receipt_counts_bytes_lines_and_archived_lines() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let receipt = dir.compact(None).unwrap();
    let bytes = (LOG.len() as u64, kept().len() as u64);
    assert_eq!(
        receipt,
        CompactionResult {
            bytes,
            lines: (5, 2),
            archived: 3
        }
    );
    let mode = |path: &str| fs::metadata(dir.path(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(
        [
            mode(".convo"),
            mode(".convo/archive"),
            mode(".convo/archive/s.jsonl")
        ],
        [0o700, 0o700, 0o600]
    );
}

#[test]
fn a_skip_of_zero_changes_no_byte() {
    let dir = TestDir::new(LOG, &sidecar(0, 9, BEFORE));
    assert_eq!(dir.compact(None).unwrap().lines, (5, 5));
    assert_eq!(dir.state(), (LOG.to_string(), sidecar(0, 9, BEFORE)));
    assert!(!dir.path(".convo").exists());
}

#[test]
fn blank_lines_line_ends_and_a_partial_line_are_preserved() {
    let log =
        "\n{\"role\":\"user\",\"content\":\"a\"}\r\n\r\n{\"role\":\"user\",\"content\":\"b\"}\r\n\nhalf";
    let dir = TestDir::new(log, &sidecar(1, 3, BEFORE));
    dir.compact(None).unwrap();
    assert_eq!(dir.archive(), "{\"role\":\"user\",\"content\":\"a\"}\r\n");
    let rest = "\r\n{\"role\":\"user\",\"content\":\"b\"}\r\n\nhalf";
    assert_eq!(dir.text("s.jsonl"), rest);
    // The skip exceeds the log: all lines are archived.
    fs::write(dir.path("s.meta.json"), sidecar(9, 9, BEFORE)).unwrap();
    assert_eq!(dir.compact(None).unwrap().lines, (2, 0));
    assert_eq!(dir.text("s.jsonl"), "");
    assert!(
        dir.archive()
            .ends_with("{\"role\":\"user\",\"content\":\"b\"}\r\nhalf\n")
    );
    assert_eq!(dir.text("s.meta.json"), sidecar(0, 0, NOW));
}

#[test]
fn a_truncated_archive_is_repaired_without_duplicates() {
    let earlier = r#"{"role":"user","content":"earlier","created_at":"2026-02-01T09:00:00Z"}"#;
    for (there, expected) in [
        (String::new(), archived().to_string()),
        (format!("{earlier}\n"), format!("{earlier}\n{}", archived())),
        (
            format!("{earlier}\n{}", &archived()[..40]),
            format!("{earlier}\n{}", archived()),
        ),
        (
            archived()[..archived().len() - 1].to_string(),
            archived().to_string(),
        ),
        // The end of another line begins like ours.
        (format!("{earlier}{{"), format!("{earlier}{{\n{}", archived())),
        (
            format!("{earlier}{}", archived()),
            format!("{earlier}{0}{0}", archived()),
        ),
    ] {
        let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
        fs::create_dir_all(dir.path(".convo/archive")).unwrap();
        fs::write(dir.path(".convo/archive/s.jsonl"), there).unwrap();
        dir.compact(None).unwrap();
        assert_eq!(dir.archive(), expected);
    }
    // Without times, equal texts may be separate messages.
    let dir = TestDir::new("{\"role\":\"user\",\"content\":\"hi\"}\n", &sidecar(1, 1, BEFORE));
    dir.compact(None).unwrap();
    fs::write(dir.log(), "{\"role\":\"user\",\"content\":\"hi\"}\n").unwrap();
    fs::write(dir.path("s.meta.json"), sidecar(1, 1, BEFORE)).unwrap();
    dir.compact(None).unwrap();
    assert_eq!(dir.archive().lines().count(), 2);
}

#[test]
fn modes_are_preserved_and_new_files_are_private() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let mode = |path: &str| fs::metadata(dir.path(path)).unwrap().permissions().mode() & 0o7777;
    let set =
        |path: &str, mode| fs::set_permissions(dir.path(path), fs::Permissions::from_mode(mode)).unwrap();
    set("s.jsonl", 0o640);
    set("s.meta.json", 0o644);
    dir.pair().append(&[line("a")], NOW).unwrap();
    dir.compact(None).unwrap();
    assert_eq!((mode("s.jsonl"), mode("s.meta.json")), (0o640, 0o644));
    fs::remove_file(dir.path("s.meta.json")).unwrap();
    dir.pair().append(&[line("b")], NOW).unwrap();
    assert_eq!(mode("s.meta.json"), 0o600);
}

#[test]
fn a_log_with_another_name_is_not_compacted_unless_forced() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    fs::hard_link(dir.log(), dir.path("other")).unwrap();
    assert_eq!(dir.compact(None).unwrap_err().kind, ErrorKind::Unsafe);
    assert_eq!(dir.state(), (LOG.to_string(), sidecar(3, 5, BEFORE)));
    let force = Compaction {
        force: true,
        ..options()
    };
    compact(&dir.log(), &force).unwrap();
    assert_eq!(
        (dir.text("s.jsonl"), dir.text("other")),
        (kept().to_string(), LOG.to_string())
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_that_another_program_has_open_is_not_compacted_unless_forced() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let mut other = Command::new("/bin/sh")
        .args(["-c", "exec 3>>\"$0\"; echo; read line"])
        .arg(dir.log())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    other.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let error = dir.compact(None).unwrap_err();
    assert_eq!(
        (error.kind, dir.state()),
        (ErrorKind::Locked, (LOG.to_string(), sidecar(3, 5, BEFORE)))
    );
    let force = Compaction {
        force: true,
        ..options()
    };
    compact(&dir.log(), &force).unwrap();
    assert_eq!(dir.text("s.jsonl"), kept());
    drop(other.stdin.take());
    other.wait().unwrap();
}

#[test]
fn concurrent_writes_of_another_program_are_not_lost() {
    let append = |dir: &TestDir, text: &str| {
        let mut file = fs::OpenOptions::new().append(true).open(dir.log()).unwrap();
        std::io::Write::write_all(&mut file, &[&line(text)[..], b"\n"].concat()).unwrap();
    };
    // The log grows between reading and replacing.
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    run(&dir.log(), &options(), &mut |step| {
        append(&dir, &format!("{step:?}"));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        dir.view(),
        [
            "what old1 and old2 said", "k1", "k2", "Archived", "Placeholders", "SkipCleared", "Removed"
        ]
    );
    // The same before an append.
    let mut pair = dir.pair();
    append(&dir, "theirs");
    pair.append(&[line("ours")], NOW).unwrap();
    drop(pair);
    assert_eq!(dir.view()[7..], ["theirs", "ours"]);
    // A partial line of another program is completed and counted.
    let mut pair = dir.pair();
    let before = dir.text("s.jsonl");
    fs::write(dir.log(), format!("{before}half")).unwrap();
    pair.append(&[line("behind")], NOW).unwrap();
    drop(pair);
    let ours = String::from_utf8(line("behind")).unwrap();
    assert_eq!(dir.text("s.jsonl"), format!("{before}half\n{ours}\n"));
    assert!(dir.text("s.meta.json").contains("\"count\": 10,"));
    // A restored skip would hide messages: the compaction stops with the view unchanged.
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let stopped = run(&dir.log(), &options(), &mut |step| {
        if step == CompactionStep::SkipCleared {
            fs::write(dir.path("s.meta.json"), sidecar(3, 6, BEFORE)).unwrap();
        }
        Ok(())
    });
    assert_eq!(stopped.unwrap_err().kind, ErrorKind::Locked);
    assert_eq!(dir.view(), ["what old1 and old2 said", "k1", "k2"]);
}

#[test]
fn an_append_succeeds_although_the_sidecar_update_fails() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let mut pair = dir.pair();
    // A sidecar that became unreadable meanwhile.
    fs::write(dir.path("s.meta.json"), "").unwrap();
    let appended = pair.append(&[line("new")], NOW).unwrap();
    assert_eq!(appended.bookkeeping.unwrap().kind, ErrorKind::Data);
    drop(pair);
    assert_eq!(
        dir.text("s.jsonl"),
        format!("{LOG}{}\n", String::from_utf8(line("new")).unwrap())
    );
    assert_eq!(dir.text("s.meta.json"), "");
    assert_eq!(dir.others(), Vec::<String>::new());
}

#[test]
fn leftovers_of_a_killed_writer_are_removed_by_the_next() {
    let dir = TestDir::new(LOG, &sidecar(3, 5, BEFORE));
    let names = [hidden("s.jsonl".as_ref()), hidden("s.meta.json".as_ref())];
    for name in &names {
        fs::write(dir.path(name), "half").unwrap();
    }
    fs::write(dir.path(".tmp-1-2"), "PicoClaw's").unwrap();
    drop(dir.pair());
    assert_eq!(dir.others(), [".tmp-1-2"]);
    // A temporary file in use is kept.
    fs::write(dir.path(&names[0]), "at work").unwrap();
    let used = fs::File::open(dir.path(&names[0])).unwrap();
    used.lock().unwrap();
    drop(dir.pair());
    assert_eq!(dir.text(&names[0]), "at work");
}
