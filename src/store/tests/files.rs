//! Tests files: batches, modes, links, atomic replacement.

use super::*;

#[test]
fn a_batch_is_renamed_together() {
    let (dir, store) = store();
    begin(&store, "id3", &["old"]);
    begin(&store, "other", &[]);
    store.alias_add("id4", "other").unwrap();
    for count in [5, 20] {
        let batch = store.batch().unwrap();
        let ids: Vec<_> = (0..count).map(|number| format!("id{number}")).collect();
        let staged = ids
            .iter()
            .map(|id| batch.stage(id, [header(id), message(id)]).unwrap())
            .collect();
        drop(batch.stage("never", [b"x"]).unwrap());
        assert_eq!(
            store.ids().unwrap().len(),
            if count == 5 { 2 } else { 5 },
            "no name before the commit"
        );
        for (id, result) in batch.commit(staged) {
            let old: usize = id[2..].parse().unwrap();
            let taken = matches!(old, 3 | 4) || (count == 20 && old < 5);
            assert_eq!(
                result.map_err(|error| error.kind),
                if taken { Err(ErrorKind::Exists) } else { Ok(()) },
                "{id}"
            );
        }
    }
    let (lines, report) = read(&store, "id7");
    assert_eq!((lines.len(), report.findings.len()), (2, 0));
    assert!(read(&store, "id3").0[1].contains("old"));
    let names = fs::read_dir(store.path().join("sessions")).unwrap();
    assert_eq!(
        names
            .filter(|name| name.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.')
            .count(),
        0
    );

    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let batch = Batch::in_dir(&out).unwrap();
    let sealed = fs::read(log_path(&store, "id7")).unwrap();
    let staged = batch
        .stage("id7", sealed.split_inclusive(|byte| *byte == b'\n'))
        .unwrap();
    assert!(batch.commit(vec![staged])[0].1.is_ok());
    let bare = [header("id7"), message("id7")]
        .map(|line| [&line[..], b"\n"].concat())
        .concat();
    assert_eq!(fs::read(out.join("id7.jsonl")).unwrap(), bare);
}

#[test]
fn leftovers_of_ended_processes_are_removed_only() {
    let (_dir, store) = store();
    let living = store.batch().unwrap();
    let staged = living.stage("one", [header("one")]).unwrap();
    let sessions = store.path().join("sessions");
    let dead = [".stage-1-1", ".stage-1-1-0", ".stage-1-1-1", ".stage-2-7-0"];
    for name in dead.iter().chain(&[".stage-mine", "..stage-1-1"]) {
        fs::write(sessions.join(name), "").unwrap();
    }
    drop(store.batch().unwrap());
    for name in dead {
        assert!(!sessions.join(name).exists(), "{name}");
    }
    assert!(sessions.join(".stage-mine").exists());
    assert!(living.commit(vec![staged])[0].1.is_ok());
}

#[test]
fn hard_links_are_refused_for_writing() {
    let (dir, store) = store();
    let stamp = |what: &str| Ok(stamp(&format!("evt_{}", key::sha256(what.as_bytes()))));
    let repair = |store: &Store| {
        let check = crate::store::fsck::FsckOptions {
            ids: None,
            repair: Some(&stamp),
            link: &[],
            force: false,
        };
        let mut found = Vec::new();
        store.check(&check, &mut |one| found.push(one.problem)).unwrap();
        found
    };
    for id in ["one", "two"] {
        begin(&store, id, &["a"]);
    }
    store.alias_add("chat", "two").unwrap();
    let outside = dir.path().join("outside");
    for (place, name) in [("sessions", "one.jsonl"), ("aliases", "chat")] {
        let path = store.path().join(place).join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::hard_link(&path, &outside).unwrap();
        let before = fs::read(&outside).unwrap();
        match place {
            "sessions" => {
                assert_eq!(kind(store.append("one", &[b"{}"])), ErrorKind::Unsafe);
                assert_eq!(kind(store.remove("one", NOW)), ErrorKind::Unsafe);
            }
            _ => {
                assert_eq!(kind(store.alias_move("chat", "one")), ErrorKind::Unsafe);
                assert_eq!(kind(store.alias_remove("chat")), ErrorKind::Unsafe);
            }
        }
        assert!(
            repair(&store).contains(&crate::store::fsck::Problem::UnexpectedFile),
            "{place}"
        );
        assert_eq!(fs::metadata(&outside).unwrap().mode() & 0o777, 0o644, "{place}");
        assert_eq!(fs::read(&outside).unwrap(), before, "{place}");
        fs::remove_file(&outside).unwrap();
        assert!(
            !repair(&store).contains(&crate::store::fsck::Problem::UnexpectedFile),
            "{place}"
        );
    }
    store.append("one", &[b"{}"]).unwrap();
    // Files that the store itself gives two names temporarily.
    fs::create_dir(store.path().join("quarantine")).unwrap();
    let copy = store.path().join("quarantine/one.20261120T180203Z.copy");
    fs::hard_link(log_path(&store, "one"), &copy).unwrap();
    store.append("one", &[b"{}"]).unwrap();
    assert_eq!(read(&store, "one").0.len(), 4);
}

#[test]
fn links_and_pipes_are_refused() {
    let (dir, store) = store();
    begin(&store, "one", &["a"]);
    let outside = dir.path().join("outside");
    fs::copy(log_path(&store, "one"), &outside).unwrap();
    let before = fs::read(&outside).unwrap();
    symlink(&outside, log_path(&store, "link")).unwrap();
    // Not with mkfifo(1): a child process holds the locks of other tests between fork and exec.
    #[cfg(target_os = "linux")]
    let pipe = {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(
            CWD,
            log_path(&store, "pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .is_ok()
    };
    #[cfg(not(target_os = "linux"))]
    let pipe = false;
    for id in ["link", "pipe"].into_iter().take(1 + usize::from(pipe)) {
        assert_eq!(kind(store.append(id, &[b"{}"])), ErrorKind::Unsafe, "{id}");
        assert_eq!(kind(store.reader(id).map(|_| ())), ErrorKind::Unsafe, "{id}");
        assert_eq!(kind(store.resolve(id)), ErrorKind::Unsafe, "{id}");
        assert_eq!(kind(store.remove(id, NOW)), ErrorKind::Unsafe, "{id}");
        assert_eq!(kind(store.create_session(id, &[])), ErrorKind::Exists, "{id}");
    }
    assert_eq!(fs::read(&outside).unwrap(), before);
    symlink(dir.path(), store.path().join("trash")).unwrap();
    assert_eq!(kind(store.remove("one", NOW)), ErrorKind::Unsafe);
    assert!(store.has("one").unwrap());
}

#[test]
fn a_store_is_private_to_its_owner() {
    let (dir, store) = store();
    begin(&store, "one", &[]);
    store.alias_add("a", "one").unwrap();
    let batch = store.batch().unwrap();
    let staged = batch.stage("two", [header("two")]).unwrap();
    batch.commit(vec![staged]);
    store.remove("one", NOW).unwrap();
    let mut dirs = vec![dir.path().join("a")];
    let mut files = 0;
    while let Some(path) = dirs.pop() {
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            path.display()
        );
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            } else {
                files += 1;
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
            }
        }
    }
    assert_eq!(files, 4, "two logs, an alias, the marker of the batch");
    let nothing = Store::open(&dir.path().join("nothing")).unwrap_err();
    assert_eq!(nothing.kind, ErrorKind::NotFound);
    assert!(nothing.hint.is_some());
}

#[test]
fn a_file_that_another_program_closes_soon_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.json");
    fs::write(&path, "one").unwrap();
    let mut program = std::process::Command::new("sh")
        .args(["-c", "exec 3>>\"$0\"; echo; read -r line"])
        .arg(&path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    let file = fs::File::open(&path).unwrap();
    assert_eq!(
        refuse_writers(&file, "file").map_err(|error| error.kind),
        Err(ErrorKind::Locked)
    );
    let closing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        drop(program.stdin.take());
        program.wait()
    });
    refuse_writers(&file, "file").unwrap();
    closing.join().unwrap().unwrap();
}

#[test]
fn a_file_is_replaced_whole_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.json");
    let options = Rewrite {
        lock_timeout: Duration::ZERO,
        ..Rewrite::default()
    };
    let put = |text: &'static str| {
        move |out: &mut dyn Write| out.write_all(text.as_bytes()).map_err(|e| Error::io("", e))
    };
    let now = || fs::read_to_string(&path).unwrap();
    write_atomically(&path, put("one"), &options).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let backed_up = Rewrite {
        backup: Some("~".into()),
        ..options.clone()
    };
    write_atomically(&path, put("two"), &backed_up).unwrap();
    assert_eq!(
        (now().as_str(), fs::metadata(&path).unwrap().mode() & 0o777),
        ("two", 0o640)
    );
    assert_eq!(fs::metadata(dir.path().join("file.json~")).unwrap().ino(), inode);
    assert_eq!(
        kind(write_atomically(&path, put("three"), &backed_up)),
        ErrorKind::Exists
    );
    let failing = |_: &mut dyn Write| Err(Error::data("no"));
    assert_eq!(kind(write_atomically(&path, failing, &options)), ErrorKind::Data);
    let meddling = |_: &mut dyn Write| fs::write(&path, "foreign").map_err(|e| Error::io("", e));
    assert_eq!(
        kind(write_atomically(&path, meddling, &options)),
        ErrorKind::Locked
    );
    assert_eq!(now(), "foreign");
    let other_backup = Rewrite {
        backup: Some(".bak".into()),
        ..options.clone()
    };
    let meddling = |_: &mut dyn Write| fs::write(&path, "more").map_err(|e| Error::io("", e));
    assert_eq!(
        kind(write_atomically(&path, meddling, &other_backup)),
        ErrorKind::Locked
    );
    let read = FileStat::of(&File::open(dir.path().join("file.json~")).unwrap()).unwrap();
    let stale = Rewrite {
        read: Some(read),
        ..options.clone()
    };
    assert_eq!(kind(write_atomically(&path, put("x"), &stale)), ErrorKind::Locked);
    let holder = File::open(&path).unwrap();
    holder.lock().unwrap();
    assert_eq!(
        kind(write_atomically(&path, put("x"), &options)),
        ErrorKind::Locked
    );
    // A process that another test is starting may have the file open, too.
    holder.unlock().unwrap();
    fs::hard_link(&path, dir.path().join("second")).unwrap();
    assert_eq!(
        kind(write_atomically(&path, put("x"), &options)),
        ErrorKind::Unsafe
    );
    assert_eq!(now(), "more");
    write_atomically(
        &path,
        put("forced"),
        &Rewrite {
            force: true,
            ..options.clone()
        },
    )
    .unwrap();
    assert_eq!(now(), "forced");
    symlink(&path, dir.path().join("link")).unwrap();
    assert_eq!(
        kind(write_atomically(&dir.path().join("link"), put("x"), &options)),
        ErrorKind::Unsafe
    );
    assert_eq!(
        kind(write_atomically(dir.path(), put("x"), &options)),
        ErrorKind::Unsafe
    );
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["file.json", "file.json~", "link", "second"]);
}
