//! Separates a user's own sentences from pasted text: generated text, quotations, code and logs.

use super::code_lines::is_code;
use super::harness::own_text;
use super::pasted_lines::{
    announces_rules, introduces, is_header, is_item, is_of_transcript, line_number, names_following_text,
    reports, works_on_text,
};
use super::sentences::ranges;
use crate::filter::compact::head_tail::boundary;
use std::borrow::Cow;

/// A sentence of the user's own.
pub(super) struct OwnSentence<'t> {
    /// The sentence as written.
    pub text: &'t str,
    /// Whether it is an item of a list of rules: "Ground rules:".
    pub is_listed: bool,
    /// Its quotations, as ranges of the text.
    quoted: Vec<std::ops::Range<usize>>,
}

impl<'t> OwnSentence<'t> {
    /// The sentence with a word for each quotation.
    pub fn unquoted(&self) -> Cow<'t, str> {
        if self.quoted.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let (mut own, mut from) = (String::with_capacity(self.text.len()), 0);
        for range in &self.quoted {
            own.push_str(&self.text[from..range.start]);
            own.push('q');
            from = range.end;
        }
        own.push_str(&self.text[from..]);
        Cow::Owned(own)
    }
}

/// Maximum number of elements without an end that are looked for, which bounds the work.
const MOST_UNCLOSED: usize = 8;

/// Most lines in which a line with a number is followed by the next one.
const MOST_WRAPPED: usize = 8;

/// Most bytes in which a quotation ends.
const LONGEST_QUOTATION: usize = 4096;

/// Minimum words of a quotation; shorter ones name a word or a value.
const QUOTED_WORDS: usize = 3;

/// The user's own sentences in a message.
pub(super) fn own_sentences(text: &str) -> Vec<OwnSentence<'_>> {
    let mut own = Vec::new();
    let text = own_text(text);
    let mut pasted = PastedText::default();
    let mut sentences = ranges(text).into_iter().peekable();
    for line in lines(text) {
        let is_own = pasted.is_own(&text[line.clone()], &text[line.end..]);
        while let Some(range) = sentences.next_if(|range| range.start < line.end) {
            let sentence = &text[range.clone()];
            let (was_quoted, quoted) = pasted.quotations(sentence, &text[range.end..]);
            if is_own && !was_quoted && !pasted.is_introduced(sentence) {
                let is_listed = pasted.is_in_rules;
                own.push(OwnSentence {
                    text: sentence,
                    is_listed,
                    quoted,
                });
            }
        }
    }
    own
}

/// The ranges of the lines, with their line breaks.
fn lines(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut from = 0;
    let breaks = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).map(|at| at + 1);
    let ends = breaks.chain([text.len()]);
    ends.map(move |end| std::mem::replace(&mut from, end)..end)
        .filter(|line| !line.is_empty())
}

/// Tracks pasted text from line to line of a message.
#[derive(Default)]
struct PastedText<'t> {
    /// Inside a fenced block that begins with this mark.
    fence: Option<&'t str>,
    /// Inside an element with this tag.
    tag: Option<&'t str>,
    /// Tags that are not closed after this line.
    unclosed: Vec<&'t str>,
    /// The quotation mark that ends the quotation.
    quotation: Option<char>,
    /// Who wrote the current paragraph.
    paragraph: Paragraph,
    /// Whether the last line was of a log or of code.
    was_code: bool,
    /// Whether a line introduced a list of rules, which may follow.
    announces_rules: bool,
    /// In an item of such a list.
    is_in_rules: bool,
    /// In a diff.
    is_diff: bool,
    /// The number of the last line with one, in a listing.
    number: Option<u64>,
    /// The headers in the lines before.
    headers: Headers,
}

/// Lines that may be the headers of a mail.
#[derive(Clone, Copy, Default)]
struct Headers {
    count: usize,
    /// Whether one is a subject or has an address: `From:` and `To:` alone occur in other texts.
    is_distinct: bool,
}

impl Headers {
    /// Whether the rest of the message is a mail.
    fn are_of_mail(self) -> bool {
        self.count >= 2 && self.is_distinct
    }

    fn and(self, line: &str) -> Headers {
        match is_header(line) {
            true => Headers {
                count: self.count + 1,
                is_distinct: self.is_distinct || line.starts_with("Subject: ") || line.contains('@'),
            },
            false => Headers::default(),
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Paragraph {
    /// The user.
    #[default]
    Own,
    /// A text was introduced by the line before; blank lines may follow.
    Introduced,
    /// A text that was introduced.
    Pasted,
}

impl<'t> PastedText<'t> {
    /// Whether an element is closed in its line or after it.
    fn is_closed(&mut self, tag: &'t str, line: &str, after: &str) -> bool {
        if self.unclosed.len() >= MOST_UNCLOSED || self.unclosed.contains(&tag) {
            return false;
        }
        let is_closed = closes(line, tag) || closes(after, tag);
        if !is_closed {
            self.unclosed.push(tag);
        }
        is_closed
    }

    /// Whether a line is the user's own; `after` is the text after it.
    fn is_own(&mut self, line: &'t str, after: &str) -> bool {
        // An empty line of a diff has a space.
        self.is_diff &= !line.trim_end_matches(['\n', '\r']).is_empty();
        let line = line.trim_end();
        let bare = line.trim_start();
        if !self.headers.are_of_mail() {
            self.headers = self.headers.and(bare);
        }
        if self.headers.are_of_mail() {
            return false;
        }
        if bare.is_empty() {
            (self.quotation, self.was_code, self.number) = (None, false, None);
            // Blank lines may separate the items.
            self.is_in_rules = false;
            if self.paragraph == Paragraph::Pasted {
                self.paragraph = Paragraph::Own;
            }
            return true;
        }
        if let Some(fence) = self.fence {
            if bare.starts_with(fence) {
                self.fence = None;
            }
            return false;
        }
        // Text between two marks on one line is inline code.
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| bare.starts_with(fence))
            && !bare[fence.len()..].contains(fence)
        {
            self.fence = Some(fence);
            return false;
        }
        if let Some(tag) = self.tag {
            if closes(bare, tag) {
                self.tag = None;
            }
            return false;
        }
        if let Some(tag) = element(bare)
            && self.is_closed(tag, bare, after)
        {
            self.tag = Some(tag).filter(|tag| !closes(bare, tag));
            return false;
        }
        if self.paragraph == Paragraph::Introduced || bare.starts_with("[summary of ") {
            self.paragraph = Paragraph::Pasted;
        }
        self.is_diff |= bare.starts_with("diff --git") || bare.starts_with("@@ ");
        let is_changed = self.is_diff && line.starts_with(['+', '-']) || self.is_of_listing(line, after);
        let is_pasted = self.paragraph == Paragraph::Pasted;
        if introduces(bare) {
            self.paragraph = Paragraph::Introduced;
        }
        self.is_in_rules = self.announces_rules && is_item(bare);
        self.announces_rules = self.is_in_rules || announces_rules(bare);
        let is_code = is_code(line, self.was_code);
        self.was_code = is_code;
        !is_code && !is_pasted && !is_changed && !is_of_transcript(bare)
    }

    /// Whether a line is of a listing with line numbers, which are consecutive; a long line may be wrapped.
    fn is_of_listing(&mut self, line: &str, after: &str) -> bool {
        let number = line_number(line);
        let Some(own) = number.or(self.number) else {
            return false;
        };
        let follows = |number: u64, before: u64| number == before || number == before + 1;
        let rest = after
            .lines()
            .take(MOST_WRAPPED)
            .take_while(|line| !line.trim().is_empty());
        let is_followed = || {
            rest.clone()
                .find_map(line_number)
                .is_some_and(|next| follows(next, own))
        };
        let is_part = match (number, self.number) {
            (Some(number), Some(before)) => follows(number, before) || is_followed(),
            (Some(_), None) => is_followed(),
            (None, _) => line.starts_with([' ', '\t']) || is_followed(),
        };
        self.number = Some(own).filter(|_| is_part);
        is_part
    }

    /// Whether a sentence begins within a quotation, and the quotations in it; `after` is the text after it.
    fn quotations(&mut self, sentence: &str, after: &str) -> (bool, Vec<std::ops::Range<usize>>) {
        let was_quoted = self.quotation.is_some();
        let may_begin = |byte: u8| matches!(byte, b'"' | b'\'') || !byte.is_ascii();
        if !was_quoted && !sentence.bytes().any(may_begin) {
            return (false, Vec::new());
        }
        let (mut quoted, mut from) = (Vec::new(), 0);
        let mut before = ' ';
        for (at, mark) in sentence.char_indices() {
            match self.quotation {
                Some(end) => {
                    let next = sentence[at + mark.len_utf8()..].chars().next();
                    if mark == end && next.is_none_or(|next| !next.is_alphanumeric()) {
                        self.quotation = None;
                        if sentence[from..at].split_whitespace().count() >= QUOTED_WORDS {
                            quoted.push(from..at + mark.len_utf8());
                        }
                    }
                }
                None if before.is_whitespace() || matches!(before, '(' | '[' | ':') => {
                    self.quotation = closing(mark);
                    from = at;
                }
                None => {}
            }
            before = mark;
        }
        // A mark without another one in its paragraph is an apostrophe ("the boys' room") or a typing error.
        if let Some(end) = self.quotation {
            let near = &after[..boundary(after, LONGEST_QUOTATION)];
            let paragraph = near.split("\n\n").next().unwrap_or_default();
            let closes = |(at, _): (usize, _)| {
                let next = paragraph[at + end.len_utf8()..].chars().next();
                next.is_none_or(|next| !next.is_alphanumeric())
            };
            match paragraph.match_indices(end).any(closes) {
                true => quoted.push(from..sentence.len()),
                false => self.quotation = None,
            }
        }
        (was_quoted, quoted)
    }

    /// Whether a sentence reports the words of others behind a colon: "The sign says: do not ...". The rest of its paragraph
    /// is theirs, too.
    fn is_introduced(&mut self, sentence: &str) -> bool {
        if self.paragraph == Paragraph::Pasted {
            return true;
        }
        if works_on_text(sentence) && names_following_text(sentence) && !sentence.contains(':') {
            self.paragraph = Paragraph::Pasted;
            return true;
        }
        let mut colons = memchr::memchr_iter(b':', sentence.as_bytes());
        let Some(colon) = colons.find(|colon| sentence[colon + 1..].starts_with(' ')) else {
            return false;
        };
        let (lead, rest) = (&sentence[..colon], &sentence[colon + 2..]);
        let is_reported = !rest.trim().is_empty() && reports(lead);
        if is_reported {
            self.paragraph = Paragraph::Pasted;
        }
        is_reported
    }
}

/// The mark that ends a quotation that begins with this one.
fn closing(mark: char) -> Option<char> {
    match mark {
        '"' => Some('"'),
        '\'' => Some('\''),
        '\u{201c}' | '\u{201e}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        '\u{ab}' => Some('\u{bb}'),
        _ => None,
    }
}

/// The name of the tag with which a line begins.
fn element(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
    let is_open = rest[end..].starts_with(['>', ' ']) && !rest.ends_with("/>");
    let tag = &rest[..end];
    let is_pasted = || {
        let tag = tag.to_ascii_lowercase();
        PASTED_TAGS.iter().any(|part| tag.contains(part)) || HTML_TAGS.contains(&&*tag)
    };
    (end > 0 && is_open && is_pasted()).then_some(tag)
}

/// Parts of the names of elements that hold text of others. Writers put their own rules in elements, too.
const PASTED_TAGS: [&str; 25] = [
    "_info", "skill", "_mode", "file", "document", "environment", "output", "log", "error", "stdout",
    "stderr", "result", "diff", "code", "snippet", "example", "selection", "attach", "reminder", "history",
    "transcript", "email", "quote", "source", "context",
];

/// Elements of pasted pages and prompts.
const HTML_TAGS: [&str; 13] = [
    "html", "system", "head", "body", "div", "p", "span", "ul", "ol", "table", "script", "svg", "a",
];

/// Whether a line closes an element.
fn closes(line: &str, tag: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let name = rest
            .get(..tag.len())
            .is_some_and(|name| name.eq_ignore_ascii_case(tag));
        if name && rest[tag.len()..].starts_with('>') {
            return true;
        }
    }
    false
}
