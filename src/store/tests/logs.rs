//! Tests logs: written lines are read back, and damage is reported.

use super::*;

#[test]
fn appended_lines_read_back_equal() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    store
        .append("one", &[&message("b"), b"not json", b"", &message("c")])
        .unwrap();
    let (lines, report) = read(&store, "one");
    let expected = [
        header("one"),
        message("a"),
        message("b"),
        b"not json".to_vec(),
        Vec::new(),
        message("c"),
    ];
    assert_eq!(
        lines.concat().as_bytes(),
        expected.map(|line| [&line[..], b"\n"].concat()).concat()
    );
    assert_eq!(
        report.findings.len(),
        1,
        "the unreadable line only: {:?}",
        report.findings
    );
    assert_eq!(report.findings[0].place.line, 4);
    let long = message(&"x".repeat(100_000));
    store.create_session("long", std::slice::from_ref(&long)).unwrap();
    assert_eq!(session_lines(&store, "long"), [long]);
    store.create_session("empty", &[]).unwrap();
    assert!(session_lines(&store, "empty").is_empty());
    assert_eq!(kind(store.append("two", &[b"{}"])), ErrorKind::NotFound);
    assert_eq!(kind(store.append("../one", &[b"{}"])), ErrorKind::Unsafe);
}

#[test]
fn a_newer_session_is_refused() {
    let (_dir, store) = store();
    store
        .create_session("new", &[br#"{"type":"session","version":2,"id":"new"}"#.to_vec()])
        .unwrap();
    assert_eq!(kind(store.load("new", &mut Report::default())), ErrorKind::Data);
}

#[test]
fn every_flipped_bit_is_reported() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b", "c", "d"]);
    let good = fs::read(log_path(&store, "one")).unwrap();
    assert!(!read(&store, "one").1.is_damaged());
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(log_path(&store, "one"), &bad).unwrap();
        let mut report = Report::default();
        // A version that became a higher one is reported as an error.
        let loaded = store.load("one", &mut report);
        assert!(report.is_damaged() || loaded.is_err(), "bit {bit}");
        assert!(report.findings.len() <= 2, "bit {bit}: {:?}", report.findings);
        let line = 1 + good[..bit / 8].iter().filter(|byte| **byte == b'\n').count() as u64;
        for finding in &report.findings {
            assert!(
                (line..line + 2).contains(&finding.place.line),
                "bit {bit}: {finding:?}"
            );
        }
    }
}

#[test]
fn every_removed_swapped_or_duplicated_line_is_reported() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b", "c", "d"]);
    let good = fs::read(log_path(&store, "one")).unwrap();
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let check = |lines: &[&[u8]], at: usize, what: &str| {
        fs::write(log_path(&store, "one"), lines.concat()).unwrap();
        let (read, report) = read(&store, "one");
        assert_eq!(read.len(), lines.len());
        assert_eq!(report.findings[0].place.line, at as u64 + 1, "{what} {at}");
        let offset: usize = lines[..at].iter().map(|line| line.len()).sum();
        assert_eq!(report.findings[0].place.offset, offset as u64);
    };
    for at in 0..lines.len() {
        let mut other = lines.clone();
        other.insert(at, lines[at]);
        check(&other, at + 1, "doubled");
        if at + 1 < lines.len() {
            let mut other = lines.clone();
            other.remove(at);
            check(&other, at, "removed");
            let mut other = lines.clone();
            other.swap(at, at + 1);
            check(&other, at, "swapped");
        }
    }
}

#[test]
fn a_truncated_line_hides_no_later_line() {
    let (_dir, store) = store();
    begin(&store, "one", &["a", "b"]);
    let good = fs::read(log_path(&store, "one")).unwrap();
    for length in 0..=good.len() {
        fs::write(log_path(&store, "one"), &good[..length]).unwrap();
        store.append("one", &[&message("new")]).unwrap();
        store.append("one", &[&message("newer")]).unwrap();
        let stored = fs::read(log_path(&store, "one")).unwrap();
        assert_eq!(stored[..length], good[..length], "the fragment stays");
        let (lines, report) = read(&store, "one");
        let whole = good[..length].split_inclusive(|byte| *byte == b'\n').count();
        assert_eq!(lines.len(), whole + 2);
        assert_eq!(
            lines[whole..].concat().as_bytes(),
            [message("new"), message("newer")]
                .map(|m| [&m[..], b"\n"].concat())
                .concat()
        );
        // Only the fragment is reported, and only if it is not a complete line.
        let truncated = length > 0 && good[length - 1] != b'\n' && good[length] != b'\n';
        assert_eq!(
            report.findings.len(),
            usize::from(truncated),
            "{length}: {:?}",
            report.findings
        );
    }
}

#[test]
fn lines_of_other_programs_are_unchecked_until_sealed() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let mut foreign = OpenOptions::new()
        .append(true)
        .open(log_path(&store, "one"))
        .unwrap();
    foreign
        .write_all(b"{\"role\":\"user\",\"content\":\"by hand\"}\n")
        .unwrap();
    assert!(!read(&store, "one").1.is_damaged());
    store.append("one", &[&message("b")]).unwrap();
    assert!(!read(&store, "one").1.is_damaged());
    let changed = fs::read_to_string(log_path(&store, "one"))
        .unwrap()
        .replace("by hand", "by Hand");
    fs::write(log_path(&store, "one"), changed).unwrap();
    assert_eq!(read(&store, "one").1.findings.len(), 1);
}

#[test]
fn threads_lose_nothing_with_a_concurrent_unlocked_writer() {
    let (_dir, mut store) = store();
    store.lock_timeout = Duration::from_secs(60);
    begin(&store, "one", &[]);
    let path = log_path(&store, "one");
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let store = &store;
            scope.spawn(move || {
                let mut appender = store.appender("one").unwrap();
                for number in 0..200 {
                    let line = message(&format!("{thread}-{number}"));
                    if number % 2 == 0 {
                        appender.push(&line).unwrap();
                        assert_eq!(appender.flush().unwrap(), number / 2 + 1);
                    } else {
                        store.append("one", &[&line]).unwrap();
                    }
                }
            });
        }
        scope.spawn(|| {
            for number in 0..200 {
                let mut foreign = OpenOptions::new().append(true).open(&path).unwrap();
                foreign
                    .write_all(&[&message(&format!("2-{number}"))[..], b"\n"].concat())
                    .unwrap();
                std::thread::sleep(Duration::from_micros(300));
            }
        });
    });
    let (lines, report) = read(&store, "one");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    for thread in 0..3 {
        let of_thread = lines
            .iter()
            .filter(|line| line.contains(&format!("\"{thread}-")))
            .count();
        assert_eq!(of_thread, 200, "thread {thread}");
    }
    // A partial line of the other process looks truncated, and the newline added for it leaves a blank line.
    assert_eq!(lines.iter().filter(|line| *line != "\n").count(), 601);
}

#[test]
fn a_locked_log_is_reported_and_unchanged() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let holder = File::open(log_path(&store, "one")).unwrap();
    holder.lock().unwrap();
    let before = fs::read(log_path(&store, "one")).unwrap();
    let mut appender = store.appender("one").unwrap();
    appender.push(&message("b")).unwrap();
    let error = appender.flush().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Locked);
    // The list is not a snapshot: an entry may be missed while other tests lock and unlock.
    let place = format!(":{} ", fs::metadata(log_path(&store, "one")).unwrap().ino());
    if fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains(&place)) {
        let process = format!("process {}", std::process::id());
        let named = (0..50).any(|_| appender.flush().unwrap_err().message.ends_with(&process));
        assert!(named, "{}", error.message);
    }
    assert_eq!(kind(store.remove("one", NOW)), ErrorKind::Locked);
    assert_eq!(fs::read(log_path(&store, "one")).unwrap(), before);
    drop(holder);
    assert_eq!(appender.flush().unwrap(), 1);
    assert_eq!(read(&store, "one").0.len(), 3);
}

#[test]
fn a_replaced_log_is_reopened() {
    let (_dir, store) = store();
    begin(&store, "one", &["a"]);
    let mut appender = store.appender("one").unwrap();
    appender.push(&message("b")).unwrap();
    appender.flush().unwrap();
    let copy = store.path().join("copy");
    fs::copy(log_path(&store, "one"), &copy).unwrap();
    fs::rename(&copy, log_path(&store, "one")).unwrap();
    appender.push(&message("c")).unwrap();
    assert_eq!(appender.flush().unwrap(), 2);
    assert_eq!(read(&store, "one").0.len(), 4);
    fs::remove_file(log_path(&store, "one")).unwrap();
    appender.push(&message("d")).unwrap();
    assert_eq!(kind(appender.flush()), ErrorKind::NotFound);
}

fn session_lines(store: &Store, id: &str) -> Vec<Vec<u8>> {
    let session = store.load(id, &mut Report::default()).unwrap();
    (0..session.len())
        .map(|index| session.record(index).body.to_vec())
        .collect()
}
