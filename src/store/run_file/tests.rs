//! Tests that runs are found in damaged files.

use super::*;

fn of(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut members = ObjectBuilder::default();
    members.text("type", name);
    run(members, bytes)
}

fn found(file: &[u8]) -> Vec<FileRun> {
    runs(&mut io::Cursor::new(file)).unwrap()
}

/// Bytes of a range.
fn within(file: &[u8], range: Range<u64>) -> &[u8] {
    &file[range.start as usize..range.end as usize]
}

#[test]
fn runs_are_found_between_arbitrary_data() {
    let truncated = of("torn", b"never finished\n");
    let pieces = [&b""[..], b"x\n", b"no newline", b"\xff\0\n\n", b"{\"bytes\":5}\n"];
    let mut file = Vec::new();
    for piece in pieces {
        file.extend(of("archive", piece));
        file.extend_from_slice(&truncated[..truncated.len() / 3]);
        file.push(b'\n');
    }
    let found = found(&file);
    let back: Vec<&[u8]> = found.iter().map(|run| within(&file, run.bytes.clone())).collect();
    assert_eq!(back, pieces);
    assert!(found.iter().all(|run| run.sound));
}

#[test]
fn a_truncated_run_hides_no_later_run() {
    let content = b"{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n";
    let (first, cut) = (of("archive", content), of("archive", &content.repeat(3)));
    let next = of("archive", b"next\n");
    let dir = tempfile::tempdir().unwrap();
    let directory = Directory::open(dir.path()).unwrap();
    for length in 0..cut.len() {
        for more in [&b""[..], &cut[..cut.len() / 2]] {
            let mut file = [&first[..], &cut[..length]].concat();
            for bytes in [more, &next, &next] {
                if !file.ends_with(b"\n") {
                    file.push(b'\n');
                }
                file.extend_from_slice(bytes);
            }
            let runs = found(&file);
            // Only the newline is missing, and the next run adds it.
            let whole = length == cut.len() - 1;
            assert_eq!(runs.len(), 3 + usize::from(whole), "{length}");
            assert!(runs.iter().all(|run| run.sound), "{length}");
            assert_eq!(within(&file, runs[0].start..runs[0].end), &first, "{length}");
            assert_eq!(
                runs.last().map(|run| run.end),
                Some(file.len() as u64),
                "{length}"
            );
        }
        let file = [&first[..], &cut[..length]].concat();
        std::fs::write(dir.path().join("one"), &file).unwrap();
        let pieces = RunPieces::open(&directory, "one").unwrap();
        let rest = first.len() as u64..file.len() as u64;
        let found = pieces.unfinished(rest, b"{\"type\":\"archive\"").unwrap();
        let head = memchr::memchr(b'\n', &cut).unwrap() + 1;
        let expected = (length > 0).then(|| (first.len(), &cut[head.min(length)..length]));
        let found = found.map(|run| (run.start as usize, within(&file, run.bytes)));
        assert_eq!(found, expected, "{length}");
    }
}

#[test]
fn a_flipped_bit_makes_a_run_invalid() {
    let mut file = of("archive", b"one\ntwo\n");
    let at = file.len() - 3;
    file[at] ^= 1;
    assert!(!found(&file)[0].sound);
}
