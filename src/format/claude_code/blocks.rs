//! Distributes the blocks of a changed message over its lines, so that unchanged lines keep their bytes.

use super::line::block_type;
use crate::model::json::{self, Dialect, array};

/// The new content of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum LineContent {
    /// Unchanged.
    Same,
    /// Replaced by this content.
    Now(Vec<u8>),
    Removed,
}

/// Distributes the content of a message over its lines, whose previous contents are given.
pub fn distribute_content(lines: &[Option<&[u8]>], now: Option<&[u8]>) -> Vec<LineContent> {
    let Some(now) = now else {
        return lines.iter().map(|_| LineContent::Removed).collect();
    };
    if let [Some(old)] = lines
        && (old.starts_with(b"\"") || now.starts_with(b"\""))
    {
        return vec![match json::same(old, now) {
            true => LineContent::Same,
            false => LineContent::Now(now.to_vec()),
        }];
    }
    let new: Vec<Vec<u8>> = match json::elements(now, Dialect::Strict) {
        Some(blocks) => blocks.into_iter().map(<[u8]>::to_vec).collect(),
        None => vec![crate::format::request::draft::text_part(now)],
    };
    let old: Vec<(usize, Vec<u8>)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, content)| blocks(*content).into_iter().map(move |block| (line, block)))
        .collect();
    let places = block_lines(&old, &new);
    let mut dealt: Vec<Vec<&[u8]>> = vec![Vec::new(); lines.len()];
    for (block, line) in new.iter().zip(places) {
        dealt[line].push(block);
    }
    dealt
        .iter()
        .enumerate()
        .map(|(line, dealt)| {
            let own: Vec<&[u8]> = old
                .iter()
                .filter(|(of, _)| *of == line)
                .map(|(_, block)| block.as_slice())
                .collect();
            let same =
                own.len() == dealt.len() && own.iter().zip(dealt).all(|(one, other)| json::same(one, other));
            match (same, dealt.is_empty()) {
                (true, _) => LineContent::Same,
                (false, true) => LineContent::Removed,
                (false, false) => LineContent::Now(array(dealt)),
            }
        })
        .collect()
}

fn blocks(content: Option<&[u8]>) -> Vec<Vec<u8>> {
    let Some(content) = content else { return Vec::new() };
    match json::elements(content, Dialect::Strict) {
        Some(blocks) => blocks.into_iter().map(<[u8]>::to_vec).collect(),
        None => vec![crate::format::request::draft::text_part(content)],
    }
}

/// The line of each new block: that of the equal old block, of the block that it replaces, or of a neighbor.
fn block_lines(old: &[(usize, Vec<u8>)], new: &[Vec<u8>]) -> Vec<usize> {
    let mut free = vec![true; old.len()];
    let mut places: Vec<Option<usize>> = vec![None; new.len()];
    let mut take = |places: &mut Vec<Option<usize>>, is: &dyn Fn(&[u8], &[u8]) -> bool| {
        // Both advance together, which keeps the order and bounds the time.
        let mut from = 0;
        for (nth, block) in new.iter().enumerate() {
            if places[nth].is_some() {
                continue;
            }
            let found = (from..old.len()).find(|at| free[*at] && is(&old[*at].1, block));
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

    fn dealt(lines: &[&str], now: Option<&str>) -> Vec<LineContent> {
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
        let changed = LineContent::Now(list(&[call("2", r#"{"x":1}"#)]).into_bytes());
        assert_eq!(
            dealt(&lines, Some(&now)),
            [LineContent::Same, LineContent::Same, changed]
        );
        let now = list(&[text("a"), call("2", "{}")]);
        assert_eq!(
            dealt(&lines, Some(&now)),
            [LineContent::Same, LineContent::Removed, LineContent::Same]
        );
        let now = list(&[text("b")]);
        let changed = LineContent::Now(now.clone().into_bytes());
        assert_eq!(
            dealt(&lines, Some(&now)),
            [changed, LineContent::Removed, LineContent::Removed]
        );
        assert_eq!(
            dealt(&lines, None),
            [LineContent::Removed, LineContent::Removed, LineContent::Removed]
        );
    }

    #[test]
    fn a_text_remains_a_text() {
        assert_eq!(dealt(&[r#""a""#], Some(r#""a""#)), [LineContent::Same]);
        let changed = LineContent::Now(br#""b""#.to_vec());
        assert_eq!(dealt(&[r#""a""#], Some(r#""b""#)), [changed]);
    }
}
