//! Finds personal data: email addresses, phone numbers, public IP addresses, user names in home directories, card
//! numbers, IBANs.

use super::hit::Hit;
use super::kind::{Certainty, SecretKind};
use super::proof::{is_iban, is_luhn};
use std::net::Ipv4Addr;
use std::ops::Range;

/// Finds the requested kinds of personal data.
pub fn find(text: &str, wanted: &dyn Fn(SecretKind) -> bool, found: &mut Vec<Hit>) {
    let mut add = |kind: SecretKind, ranges: Vec<Range<usize>>| {
        found.extend(
            ranges
                .into_iter()
                .map(|range| Hit::new(range, kind, Certainty::Personal)),
        );
    };
    type Finder = fn(&str) -> Vec<Range<usize>>;
    let finders: [(SecretKind, Finder); 6] = [
        ("email", emails),
        ("iban", accounts),
        ("card-number", cards),
        ("phone", phones),
        ("ip-address", machines),
        ("home-path", homes),
    ];
    for (kind, finder) in finders {
        if wanted(kind) {
            add(kind, finder(text));
        }
    }
}

fn emails(text: &str) -> Vec<Range<usize>> {
    let is_local = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
    let is_host = |c: char| c.is_alphanumeric() || ".-".contains(c);
    let email = |(at, _): (usize, &str)| {
        let start = text[..at].trim_end_matches(is_local).len();
        let after = &text[at + 1..];
        let host = &after[..after.len() - after.trim_start_matches(is_host).len()];
        let host = host.trim_end_matches(['.', '-']);
        let local = text[start..at].trim_start_matches(['.', '-']);
        let top = host.rsplit('.').next().unwrap_or_default();
        let is_address = !local.is_empty()
            && host.contains('.')
            && top.len() >= 2
            && top.chars().all(char::is_alphabetic)
            && !(local == "git" && after[host.len()..].starts_with(':'))
            && !text[..start].ends_with(['/', ':']);
        is_address.then(|| at - local.len()..at + 1 + host.len())
    };
    text.match_indices('@').filter_map(email).collect()
}

/// Runs of digits separated by spaces or dashes.
fn digit_runs(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit()
                || b" -".contains(&bytes[end]) && bytes.get(end + 1).is_some_and(u8::is_ascii_digit))
        {
            end += 1;
        }
        runs.push(at..end);
        at = end;
    }
    runs
}

fn cards(text: &str) -> Vec<Range<usize>> {
    let is_card = |range: &Range<usize>| {
        let run = &text[range.clone()];
        let digits: String = run.chars().filter(char::is_ascii_digit).collect();
        let known = match digits.len() {
            15 => digits.starts_with("34") || digits.starts_with("37"),
            16 => {
                digits.starts_with('4')
                    || digits[..2]
                        .parse::<u8>()
                        .is_ok_and(|begins| (51..=55).contains(&begins))
                    || digits[..4]
                        .parse::<u16>()
                        .is_ok_and(|begins| (2221..=2720).contains(&begins))
                    || digits.starts_with("6011")
                    || digits.starts_with("65")
            }
            _ => false,
        };
        let before = text[..range.start].chars().next_back();
        let stands_alone = before.is_none_or(|c| !c.is_alphanumeric() && !"._-/".contains(c));
        known && stands_alone && is_luhn(&digits)
    };
    digit_runs(text).into_iter().filter(is_card).collect()
}

fn accounts(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let start = at;
        at += word.len();
        let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let bytes = word.as_bytes();
        let begins = bytes.len() >= 4
            && bytes[..2].iter().all(u8::is_ascii_uppercase)
            && bytes[2..4].iter().all(u8::is_ascii_digit);
        if !begins {
            continue;
        }
        if (15..=34).contains(&word.len()) && is_iban(word) {
            found.push(start..start + word.len());
            continue;
        }
        // In groups of four digits.
        let mut end = start + word.len();
        while word.len() == 4 && text[end..].starts_with(' ') {
            let group = text[end + 1..]
                .bytes()
                .take_while(u8::is_ascii_alphanumeric)
                .count();
            if group == 0 || group > 4 {
                break;
            }
            end += 1 + group;
            if is_iban(&text[start..end]) {
                found.push(start..end);
                break;
            }
        }
    }
    found
}

/// Numbers after a plus sign and country code, or in groups with a bracketed one.
fn phones(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let phone = |(at, _): (usize, &str)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '+')
            || !bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        {
            return None;
        }
        let is_phone = |byte: &u8| byte.is_ascii_digit() || b" -().".contains(byte);
        let length = bytes[at + 1..].iter().take_while(|byte| is_phone(byte)).count();
        let shown = text[at..at + 1 + length].trim_end_matches(|c: char| !c.is_ascii_digit());
        let digits = shown.bytes().filter(u8::is_ascii_digit).count();
        (8..=15).contains(&digits).then(|| at..at + shown.len())
    };
    text.match_indices('+').filter_map(phone).collect()
}

/// IP addresses that are not private, not loopback and not version numbers.
fn machines(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .count();
        let shown = text[at..at + length].trim_end_matches('.');
        let before = text[..at].chars().next_back();
        let after = text[at + shown.len()..].chars().next();
        let stands_alone = before.is_none_or(|c| !c.is_alphanumeric() && !"-_.".contains(c))
            && after.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        if let Ok(address) = shown.parse::<Ipv4Addr>() {
            let public = !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || address.octets()[0] == 0);
            if public && stands_alone {
                found.push(at..at + shown.len());
            }
        }
        at += length;
    }
    found
}

/// The name in `/home/NAME`, `/Users/NAME`, `C:\Users\NAME`, and in folders that an agent names after a path.
fn homes(text: &str) -> Vec<Range<usize>> {
    const PARENTS: [&str; 6] = [
        "/home/", "/Users/", "\\Users\\", "-home-", "-Users-", "\\\\Users\\\\",
    ];
    const NOBODY: [&str; 8] = [
        "runner", "user", "username", "you", "me", "Shared", "root", "node",
    ];
    let mut found = Vec::new();
    for parent in PARENTS {
        for (at, _) in text.match_indices(parent) {
            let start = at + parent.len();
            let is_slug = parent.starts_with('-');
            let is_name = |c: char| c.is_alphanumeric() || "._".contains(c) || c == '-' && !is_slug;
            let rest = &text[start..];
            let name = &rest[..rest.len() - rest.trim_start_matches(is_name).len()];
            if name.len() >= 2 && !NOBODY.contains(&name) && !name.starts_with('.') {
                found.push(start..start + name.len());
            }
        }
    }
    found
}
