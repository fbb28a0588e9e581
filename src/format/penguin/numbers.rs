//! Numbers that Python writes but JSON does not allow: `NaN` and the infinities. In a record they become null, and
//! their positions (RFC 6901 pointers) and values are stored separately, so that Penguin gets them back.

use crate::model::json::{self, Dialect, ObjectBuilder};

const NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Deeper numbers, and those with longer pointers, are not stored, so that the stored data cannot exceed the document.
const DEEPEST: usize = 64;
const LONGEST: usize = 1024;

/// A step of the path to a value.
enum PathStep<'v> {
    Member(&'v [u8]),
    Element(usize),
}

/// Calls `see` for each scalar that is neither a JSON string nor a JSON number, with its path.
fn each<'v>(value: &'v [u8], mut see: impl FnMut(&[PathStep<'v>], std::ops::Range<usize>)) {
    let mut way: Vec<PathStep<'v>> = Vec::new();
    // Whether a member name comes next.
    let mut named = false;
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        match byte {
            b'{' => {
                way.push(PathStep::Member(b""));
                named = true;
                at += 1;
            }
            b'[' => {
                way.push(PathStep::Element(0));
                at += 1;
            }
            b'}' | b']' => {
                way.pop();
                named = false;
                at += 1;
            }
            b',' => {
                match way.last_mut() {
                    Some(PathStep::Element(nth)) => *nth += 1,
                    Some(PathStep::Member(_)) => named = true,
                    None => {}
                }
                at += 1;
            }
            b' ' | b'\n' | b'\r' | b'\t' | b':' => at += 1,
            _ => {
                let end = json::value_end(value, at, Dialect::Python).unwrap_or(value.len());
                if named && byte == b'"' {
                    if let (Some(PathStep::Member(name)), true) = (way.last_mut(), end > at + 1) {
                        *name = &value[at + 1..end - 1];
                    }
                    named = false;
                } else if matches!(byte, b'N' | b'I' | b'-' | b'n') {
                    see(&way, at..end);
                }
                at = end;
            }
        }
    }
}

fn pointer(way: &[PathStep<'_>]) -> Option<String> {
    let length = |step: &PathStep<'_>| match step {
        PathStep::Member(name) => name.len(),
        PathStep::Element(_) => 0,
    };
    if way.len() > DEEPEST || way.iter().map(length).sum::<usize>() > LONGEST {
        return None;
    }
    let mut text = String::new();
    for step in way {
        text.push('/');
        match step {
            PathStep::Member(name) => {
                text.push_str(&json::unescape(name).replace('~', "~0").replace('/', "~1"));
            }
            PathStep::Element(nth) => text.push_str(&nth.to_string()),
        }
    }
    Some(text)
}

/// The numbers in a value: an object of pointers and numbers, and their count; `None` if there are none.
pub(super) fn found(value: &[u8]) -> Option<(Vec<u8>, u64)> {
    let mut built = ObjectBuilder::default();
    let mut count = 0;
    each(value, |way, range| {
        if NUMBERS.contains(&&value[range.clone()])
            && let Some(pointer) = pointer(way)
        {
            built.text(&pointer, &String::from_utf8_lossy(&value[range]));
            count += 1;
        }
    });
    (count > 0).then(|| (built.finish(), count))
}

/// Restores the stored numbers where the value is still null; also returns their count.
pub(super) fn restore_numbers(value: &[u8], noted: &[u8]) -> (Vec<u8>, usize) {
    let noted = json::members(noted, Dialect::Strict).unwrap_or_default();
    let noted: std::collections::HashMap<_, _> = noted
        .into_iter()
        .filter_map(|(pointer, raw)| Some((pointer, json::text(raw)?)))
        .filter(|(_, number)| NUMBERS.contains(&number.as_bytes()))
        .collect();
    let (mut out, mut from, mut count) = (Vec::with_capacity(value.len()), 0, 0);
    each(value, |way, range| {
        if &value[range.clone()] == b"null"
            && let Some(number) = pointer(way).and_then(|pointer| noted.get(pointer.as_str()))
        {
            out.extend_from_slice(&value[from..range.start]);
            out.extend_from_slice(number.as_bytes());
            from = range.end;
            count += 1;
        }
    });
    out.extend_from_slice(&value[from..]);
    (out, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_numbers_are_restored_in_place() {
        let value = br#"{"a":[null,NaN,{"b/~":-Infinity,"c":"NaN"}],"d":Infinity,"n":-1,"":[[NaN]]}"#;
        let (noted, found_count) = found(value).unwrap();
        assert_eq!(found_count, 4);
        assert_eq!(
            String::from_utf8_lossy(&noted),
            r#"{"/a/1":"NaN","/a/2/b~1~0":"-Infinity","/d":"Infinity","//0/0":"NaN"}"#
        );
        let (plain, count) = json::compact(value);
        assert_eq!(count, 4);
        assert_eq!(restore_numbers(&plain, &noted), (value.to_vec(), 4));
        assert_eq!(found(br#"{"a":null,"b":"NaN","c":-2}"#), None);
    }

    #[test]
    fn very_deep_numbers_are_not_recorded() {
        let deep = format!("{}NaN{}", "[NaN,".repeat(50_000), "]".repeat(50_000));
        let (noted, _) = found(deep.as_bytes()).unwrap();
        assert!(noted.len() < 20_000);
        assert_eq!(
            restore_numbers(&json::compact(deep.as_bytes()).0, &noted).1,
            DEEPEST
        );
    }

    #[test]
    fn members_that_are_not_null_are_not_replaced() {
        assert_eq!(
            restore_numbers(br#"{"a":1}"#, br#"{"/a":"NaN","/b":"NaN"}"#).0,
            br#"{"a":1}"#
        );
        assert_eq!(
            restore_numbers(br#"{"a":null}"#, br#"{"/a":"1"}"#).0,
            br#"{"a":null}"#
        );
        assert_eq!(restore_numbers(b"null", br#"{"":"NaN"}"#), (b"NaN".to_vec(), 1));
    }
}
