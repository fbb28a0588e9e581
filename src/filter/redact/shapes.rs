//! Finds secrets by shape: a prefix followed by a number of characters of a set. The shapes are those that the
//! services document or use.

use super::hit::Hit;
use super::kind::{Certainty, SecretKind};
use super::proof::{entropy, is_github_checksum};
use super::value::is_example;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::OnceLock;

/// A set of characters.
#[derive(Clone, Copy, Debug)]
enum Set {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `-` and `_`.
    Word,
    /// Upper-case letters and digits 2 to 7.
    Base32,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Base64 with its padding.
    Base64,
    /// Letters, digits, `-`, `_` and `/`.
    Path,
}

impl Set {
    fn has(self, byte: u8) -> bool {
        match self {
            Set::Alnum => byte.is_ascii_alphanumeric(),
            Set::Word => byte.is_ascii_alphanumeric() || b"-_".contains(&byte),
            Set::Base32 => byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte),
            Set::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Set::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Set::Base64 => byte.is_ascii_alphanumeric() || b"+/=".contains(&byte),
            Set::Path => byte.is_ascii_alphanumeric() || b"-_/".contains(&byte),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum ShapeElement {
    /// Between a minimum and a maximum number of characters.
    Of(Set, usize, usize),
    /// A literal text.
    Is(&'static str),
}

use ShapeElement::{Is, Of};

struct SecretShape {
    kind: SecretKind,
    prefixes: &'static [&'static str],
    pieces: &'static [ShapeElement],
    check: MatchCondition,
}

/// A further condition for a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchCondition {
    Nothing,
    /// GitHub's checksum; a mismatch lowers the level.
    Github,
    /// Contains this text.
    Has(&'static str),
    /// The prefix is a name and not part of the secret.
    Behind,
}

const fn shape(
    kind: SecretKind,
    prefixes: &'static [&'static str],
    pieces: &'static [ShapeElement],
    check: MatchCondition,
) -> SecretShape {
    SecretShape {
        kind,
        prefixes,
        pieces,
        check,
    }
}

const MANY: usize = 4096;

use MatchCondition::{Behind, Github, Has, Nothing};
use Set::{Alnum, Base32, Base64, Hex, Path, Upper, Word};

#[rustfmt::skip]
const SHAPES: &[SecretShape] = &[
    shape("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[Of(Alnum, 36, 36)], Github),
    shape("github-fine-grained", &["github_pat_"], &[Of(Alnum, 22, 22), Is("_"), Of(Alnum, 59, 59)], Nothing),
    shape("gitlab-token", &["glpat-", "glrt-", "gldt-"], &[Of(Word, 20, 64)], Nothing),
    shape("npm-token", &["npm_"], &[Of(Alnum, 36, 36)], Github),
    shape("pypi-token", &["pypi-AgEIcHlwaS5vcmc"], &[Of(Word, 50, MANY)], Nothing),
    shape("crates-token", &["cio"], &[Of(Alnum, 32, 32)], Nothing),
    shape("rubygems-key", &["rubygems_"], &[Of(Hex, 48, 48)], Nothing),
    shape("docker-pat", &["dckr_pat_", "dckr_oat_"], &[Of(Word, 27, 40)], Nothing),
    shape("atlassian-token", &["ATATT3"], &[Of(Word, 150, 250), Is("="), Of(Alnum, 8, 8)], Nothing),
    shape("anthropic-key", &["sk-ant-"], &[Of(Word, 80, 200)], Nothing),
    shape("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], &[Of(Word, 40, 250)], Has("T3BlbkFJ")),
    shape("openai-key-legacy", &["sk-"], &[Of(Alnum, 48, 48)], Has("T3BlbkFJ")),
    shape("openrouter-key", &["sk-or-v1-"], &[Of(Hex, 64, 64)], Nothing),
    shape("huggingface-token", &["hf_", "api_org_"], &[Of(Alnum, 34, 34)], Nothing),
    shape("groq-key", &["gsk_"], &[Of(Alnum, 52, 52)], Nothing),
    shape("replicate-token", &["r8_"], &[Of(Alnum, 37, 40)], Nothing),
    shape("xai-key", &["xai-"], &[Of(Alnum, 80, 80)], Nothing),
    shape("perplexity-key", &["pplx-"], &[Of(Alnum, 48, 48)], Nothing),
    shape("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], &[Of(Hex, 32, 32), Is("_"), Of(Hex, 10, 10)], Nothing),
    shape("aws-access-key", &["AKIA", "ASIA"], &[Of(Base32, 16, 16)], Nothing),
    shape("google-api-key", &["AIza"], &[Of(Word, 35, 35)], Nothing),
    shape("google-oauth-secret", &["GOCSPX-"], &[Of(Word, 28, 28)], Nothing),
    shape("google-access-token", &["ya29."], &[Of(Word, 50, MANY)], Nothing),
    shape("azure-storage-key", &["AccountKey="], &[Of(Base64, 86, 88)], Behind),
    shape("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Of(Hex, 64, 64)], Nothing),
    shape("databricks-token", &["dapi"], &[Of(Hex, 32, 32)], Nothing),
    shape("vault-token", &["hvs.", "hvb.", "hvr."], &[Of(Word, 24, 200)], Nothing),
    shape("supabase-token", &["sbp_"], &[Of(Hex, 40, 40)], Nothing),
    shape("fly-token", &["fm2_"], &[Of(Base64, 100, MANY)], Nothing),
    shape("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], &[Of(Word, 32, 64)], Nothing),
    shape("netlify-token", &["nfp_"], &[Of(Alnum, 36, 36)], Nothing),
    shape("doppler-token", &["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim."], &[Of(Alnum, 40, 44)], Nothing),
    shape("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-"], &[Of(Word, 20, 250)], Nothing),
    shape("slack-app-token", &["xapp-"], &[Of(Word, 50, 200)], Nothing),
    shape("slack-webhook", &["https://hooks.slack.com/services/"], &[Of(Path, 30, 80)], Nothing),
    shape("discord-webhook", &["https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"], &[Of(Path, 60, 120)], Nothing),
    shape("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], &[Of(Alnum, 24, 250)], Nothing),
    shape("stripe-webhook-secret", &["whsec_"], &[Of(Base64, 32, 64)], Nothing),
    shape("square-token", &["sq0atp-", "sq0csp-"], &[Of(Word, 22, 43)], Nothing),
    shape("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], &[Of(Hex, 32, 32)], Nothing),
    shape("sendgrid-key", &["SG."], &[Of(Word, 22, 22), Is("."), Of(Word, 43, 43)], Nothing),
    shape("mailgun-key", &["key-"], &[Of(Hex, 32, 32)], Nothing),
    shape("twilio-key", &["SK"], &[Of(Hex, 32, 32)], Nothing),
    shape("grafana-token", &["glsa_"], &[Of(Alnum, 32, 32), Is("_"), Of(Hex, 8, 8)], Nothing),
    shape("sentry-token", &["sntrys_", "sntryu_"], &[Of(Base64, 60, MANY)], Nothing),
    shape("newrelic-key", &["NRAK-"], &[Of(Upper, 27, 27)], Nothing),
    shape("posthog-key", &["phx_"], &[Of(Alnum, 32, 64)], Nothing),
    shape("linear-key", &["lin_api_"], &[Of(Alnum, 40, 40)], Nothing),
    shape("linear-key", &["lin_oauth_"], &[Of(Hex, 64, 64)], Nothing),
    shape("notion-token", &["ntn_"], &[Of(Alnum, 43, 50)], Nothing),
    shape("postman-key", &["PMAK-"], &[Of(Hex, 24, 24), Is("-"), Of(Hex, 34, 34)], Nothing),
    shape("figma-token", &["figd_"], &[Of(Word, 40, 64)], Nothing),
    shape("age-secret-key", &["AGE-SECRET-KEY-1"], &[Of(Upper, 58, 58)], Nothing),
];

/// The kinds of the table.
pub fn kinds() -> impl Iterator<Item = SecretKind> {
    SHAPES.iter().map(|shape| shape.kind)
}

/// Every prefix of the table.
pub fn prefixes() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().flat_map(|shape| shape.prefixes.iter().copied())
}

/// The shape of each prefix, in the order of [`prefixes`].
fn shapes() -> impl Iterator<Item = &'static SecretShape> {
    let of = |shape: &'static SecretShape| shape.prefixes.iter().map(move |_| shape);
    SHAPES.iter().flat_map(of)
}

/// Whether the text after prefix number `nth` may have its shape. Encoded text may contain backslashes.
pub fn may_have_shape(nth: usize, after: &[u8]) -> bool {
    let Some(shape) = shapes().nth(nth) else {
        return true;
    };
    let mut rest = after;
    shape.pieces.iter().all(|piece| match *piece {
        Of(set, least, most) => {
            let has = |byte: &u8| set.has(*byte) || *byte == b'\\' && set.has(b'/');
            let run = rest.iter().take(most).take_while(|byte| has(byte)).count();
            rest = &rest[run..];
            run >= least
        }
        // An element of fixed length is followed by further elements.
        Is(text) => {
            let is = rest.starts_with(text.as_bytes());
            rest = &rest[text.len().min(rest.len())..];
            is
        }
    })
}

struct ShapeSearcher {
    automaton: AhoCorasick,
    /// The shape of each pattern.
    shapes: Vec<&'static SecretShape>,
}

fn searcher() -> Option<&'static ShapeSearcher> {
    static SEARCHER: OnceLock<Option<ShapeSearcher>> = OnceLock::new();
    let build = || {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(prefixes());
        Some(ShapeSearcher {
            automaton: automaton.ok()?,
            shapes: shapes().collect(),
        })
    };
    SEARCHER.get_or_init(build).as_ref()
}

/// Finds every secret of a shape.
pub fn find(text: &str, found: &mut Vec<Hit>) {
    let Some(searcher) = searcher() else { return };
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(hit) = searcher.automaton.find(&bytes[from..]) {
        let (start, behind) = (from + hit.start(), from + hit.end());
        let shape = searcher.shapes[hit.pattern().as_usize()];
        match end(shape, text, start, behind) {
            Some((level, end)) => {
                let start = if shape.check == Behind { behind } else { start };
                found.push(Hit::new(start..end, shape.kind, level));
                from = end;
            }
            None => from = behind,
        }
    }
}

/// The end of a match and its level; none without a match.
fn end(shape: &SecretShape, text: &str, start: usize, after: usize) -> Option<(Certainty, usize)> {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).map(|at| bytes[at]);
    let begins_word = bytes[start].is_ascii_alphanumeric();
    if begins_word && before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let mut at = after;
    let mut last = None;
    for piece in shape.pieces {
        match *piece {
            Of(set, least, most) => {
                let run = bytes[at..]
                    .iter()
                    .take(most)
                    .take_while(|byte| set.has(**byte))
                    .count();
                if run < least {
                    return None;
                }
                at += run;
                last = Some(set);
            }
            Is(text) => {
                bytes[at..].starts_with(text.as_bytes()).then_some(())?;
                at += text.len();
            }
        }
    }
    // A longer run of these characters is something else, such as a hash or a name.
    let goes_on = |set: Set| bytes.get(at).is_some_and(|byte| set.has(*byte) && *byte != b'/');
    if last.is_some_and(goes_on) {
        return None;
    }
    let value = &text[start..at];
    if is_example(value) {
        return None;
    }
    match shape.check {
        Has(part) if !value.contains(part) => None,
        Github if !is_github_checksum(value) => {
            (entropy(&value[after - start..]) >= 3.0).then_some((Certainty::Likely, at))
        }
        _ => Some((Certainty::Definite, at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generates a value of a shape, the same in every run.
    fn value(shape: &SecretShape, prefix: &str) -> String {
        let mut state = 7_u32;
        let mut next = |set: Set| loop {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = (state >> 24) as u8 & 0x7f;
            if set.has(byte) && byte.is_ascii_alphanumeric() {
                return char::from(byte);
            }
        };
        let mut value = prefix.to_string();
        for piece in shape.pieces {
            match *piece {
                Of(set, least, _) => value.extend((0..least).map(|_| next(set))),
                Is(text) => value.push_str(text),
            }
        }
        if let Has(part) = shape.check {
            value.replace_range(prefix.len() + 20..prefix.len() + 20 + part.len(), part);
        }
        value
    }

    #[test]
    fn every_shape_is_found_alone_and_in_a_sentence() {
        for shape in SHAPES {
            for prefix in shape.prefixes {
                let value = value(shape, prefix);
                for text in [
                    value.clone(),
                    format!("use {value}, please"),
                    format!("KEY=\"{value}\""),
                ] {
                    let mut found = Vec::new();
                    find(&text, &mut found);
                    let kinds: Vec<SecretKind> = found.iter().map(|hit| hit.kind).collect();
                    assert_eq!(kinds, [shape.kind], "{text}");
                    assert!(
                        text[found[0].range.clone()].len() >= value.len() - prefix.len(),
                        "{text}"
                    );
                }
                // Not found as part of a longer word.
                let mut found = Vec::new();
                let longer = format!("x{value}");
                find(&longer, &mut found);
                let is_word = prefix.starts_with(|c: char| c.is_ascii_alphanumeric());
                assert!(found.is_empty() || !is_word || shape.check == Behind, "{longer}");
            }
        }
    }
}
