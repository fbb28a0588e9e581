//! Reads various arrays in chunks of various sizes.

use super::*;
use crate::format::tests::bed::SlowReader;
use crate::model::json::{Dialect, value_end};
use proptest::prelude::*;

/// The elements, the error after them, and whether all bytes were returned in order.
fn read(text: &[u8], step: usize) -> (Vec<String>, Option<String>, bool) {
    let head = step.min(3).min(text.len());
    let mut reader = ElementReader::new(text[..head].to_vec(), SlowReader(&text[head..], step));
    let (mut found, mut all) = (Vec::new(), Vec::new());
    let fault = loop {
        match reader.next_element() {
            Ok(Some(element)) => {
                all.extend_from_slice(element.before);
                let before = memchr::memchr_iter(b'\n', &all).count() as u64;
                assert_eq!(
                    element.place,
                    Position {
                        line: before + 1,
                        offset: all.len() as u64
                    }
                );
                all.extend_from_slice(element.bytes);
                found.push(String::from_utf8_lossy(element.bytes).into_owned());
            }
            Ok(None) => break None,
            Err(error) => break Some(format!("{} at {}", error.message, error.at.unwrap().1.offset)),
        }
    };
    all.extend_from_slice(reader.tail());
    let rest = reader.into_parts().1.0;
    all.extend_from_slice(rest);
    (found, fault, all == text)
}

fn elements(text: &str) -> (Vec<String>, Option<String>) {
    let once = read(text.as_bytes(), 1 << 20);
    for step in [1, 2, 7] {
        assert_eq!(read(text.as_bytes(), step), once, "{text} in steps of {step}");
    }
    assert!(once.2, "{text}");
    (once.0, once.1)
}

#[test]
fn elements_are_read_one_after_another() {
    for (text, expected) in [
        ("", &[][..]),
        (" \n", &[]),
        ("[]", &[]),
        ("\u{feff}[ ]\n", &[]),
        ("[1]", &["1"]),
        ("[ 1 , 2\n,\t3 ]", &["1", "2", "3"]),
        (
            "[\"a,]\\\"\",{\"b\":[1,{\"c\":\"]}\"}]} ,[],null]",
            &["\"a,]\\\"\"", "{\"b\":[1,{\"c\":\"]}\"}]}", "[]", "null"],
        ),
        ("[\"\\\\\",\"\\\\\\\"\"]", &["\"\\\\\"", "\"\\\\\\\"\""]),
        ("[{}]\n[{\"a\":1}][]", &["{}", "{\"a\":1}"]),
        // Invalid inside, and the next element follows.
        ("[{\"a\" 1},{\"b\":2}]", &["{\"a\" 1}", "{\"b\":2}"]),
    ] {
        let (found, fault) = elements(text);
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), fault),
            (expected.to_vec(), None),
            "{text}"
        );
    }
}

#[test]
fn malformed_or_truncated_arrays_are_reported_with_position() {
    for (text, count, fault) in [
        ("{}", 0, "expected an array at 0"),
        ("[1] 2", 1, "expected an array at 4"),
        ("[1", 0, "the array ends inside an element at 1"),
        ("[1,", 1, "unterminated array at 3"),
        (
            "[{\"a\":1},{\"b\":\"]",
            1,
            "the array ends inside an element at 9",
        ),
        ("[1,]", 1, "expected an element at 3"),
        ("[,1]", 0, "expected an element at 1"),
        ("[1,,2]", 1, "expected an element at 3"),
        ("[{} {}]", 1, "expected a comma or the end of the array at 4"),
        ("[[]}", 1, "expected an element at 3"),
        ("[", 0, "unterminated array at 1"),
    ] {
        let (found, reported) = elements(text);
        assert_eq!((found.len(), reported.as_deref()), (count, Some(fault)), "{text}");
    }
}

#[test]
fn depth_and_length_are_unlimited() {
    let deep = format!("[{}{},1]", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let long = format!("[\"{}\",1]", "x".repeat(5 << 20));
    for text in [deep, long] {
        let (found, fault, whole) = read(text.as_bytes(), 100_000);
        assert_eq!((found.len(), fault, whole), (2, None, true));
        assert_eq!(found[0].len(), text.len() - 4);
    }
}

#[test]
fn the_remaining_input_is_returned_after_one_element() {
    let text = b"  [ {\"a\":1}, {\"b\":2}]";
    let mut reader = ElementReader::new(Vec::new(), SlowReader(text, 4));
    assert_eq!(reader.next_element().unwrap().unwrap().bytes, b"{\"a\":1}");
    let (mut head, mut rest) = reader.into_parts();
    rest.read_to_end(&mut head).unwrap();
    assert_eq!(head, text);
}

proptest! {
    #[test]
    fn any_input_terminates_and_loses_no_byte(text in "[\\[\\]{}\",:\\\\ a1\\n]{0,40}", step in 1usize..5) {
        let (_, _, whole) = read(text.as_bytes(), step);
        prop_assert!(whole);
    }

    #[test]
    fn json_elements_are_returned_unchanged(numbers in proptest::collection::vec("[a-z0-9\"\\\\]{0,9}", 0..6), space in "[ \\n]{0,3}", step in 1usize..9) {
        let values: Vec<String> = numbers.iter().map(|text| {
            let mut raw = Vec::new();
            json::push_text(&mut raw, text);
            format!("{{\"a\":[{}]}}", String::from_utf8(raw).unwrap())
        }).collect();
        let text = format!("{space}[{space}{}{space}]{space}", values.join(&format!("{space},{space}")));
        prop_assert_eq!(value_end(text.as_bytes(), json::skip_space(text.as_bytes(), 0), Dialect::Strict).is_ok(), true);
        let (found, fault, whole) = read(text.as_bytes(), step);
        prop_assert_eq!((found, fault, whole), (values, None, true));
    }
}
