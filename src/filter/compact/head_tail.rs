//! Head and tail of a long text: whole lines, with a placeholder between them.

use super::placeholders;

/// Most bytes and lines of a shortened text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimit {
    /// Bytes.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

/// Keeps the longest head and tail of whole lines within half of the limit each, or parts of a line if not even one
/// fits. None if the text is within the limit. A text that was shortened before again has one placeholder, which gives
/// the original size; with the same limit nothing changes.
pub fn shorten(text: &str, limit: TextLimit) -> Option<String> {
    if text.len() <= limit.bytes && text.lines().count() <= limit.lines {
        return None;
    }
    let (front, back, all) = match earlier(text) {
        Some(earlier) => earlier,
        None => {
            let (front, back) = text.split_at(head(text, limit));
            (front, back, text.len())
        }
    };
    let (head, tail) = (
        &front[..head(front, limit)],
        &back[back.len() - tail(back, limit)..],
    );
    let elided = all - head.len() - tail.len();
    if elided == 0 || (head.len(), tail.len(), all) == (front.len(), back.len(), text.len()) {
        return None;
    }
    let mark = placeholders::middle(elided, all);
    let mut out = String::with_capacity(head.len() + tail.len() + mark.len() + 2);
    out.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&mark);
    if !tail.is_empty() {
        out.push('\n');
    }
    out.push_str(tail);
    (out.len() < text.len()).then_some(out)
}

/// Whether the middle of a text is elided.
pub fn is_shortened(text: &str) -> bool {
    earlier(text).is_some()
}

/// Head, tail and original length of a text that was shortened before; none if it was not.
fn earlier(text: &str) -> Option<(&str, &str, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (head, tail) = (&text[..at], &text[at + line.len()..]);
        at += line.len();
        let Some((elided, all)) = placeholders::read_middle(line.trim_end_matches('\n')) else {
            continue;
        };
        // A head without a line end was given one.
        let unended = head.strip_suffix('\n').unwrap_or(head);
        let fits = |head: &str| {
            head.len()
                .checked_add(tail.len())?
                .checked_add(elided)
                .filter(|sum| *sum == all)
        };
        if let Some(head) = [head, unended].into_iter().find(|head| fits(head).is_some()) {
            return Some((head, tail, all));
        }
    }
    None
}

/// Length of the head in bytes.
fn head(text: &str, limit: TextLimit) -> usize {
    let most = limit.bytes / 2;
    let mut end = 0;
    for line in text.split_inclusive('\n').take(limit.lines / 2) {
        if end + line.len() > most {
            break;
        }
        end += line.len();
    }
    if end == 0 && limit.lines > 1 {
        end = boundary(text, most);
        // Half of a number or of a path would be taken for a whole one.
        let is_inside = text[end..].starts_with(|next: char| !next.is_whitespace());
        if let Some(space) = text[..end].rfind(char::is_whitespace).filter(|_| is_inside)
            && end - space <= LONGEST_WORD
        {
            end = space;
        }
    }
    end
}

/// Bytes of a word, at most, that is left out rather than cut.
const LONGEST_WORD: usize = 64;

/// Length of the tail in bytes, in the text after the head.
fn tail(rest: &str, limit: TextLimit) -> usize {
    let most = limit.bytes / 2;
    let mut length = 0;
    for line in rest.split_inclusive('\n').rev().take(limit.lines / 2) {
        if length + line.len() > most {
            break;
        }
        length += line.len();
    }
    if length == 0 && limit.lines > 1 {
        let start = rest.len().saturating_sub(most);
        let start = (start..=rest.len()).find(|at| rest.is_char_boundary(*at));
        let start = start.unwrap_or(rest.len());
        length = rest.len() - start;
        let is_inside = rest[..start].ends_with(|last: char| !last.is_whitespace());
        if let Some(space) = rest[start..].find(char::is_whitespace).filter(|_| is_inside)
            && space <= LONGEST_WORD
        {
            length -= space;
        }
    }
    length
}

/// The last character boundary at or before this offset.
pub fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str, bytes: usize, lines: usize) -> Option<String> {
        shorten(text, TextLimit { bytes, lines })
    }

    #[test]
    fn whole_lines_surround_the_placeholder() {
        let text: String = (0..100).map(|n| format!("line {n:02}\n")).collect();
        assert_eq!(
            cut(&text, 48, 256).unwrap(),
            "line 00\nline 01\nline 02\n[convo: 752 of 800 bytes elided]\nline 97\nline 98\nline 99\n"
        );
        assert_eq!(
            cut(&text, 10_000, 4).unwrap(),
            "line 00\nline 01\n[convo: 768 of 800 bytes elided]\nline 98\nline 99\n"
        );
        assert_eq!(cut(&text, 800, 100), None);
    }

    #[test]
    fn a_line_without_end_is_cut_at_a_character() {
        let text = "ä".repeat(500);
        let short = cut(&text, 101, 256).unwrap();
        assert_eq!(
            short,
            format!("{0}\n[convo: 900 of 1,000 bytes elided]\n{0}", "ä".repeat(25))
        );
    }

    #[test]
    fn a_long_line_is_cut_between_words() {
        let text = format!("first 12345678 {} 98765432 last", "x ".repeat(200));
        assert_eq!(
            cut(&text, 20, 256).unwrap(),
            "first\n[convo: 419 of 429 bytes elided]\n last"
        );
    }

    proptest! {
        #[test]
        fn head_and_tail_are_unchanged_parts_of_the_text(text in "[a-zä\n ]{0,400}", bytes in 0usize..300, lines in 0usize..40) {
            if let Some(short) = cut(&text, bytes, lines) {
                prop_assert!(short.len() < text.len());
                let (head, rest) = short.split_once(placeholders::BEGINNING).unwrap();
                let tail = rest.split_once(']').unwrap().1;
                let fits = |piece: &str, whole: bool| whole || piece.strip_suffix('\n').is_some_and(|piece| text.starts_with(piece));
                prop_assert!(fits(head, text.starts_with(head)));
                prop_assert!(text.ends_with(tail) || text.ends_with(tail.strip_prefix('\n').unwrap_or(tail)));
                prop_assert!(head.len() <= bytes / 2 + 1 && tail.len() <= bytes / 2 + 1);
            }
        }
    }
}
