//! Removes a session from the index of a program. Other entries keep their bytes.

use crate::model::json::{ArrayElements, Dialect, Members, member_text};

/// Start and end of an entry.
type Span = (usize, usize);

/// Returns a list of sessions without the one that has this id as its `sessionId`; `None` if it is not in the list.
pub fn without_session(index: &[u8], id: &str) -> Option<Vec<u8>> {
    let mut elements = ArrayElements::new(index, Dialect::Python).ok()?;
    let (mut spans, mut own) = (Vec::new(), None);
    while let Some((start, element)) = elements.next().ok()? {
        if member_text(element, "sessionId").is_some_and(|known| known == id) {
            own = Some(spans.len());
        }
        spans.push((start, start + element.len()));
    }
    Some(without(index, &spans, own?))
}

/// Returns an index without a member of its `projects`; `None` if it has none of this name.
pub fn without_project(index: &[u8], project: &str) -> Option<Vec<u8>> {
    let mut members = Members::new(index, Dialect::Python).ok()?;
    while let Some(member) = members.next().ok()? {
        if member.name() != "projects" {
            continue;
        }
        let first = member.end - member.value.len();
        let mut projects = Members::new(member.value, Dialect::Python).ok()?;
        let (mut spans, mut own) = (Vec::new(), None);
        while let Some(one) = projects.next().ok()? {
            if one.name() == project {
                own = Some(spans.len());
            }
            spans.push((first + one.start, first + one.end));
        }
        return Some(without(index, &spans, own?));
    }
    None
}

/// Returns the bytes without an entry and its comma.
fn without(index: &[u8], spans: &[Span], own: usize) -> Vec<u8> {
    let (start, end) = spans[own];
    let previous = own.checked_sub(1).and_then(|nth| spans.get(nth));
    let (start, end) = match (previous, spans.get(own + 1)) {
        (_, Some((next, _))) => (start, *next),
        (Some((_, previous)), None) => (*previous, end),
        (None, None) => (start, end),
    };
    [&index[..start], &index[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_entries_keep_their_bytes() {
        let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
        let list = |id: &str, list: &str| text(without_session(list.as_bytes(), id));
        let all = "[ {\"sessionId\":\"a\"} ,\n {\"sessionId\":\"b\", \"x\":1},{\"sessionId\":\"c\"}\n]\n";
        for (id, expected) in [
            ("a", "[ {\"sessionId\":\"b\", \"x\":1},{\"sessionId\":\"c\"}\n]\n"),
            ("b", "[ {\"sessionId\":\"a\"} ,\n {\"sessionId\":\"c\"}\n]\n"),
            (
                "c",
                "[ {\"sessionId\":\"a\"} ,\n {\"sessionId\":\"b\", \"x\":1}\n]\n",
            ),
        ] {
            assert_eq!(list(id, all).as_deref(), Some(expected));
        }
        assert_eq!(list("a", "[{\"sessionId\":\"a\"}]").as_deref(), Some("[]"));
        assert_eq!(
            (list("d", all), list("a", "[1"), list("a", "{}")),
            (None, None, None)
        );
        let projects = |name: &str, index: &str| text(without_project(index.as_bytes(), name));
        let index = "{\"v\":1, \"projects\" : {\"/a\":\"a\",\n  \"/b\": \"b\"}}\n";
        let expected = "{\"v\":1, \"projects\" : {\"/a\":\"a\"}}\n";
        assert_eq!(projects("/b", index).as_deref(), Some(expected));
        assert_eq!((projects("/c", index), projects("/a", "{}")), (None, None));
    }
}
