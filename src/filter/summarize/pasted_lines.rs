//! Recognizes lines and sentences that introduce text of others, or belong to a mail or a transcript.

/// Words of a line that introduces text of others, which begins at the next line.
const TEXTS: [&str; 26] = [
    "email", "mail", "letter", "message", "prompt", "article", "text", "poem", "quote", "ticket", "issue",
    "log", "output", "error", "comment", "docs", "documentation", "page", "snippet", "readme", "review",
    "excerpt", "post", "translate", "proofread", "contract",
];

/// Verbs that report words of others.
const SAYING: [&str; 20] = [
    "printed", "returned", "shows", "warns", "says", "said", "say", "wrote", "writes", "reads", "goes",
    "states", "answered", "replied", "told", "asked", "read", "get", "claims", "terms",
];

/// Verbs that ask for work on a text.
const WORK_ON_TEXT: [&str; 13] = [
    "translate", "proofread", "improve", "correct", "rewrite", "rephrase", "paraphrase", "review",
    "summarize", "summarise", "shorten", "edit", "polish",
];

/// Whether a line ends with a colon and introduces a text of others.
pub(super) fn introduces(line: &str) -> bool {
    let Some(lead) = line.strip_suffix(':') else {
        return false;
    };
    // "The rules from my last message:" introduces one's own words.
    words(lead).any(|word| TEXTS.contains(&&*word))
        && !words(lead).any(|word| matches!(&*word, "my" | "rules"))
        || reports(lead)
}

/// Whether a line begins like an item of a list.
pub(super) fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with(['-', '*', '\u{2022}'])
        || digits > 0 && digits < 4 && line[digits..].starts_with(['.', ')'])
}

/// Whether a line ends with a colon and introduces a list of rules.
pub(super) fn announces_rules(line: &str) -> bool {
    let lead = line
        .trim_end_matches(['*', '_'])
        .strip_suffix(':')
        .or_else(|| line.strip_prefix('#'));
    lead.is_some_and(|lead| {
        lead == "standing instructions"
            || words(lead).any(|word| RULES.contains(&&*word))
                && !words(lead).any(|word| word.ends_with("'s"))
    })
}

/// Words for rules.
const RULES: [&str; 14] = [
    "rules", "guidelines", "conventions", "requirements", "constraints", "preferences", "principles",
    "policies", "standards", "restrictions", "rule", "dont's", "dos", "mind",
];

/// Whether words before a colon attribute the words behind it to others, or ask for work on them.
pub(super) fn reports(lead: &str) -> bool {
    let is_own = words(lead).any(|word| matches!(&*word, "i" | "i've" | "we"));
    let says = words(lead).any(|word| SAYING.contains(&&*word)) && !is_own;
    let mut source = words(lead);
    let is_source = matches!(source.next().as_deref(), Some("from" | "message" | "slack")) && !is_own && {
        let rest: Vec<_> = source.collect();
        !rest.iter().any(|word| word == "my")
            && rest.first().is_some_and(|word| word != "now")
            && rest.len() <= 5
    };
    says || works_on_text(lead) || is_source
}

/// Whether words begin with a request for work on a text.
pub(super) fn works_on_text(lead: &str) -> bool {
    let is_one = |list: &[&str], word: &str| list.iter().any(|one| word.eq_ignore_ascii_case(one));
    let passed = ["please", "can", "could", "you", "now"];
    let mut first = words_as_written(lead).filter(|word| !is_one(&passed, word));
    first.next().is_some_and(|word| is_one(&WORK_ON_TEXT, word))
}

/// Whether a sentence names a text that follows it.
pub(super) fn names_following_text(sentence: &str) -> bool {
    let mut words = words(sentence);
    words.any(|word| word == "following") && words.any(|word| TEXTS.contains(&&*word))
}

/// The number of a line of a listing or a diff: `+ 13 text`, `-13 text`, `13\u{2192}text`, `13 | text`. `13 text`, `13: text` and
/// `- 13 text` may be items of a list.
pub(super) fn line_number(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let signed = line
        .strip_prefix('-')
        .or_else(|| Some(line.strip_prefix('+')?.trim_start()));
    let rest = signed.unwrap_or(line);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(digits);
    let is_separate = match signed {
        Some(_) => after.is_empty() || after.starts_with(char::is_whitespace),
        None => after.starts_with(['\t', '\u{2192}']) || after.trim_start().starts_with('|'),
    };
    number.parse().ok().filter(|_| digits < 7 && is_separate)
}

/// Whether a line is a header of a mail.
pub(super) fn is_header(line: &str) -> bool {
    ["From: ", "To: ", "Cc: ", "Subject: ", "Date: ", "Sent: "]
        .iter()
        .any(|name| line.starts_with(name))
}

/// Whether a line of a transcript names its speaker.
pub(super) fn is_of_transcript(line: &str) -> bool {
    line.split_once(':').is_some_and(|(speaker, _)| {
        ["user", "assistant", "system"]
            .iter()
            .any(|role| speaker.eq_ignore_ascii_case(role))
    })
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    words_as_written(text).map(str::to_ascii_lowercase)
}

fn words_as_written(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty())
}
