//! Distributes the blocks of a changed message over its lines, so that unchanged lines keep their bytes.

use super::line::{self, block_type};
use super::line_changes::LineChange;
use crate::model::json::{self, array};
use std::borrow::Cow;

/// Distributes the content of a message over its lines, whose previous contents are given. A change has the new content
/// of its line.
pub fn distribute_content(lines: &[Option<&[u8]>], now: Option<&[u8]>) -> Vec<LineChange> {
    let Some(now) = now else {
        return lines.iter().map(|_| LineChange::Removed).collect();
    };
    if let [Some(old)] = lines
        && (old.starts_with(b"\"") || now.starts_with(b"\""))
    {
        return vec![match json::same(old, now) {
            true => LineChange::Keep,
            false => LineChange::Replace(now.to_vec()),
        }];
    }
    let new = line::blocks(now);
    let contents = lines.iter().map(|content| content.map(line::blocks));
    let old: Vec<Vec<Cow<'_, [u8]>>> = contents.map(Option::unwrap_or_default).collect();
    let blocks = old.iter().enumerate();
    let blocks: Vec<(usize, &[u8])> = blocks
        .flat_map(|(line, blocks)| blocks.iter().map(move |block| (line, block.as_ref())))
        .collect();
    let mut dealt: Vec<Vec<&[u8]>> = vec![Vec::new(); lines.len()];
    for (block, line) in new.iter().zip(block_lines(&blocks, &new)) {
        dealt[line].push(block);
    }
    let changes = old.iter().zip(dealt).map(|(own, dealt)| {
        let mut pairs = own.iter().zip(&dealt);
        let is_same = own.len() == dealt.len() && pairs.all(|(one, other)| json::same(one, other));
        match (is_same, dealt.is_empty()) {
            (true, _) => LineChange::Keep,
            (false, true) => LineChange::Removed,
            (false, false) => LineChange::Replace(array(dealt)),
        }
    });
    changes.collect()
}

/// The line of each new block: that of the equal old block, of the block that it replaces, or of a neighbor.
fn block_lines(old: &[(usize, &[u8])], new: &[Cow<'_, [u8]>]) -> Vec<usize> {
    let mut free = vec![true; old.len()];
    let mut places: Vec<Option<usize>> = vec![None; new.len()];
    let mut take = |places: &mut Vec<Option<usize>>, is: &dyn Fn(&[u8], &[u8]) -> bool| {
        // Both advance together, which keeps the order and bounds the time.
        let mut from = 0;
        for (nth, block) in new.iter().enumerate() {
            if places[nth].is_some() {
                continue;
            }
            let found = (from..old.len()).find(|at| free[*at] && is(old[*at].1, block));
            if let Some(at) = found {
                free[at] = false;
                places[nth] = Some(old[at].0);
                from = at + 1;
            }
        }
    };
    take(&mut places, &|one, other| json::same(one, other));
    take(&mut places, &|one, other| {
        let id = |block| json::member(block, "id").map(<[u8]>::to_vec);
        block_type(one) == block_type(other) && id(one) == id(other)
    });
    take(&mut places, &|one, other| block_type(one) == block_type(other));
    let first = places.iter().flatten().next().copied().unwrap_or(0);
    let mut last = first;
    places
        .into_iter()
        .map(|place| {
            last = place.unwrap_or(last);
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        format!(r#"{{"type":"text","text":"{text}"}}"#)
    }

    fn call(id: &str, input: &str) -> String {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"n","input":{input}}}"#)
    }

    fn dealt(lines: &[&str], now: Option<&str>) -> Vec<LineChange> {
        let lines: Vec<Option<&[u8]>> = lines.iter().map(|line| Some(line.as_bytes())).collect();
        distribute_content(&lines, now.map(str::as_bytes))
    }

    fn list(blocks: &[String]) -> String {
        format!("[{}]", blocks.join(","))
    }

    #[test]
    fn a_block_remains_in_its_line() {
        let lines = [
            list(&[text("a")]),
            list(&[call("1", "{}")]),
            list(&[call("2", "{}")]),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let now = list(&[text("a"), call("1", "{}"), call("2", r#"{"x":1}"#)]);
        let changed = LineChange::Replace(list(&[call("2", r#"{"x":1}"#)]).into_bytes());
        assert_eq!(
            dealt(&lines, Some(&now)),
            [LineChange::Keep, LineChange::Keep, changed]
        );
        let now = list(&[text("a"), call("2", "{}")]);
        assert_eq!(
            dealt(&lines, Some(&now)),
            [LineChange::Keep, LineChange::Removed, LineChange::Keep]
        );
        let now = list(&[text("b")]);
        let changed = LineChange::Replace(now.clone().into_bytes());
        assert_eq!(
            dealt(&lines, Some(&now)),
            [changed, LineChange::Removed, LineChange::Removed]
        );
        assert_eq!(
            dealt(&lines, None),
            [LineChange::Removed, LineChange::Removed, LineChange::Removed]
        );
    }

    #[test]
    fn a_text_remains_a_text() {
        assert_eq!(dealt(&[r#""a""#], Some(r#""a""#)), [LineChange::Keep]);
        let changed = LineChange::Replace(br#""b""#.to_vec());
        assert_eq!(dealt(&[r#""a""#], Some(r#""b""#)), [changed]);
    }
}
