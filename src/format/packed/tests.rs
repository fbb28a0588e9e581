use super::*;
use proptest::prelude::*;

fn packed(stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut packer = Packer::new(&mut out);
    packer.write_all(stream).unwrap();
    packer.finish().unwrap();
    out
}

fn unpacked(lines: &[u8]) -> Vec<u8> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    let place = Position { line: 1, offset: 0 };
    lines
        .flat_map(|line| unpack(&Record::parse(line, place)).unwrap())
        .collect()
}

#[test]
fn lines_that_are_not_objects_are_packed_and_unpacked() {
    let stream = b"\xef\xbb\xbf{\"role\":\"user\"}\r\n \n[1]\n{\"role\":7}\n\xff\n{\"a\":\n{\"type\":\"x\"}";
    let mut out = Vec::new();
    let mut objects = PackedObjects::new(&mut out);
    stream
        .chunks(3)
        .for_each(|chunk| objects.write_all(chunk).unwrap());
    objects.finish().unwrap();
    let lines: Vec<serde_json::Value> = out
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(serde_json::Value::is_object));
    assert_eq!(lines[1]["records"][0], "[1]");
    assert_eq!(lines[2]["role"], 7);
    let damaged = out.split_inclusive(|byte| *byte == b'\n').nth(3).unwrap();
    assert_eq!(unpacked(damaged), b"\xff\n");
}

#[test]
fn each_session_is_packed_into_a_line_and_unpacked() {
    let stream = b"{\"role\":\"user\",\"content\":1e2}\n{\"type\":\"session\",\"version\":1,\"id\":\"a\"}\n[1]\n\xff\xfe\n{\"role\":\"user\",\"content\":\"\\ud800\"}\n{\"type\":\"session\",\"version\":1,\"id\":\"b\"}\n";
    let lines = packed(stream);
    let text = String::from_utf8(lines.clone()).unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"type":"packed","records":[{"role":"user","content":1e2}]}"#,
            "\n",
            r#"{"type":"packed","id":"a","records":[{"type":"session","version":1,"id":"a"},"[1]",["//4="],{"role":"user","content":"\ud800"}]}"#,
            "\n",
            r#"{"type":"packed","id":"b","records":[{"type":"session","version":1,"id":"b"}]}"#,
            "\n"
        )
    );
    assert_eq!(unpacked(&lines), stream);
    assert_eq!(packed(b""), b"");
    // The last line may lack its newline, and arrives in chunks.
    let open = stream.strip_suffix(b"\n").unwrap();
    assert_eq!(packed(open), lines);
    let mut out = Vec::new();
    let mut packer = Packer::new(&mut out);
    open.chunks(5).for_each(|piece| packer.write_all(piece).unwrap());
    packer.finish().unwrap();
    assert_eq!(out, lines);
    assert!(is_packed(&lines) && !is_packed(stream));
}

#[test]
fn a_hash_is_that_of_one_session_and_not_part_of_it() {
    let stream = b"{\"role\":\"user\"}\n{\"type\":\"session\",\"version\":1,\"id\":\"a\"}\n\n\xff\n";
    let mut out = Vec::new();
    let mut packer = Packer::new(&mut out).hashing(|session| session.len().to_string());
    stream
        .chunks(3)
        .for_each(|piece| packer.write_all(piece).unwrap());
    packer.finish().unwrap();
    assert_eq!(
        String::from_utf8(out.clone()).unwrap(),
        concat!(
            r#"{"type":"packed","sha256":"1","records":[{"role":"user"}]}"#,
            "\n",
            r#"{"type":"packed","id":"a","sha256":"2","records":[{"type":"session","version":1,"id":"a"},["/w=="]]}"#,
            "\n"
        )
    );
    let restored = unpacked(&out);
    let changed: Vec<u8> = out
        .split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| [without_hash(line.trim_ascii_end().to_vec()), b"\n".to_vec()].concat())
        .collect();
    assert_eq!(changed, packed(&restored));
    assert_eq!(without_hash(b"{\"sha256\":1}".to_vec()), b"{\"sha256\":1}");
    let torn = &out[..br#"{"type":"packed","sha256":"1","records":[{"role""#.len()];
    assert!(torn.starts_with(br#"{"type":"packed","sha256":"1","records":["#));
    let torn = String::from_utf8(without_hash(torn.to_vec())).unwrap();
    assert!(
        torn.starts_with(r#"{"type":"packed","records":[{"role""#),
        "{torn}"
    );
    assert_eq!(restored.len() + 1, stream.len(), "without the blank line");
    assert_eq!(packed(&restored).len() + 2 * r#""sha256":"1","#.len(), out.len());
}

#[test]
fn an_input_begins_with_a_packed_session() {
    let long = format!(r#"{{"type":"packed","records":[{{"content":"{}"#, "x".repeat(99));
    for (head, expected) in [
        (r#"{"type":"packed","id":"a","records":[{"role":"user"}]}"#, true),
        ("\u{feff}\n { \"type\" : \"packed\", \"records\": [{}]}\n", true),
        (r#"{"id":"a","records":[{"role":"user"}],"type":"packed"}"#, true),
        (&long, true),
        (r#"{"type":"packed","records":["damaged",{"role":"user"}]}"#, true),
        (r#"{"type":"packed","records":["damaged"]}"#, false),
        (r#"{"type":"packed","records":[["/w=="]]}"#, false),
        (r#"{"type":"packed"}"#, false),
        (
            "{\"role\":\"user\"}\n{\"type\":\"packed\",\"records\":[{}]}\n",
            false,
        ),
        ("not json\nnull\n{\"type\":\"packed\",\"records\":[{}]}\n", true),
        (
            "not json\n{\"role\":\"user\"}\n{\"type\":\"packed\",\"records\":[{}]}\n",
            false,
        ),
        (
            "{\"type\":\"packed\",\"records\":[\"damaged\"]}\n{\"role\":\"user\"}\n",
            false,
        ),
        ("not json\n", false),
        ("", false),
    ] {
        assert_eq!(begins_packed(head.as_bytes()), expected, "{head}");
    }
}

#[test]
fn malformed_packed_lines_are_not_unpacked() {
    for line in [
        r#"{"type":"packed"}"#,
        r#"{"type":"packed","records":[]}"#,
        r#"{"type":"packed","records":[1]}"#,
        r#"{"type":"packed","records":["a\nb"]}"#,
        r#"{"type":"packed","records":[["a","b"]]}"#,
        r#"{"type":"packed","records":[["?"]]}"#,
        r#"{"type":"other","records":[{}]}"#,
    ] {
        let place = Position { line: 1, offset: 0 };
        assert_eq!(unpack(&Record::parse(line.as_bytes(), place)), None, "{line}");
    }
}

proptest! {
    #[test]
    fn arbitrary_lines_are_restored(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n' && *byte != b'\r'), 1..12), 1..6)) {
        let mut stream = lines.join(&b'\n');
        stream.push(b'\n');
        // Blank lines are dropped.
        let is_blank = |line: &&Vec<u8>| {
            matches!(Record::parse(line, Position { line: 1, offset: 0 }).kind, RecordKind::Blank)
        };
        let mut expected = Vec::new();
        for line in lines.iter().filter(|line| !is_blank(line)) {
            expected.extend_from_slice(line);
            expected.push(b'\n');
        }
        prop_assert_eq!(unpacked(&packed(&stream)), expected);
    }
}
