//! Tests that lines removed from a log are in the archive and can be restored in place.

use super::*;
use crate::filter::gc;
use crate::model::session::DerivedLine;
use crate::model::view::View;

fn gc_options<'a>(event: &'a str) -> GcOptions<'a> {
    GcOptions {
        event,
        at: NOW,
        discard: false,
        until: None,
        force: false,
        dry_run: false,
    }
}

/// A session of events that no view shows; the first is old.
fn begin_notes(store: &Store, id: &str, texts: &[&str]) {
    let note = |text: &&str| {
        let at = if *text == "a" { "2026-01-01T00:00:00Z" } else { NOW };
        format!(r#"{{"type":"note","id":"n-{text}","at":"{at}"}}"#).into_bytes()
    };
    let lines: Vec<_> = std::iter::once(header(id))
        .chain(texts.iter().map(note))
        .collect();
    store.create_session(id, &lines).unwrap();
}

/// A plan that omits these lines, counted from 0, and inserts a line before the third.
fn without(lines: &'static [usize]) -> impl FnOnce(&Session) -> Result<Option<Vec<DerivedLine>>> {
    move |session| {
        let stay = (0..session.len()).filter(|index| !lines.contains(index));
        let mut pieces: Vec<DerivedLine> = stay.map(DerivedLine::Line).collect();
        pieces.insert(
            2,
            DerivedLine::Generated(br#"{"type":"note","id":"put in"}"#.to_vec()),
        );
        Ok(Some(pieces))
    }
}

fn archive_path(store: &Store) -> PathBuf {
    store.path().join("archive/one.jsonl")
}

fn archive(store: &Store, id: &str) -> Vec<u8> {
    fs::read(store.path().join("archive").join(log_name(id))).unwrap_or_default()
}

fn restore(of: &str) -> Vec<u8> {
    format!(r#"{{"type":"restore","id":"r-{of}","at":"{NOW}","of":"{of}"}}"#).into_bytes()
}

#[test]
fn removed_lines_are_restored_in_place() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c", "d", "e"]);
    store.append("one", &[b"by hand"]).unwrap();
    let before = read(&store, "one").0;
    let receipt = store.gc("one", &gc_options("g1"), without(&[1, 2, 4])).unwrap();
    assert_eq!((receipt.lines, receipt.taken), ((7, 6), 3));
    assert_eq!(receipt.bytes.1, store.size("one").unwrap());
    assert_eq!(receipt.archive, (0, archive(&store, "one").len() as u64));
    let (after, report) = read(&store, "one");
    assert!(
        after[2].contains("put in") && after[5].contains(r#""type":"gc","id":"g1""#),
        "{after:?}"
    );
    assert_eq!(
        report.findings.len(),
        1,
        "the line by hand only: {:?}",
        report.findings
    );
    store.append("one", &[&message("f")]).unwrap();
    // Another gc, which must be undone first.
    store.gc("one", &gc_options("g2"), without(&[1, 3])).unwrap();
    assert_eq!(
        kind(store.ungc("one", "g1", &restore("g1"), false)),
        ErrorKind::No
    );
    assert_eq!(
        kind(store.ungc("one", "g3", &restore("g3"), false)),
        ErrorKind::No
    );
    let names: Vec<String> = store
        .archived("one")
        .unwrap()
        .into_iter()
        .map(|run| run.event)
        .collect();
    assert_eq!(names, ["g1", "g2"]);
    assert_eq!(store.ungc("one", "g2", &restore("g2"), false).unwrap().lines, 2);
    assert_eq!(store.ungc("one", "g1", &restore("g1"), false).unwrap().lines, 3);
    let back = read(&store, "one").0;
    let own =
        |line: &&String| !line.contains("\"gc\"") && !line.contains("\"restore\"") && !line.contains("\"f\"");
    assert_eq!(
        back.iter().filter(own).collect::<Vec<_>>(),
        before.iter().collect::<Vec<_>>()
    );
    assert!(back.iter().any(|line| line.contains("\"content\":\"f\"")));
    assert!(!store.path().join("archive/one.jsonl").exists());
}

#[test]
fn an_interrupted_gc_duplicates_and_loses_nothing() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c"]);
    let before = fs::read(log_path(&store, "one")).unwrap();
    store.gc("one", &gc_options("g1"), without(&[1])).unwrap();
    let once = archive(&store, "one").len();
    // The archive and the log both have the lines, as if the gc had died in between.
    fs::write(log_path(&store, "one"), &before).unwrap();
    store.gc("one", &gc_options("g2"), without(&[1])).unwrap();
    assert_eq!(archive(&store, "one").len(), once);
    assert_eq!(store.archived("one").unwrap()[0].event, "g2");
    // The log does not know the gc but lacks the lines, so they are kept.
    let log = String::from_utf8(fs::read(log_path(&store, "one")).unwrap()).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| !line.contains("\"gc\"")).collect();
    fs::write(log_path(&store, "one"), lines.join("\n") + "\n").unwrap();
    store.gc("one", &gc_options("g3"), without(&[2])).unwrap();
    assert_eq!(store.archived("one").unwrap().len(), 2);
}

#[test]
fn a_truncated_run_does_not_prevent_undoing_a_later_gc() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c", "d"]);
    store.gc("one", &gc_options("g1"), without(&[1])).unwrap();
    let first = archive(&store, "one");
    let before = fs::read(log_path(&store, "one")).unwrap();
    let lines = read(&store, "one").0;
    store.gc("one", &gc_options("g2"), without(&[1, 3])).unwrap();
    let second = archive(&store, "one");
    fs::write(log_path(&store, "one"), &before).unwrap();
    fs::write(archive_path(&store), &first).unwrap();
    store.gc("one", &gc_options("g3"), without(&[1, 3])).unwrap();
    let after = fs::read(log_path(&store, "one")).unwrap();
    let third = archive(&store, "one")[first.len()..].to_vec();
    let problems = |repair: bool| {
        let mut found = super::fsck::look(&store, repair);
        found.retain(|found| found.problem == crate::store::fsck::Problem::ArchivedData);
        found
    };
    let comes_back = |what: &str| {
        assert_eq!(
            store.archived("one").unwrap().last().unwrap().event,
            "g3",
            "{what}"
        );
        store.ungc("one", "g3", &restore("g3"), false).unwrap();
        let back = read(&store, "one").0;
        assert_eq!(back[..lines.len()], lines, "{what}");
    };
    let is_end = |at: &usize| at.is_multiple_of(16) || second[at - 1] == b'\n' || second[*at] == b'\n';
    for length in (first.len()..second.len()).filter(is_end) {
        // The state after a kill.
        fs::write(log_path(&store, "one"), &before).unwrap();
        fs::write(archive_path(&store), &second[..length]).unwrap();
        store.gc("one", &gc_options("g3"), without(&[1, 3])).unwrap();
        assert_eq!(archive(&store, "one"), [&first[..], &third].concat(), "{length}");
        assert_eq!(problems(false), [], "{length}");
        comes_back(&format!("cut at {length}"));
        // The state that a program which did not recognize it leaves.
        for repairs in [false, true] {
            let mut glued = second[..length].to_vec();
            if !glued.ends_with(b"\n") {
                glued.push(b'\n');
            }
            glued.extend_from_slice(&third);
            fs::write(log_path(&store, "one"), &after).unwrap();
            fs::write(archive_path(&store), &glued).unwrap();
            if repairs {
                let found = problems(true);
                assert_eq!(
                    found.is_empty(),
                    length == first.len() || length == second.len() - 1
                );
                assert_eq!(problems(false), [], "{length}");
            }
            comes_back(&format!(
                "another gc behind a cut at {length}, repairs: {repairs}"
            ));
        }
    }
}

#[test]
fn archived_lines_survive_a_truncated_archive() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c", "d"]);
    store.gc("one", &gc_options("g1"), without(&[1, 3])).unwrap();
    let whole = archive(&store, "one");
    for length in [whole.len() - 30, whole.len() - 90] {
        fs::write(archive_path(&store), &whole[..length]).unwrap();
        store
            .gc("one", &gc_options(&format!("g{length}")), without(&[1]))
            .unwrap();
        assert!(archive(&store, "one").starts_with(&whole[..length]));
        fs::write(archive_path(&store), &whole).unwrap();
    }
}

#[test]
fn temporary_files_of_ended_runs_are_removed_by_a_change() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c"]);
    store.gc("one", &gc_options("g1"), without(&[1])).unwrap();
    let left = ["sessions", "archive"].map(|dir| store.path().join(dir).join(".one.jsonl.new"));
    let leave = || left.iter().for_each(|path| fs::write(path, "half").unwrap());
    let there = || [left[0].exists(), left[1].exists()];
    leave();
    store.append("one", &[&message("d")]).unwrap();
    assert_eq!(there(), [false, true]);
    let nothing = |_: &Session| Ok(None);
    let dry = GcOptions {
        dry_run: true,
        ..gc_options("g2")
    };
    leave();
    store.gc("one", &dry, nothing).unwrap();
    assert_eq!(there(), [true, true]);
    store.gc("one", &gc_options("g2"), nothing).unwrap();
    assert_eq!(there(), [false, false]);
    leave();
    store.ungc("one", "g1", &restore("g1"), false).unwrap();
    assert_eq!(there(), [false, false]);
    leave();
    store.purge("one").unwrap();
    assert_eq!(there(), [false, false]);
    // A temporary file in use is kept.
    begin_notes(&store, "one", &["a"]);
    leave();
    let used = File::open(&left[0]).unwrap();
    used.lock().unwrap();
    store.append("one", &[&message("d")]).unwrap();
    assert_eq!(there(), [true, true]);
}

#[test]
fn discard_deletes_lines_that_are_old_enough() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c", "d"]);
    let old = GcOptions {
        at: "2026-01-01T00:00:00Z",
        ..gc_options("g1")
    };
    store.gc("one", &old, without(&[1])).unwrap();
    store.gc("one", &gc_options("g2"), without(&[1])).unwrap();
    let discard = GcOptions {
        discard: true,
        until: crate::model::time::seconds("2026-06-01T00:00:00Z"),
        ..gc_options("g3")
    };
    let none = |_: &Session| Ok(None);
    let dry = store
        .gc(
            "one",
            &GcOptions {
                dry_run: true,
                ..discard
            },
            none,
        )
        .unwrap();
    assert_eq!(store.archived("one").unwrap().len(), 2);
    assert_eq!(store.gc("one", &discard, none).unwrap(), dry);
    assert_eq!(store.archived("one").unwrap().len(), 1);
    let removed = read(&store, "one").0[3].clone();
    let all = GcOptions {
        until: None,
        ..discard
    };
    assert!(store.gc("one", &all, without(&[3])).unwrap().is_change());
    assert_eq!(store.archived("one").unwrap(), []);
    assert!(!read(&store, "one").0.contains(&removed));
    assert_eq!(
        kind(store.ungc("one", "g3", &restore("g3"), false)),
        ErrorKind::No
    );
}

/// A log with long values: some messages have no id, two of them are equal.
fn begin_long(store: &Store) {
    let long = |text: &str| text.repeat(100);
    let lines = [
        header("one"),
        format!(r#"{{"role":"user","content":"{}","id":"m1"}}"#, long("first ")).into_bytes(),
        format!(r#"{{"role":"assistant","content":"{}"}}"#, long("same ")).into_bytes(),
        format!(r#"{{"role":"assistant","content":"{}"}}"#, long("same ")).into_bytes(),
        format!(
            r#"{{ "role":"user", "content":"{}","metadata":{{"k":"{}"}},"id":"m4"}}"#,
            long("fourth "),
            long("v")
        )
        .into_bytes(),
    ];
    store.create_session("one", &lines).unwrap();
    let session = store.load("one", &mut Report::default()).unwrap();
    let second = session.id(3).unwrap();
    let line = format!(
        r#"{{"type":"compact","id":"c1","at":"{NOW}","strategy":"s","drop":["m1"],"edit":[{{"id":"m4","tokens":4}},{{"id":"{second}","tokens":3}}]}}"#
    );
    store.append("one", &[line.as_bytes()]).unwrap();
}

fn shown(store: &Store) -> Vec<Vec<u8>> {
    let session = store.load("one", &mut Report::default()).unwrap();
    View::replay(&session).shown(&session)
}

#[test]
fn long_values_that_are_not_in_memory_are_in_the_new_log() {
    let (_dir, store) = store();
    begin_long(&store);
    let (before, view) = (fs::read(log_path(&store, "one")).unwrap(), shown(&store));
    // An event that refers to a message by its derived id.
    assert_eq!(super::fsck::look(&store, false), []);
    assert!(view.len() == 3 && view[1].len() > 500 && view[2].len() > 800);
    let receipt = store
        .gc("one", &gc_options("g1"), |session| gc::plan(session, None))
        .unwrap();
    assert_eq!((receipt.lines, receipt.taken), ((6, 5), 4));
    assert_eq!(receipt.archive.1, archive(&store, "one").len() as u64);
    assert_eq!(receipt.bytes.1, store.size("one").unwrap());
    assert_eq!(shown(&store), view);
    // After a crash between the two files, the archive also has lines of the log.
    let (after, run) = (fs::read(log_path(&store, "one")).unwrap(), archive(&store, "one"));
    fs::write(log_path(&store, "one"), &before).unwrap();
    store
        .gc("one", &gc_options("g1"), |session| gc::plan(session, None))
        .unwrap();
    assert_eq!(fs::read(log_path(&store, "one")).unwrap(), after);
    assert_eq!(archive(&store, "one"), run);
    store.ungc("one", "g1", &restore("g1"), false).unwrap();
    assert!(fs::read(log_path(&store, "one")).unwrap().starts_with(&before));
    assert_eq!(shown(&store), view);
}

#[test]
fn a_gc_refuses_a_damaged_log() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c"]);
    let good = fs::read(log_path(&store, "one")).unwrap();
    let mut flipped = good.clone();
    flipped[60] ^= 1;
    let truncated = [&good[..], b"{\"role\":"].concat();
    for bad in [flipped, truncated] {
        fs::write(log_path(&store, "one"), &bad).unwrap();
        assert_eq!(
            kind(store.gc("one", &gc_options("g1"), without(&[1]))),
            ErrorKind::Data
        );
        assert_eq!(fs::read(log_path(&store, "one")).unwrap(), bad);
    }
    assert!(!store.path().join("archive").exists());
}

#[test]
fn a_log_open_in_another_program_is_not_rewritten() {
    let (_dir, store) = store();
    begin_notes(&store, "one", &["a", "b", "c"]);
    let path = log_path(&store, "one");
    let mut foreign = std::process::Command::new("sh")
        .args(["-c", "exec 3>>\"$0\"; echo open; read line"])
        .arg(&path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut reported = [0; 5];
    std::io::Read::read_exact(foreign.stdout.as_mut().unwrap(), &mut reported).unwrap();
    let error = store.gc("one", &gc_options("g1"), without(&[1])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Locked);
    assert!(
        error.message.contains(&format!("process {}", foreign.id())),
        "{error}"
    );
    let options = GcOptions {
        force: true,
        ..gc_options("g1")
    };
    store.gc("one", &options, without(&[1])).unwrap();
    drop(foreign.stdin.take());
    foreign.wait().unwrap();
    // This program itself may have the log open, and checks again under its lock.
    let mut appender = store.appender("one").unwrap();
    appender.push(&message("d")).unwrap();
    appender.flush().unwrap();
    store.gc("one", &gc_options("g2"), without(&[1])).unwrap();
    appender.push(&message("e")).unwrap();
    appender.flush().unwrap();
    assert!(read(&store, "one").0.last().unwrap().contains("\"e\""));
}
