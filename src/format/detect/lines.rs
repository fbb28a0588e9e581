//! Detects the format of JSON Lines by a header line, or else by a majority vote of the lines.

use super::head::{Hints, excerpt};
use super::order;
use super::shape::ObjectShape;
use super::signature::{Signature, has_role, is_own};
use super::verdict::{Detection, FormatCandidate};
use crate::format::Format;
use crate::model::json::{self, Dialect};

/// Detects the format from the first line alone. The other lines only decide whether the content is supported.
pub(super) fn header_line(lines: &[&[u8]]) -> Option<Detection> {
    let members = ObjectShape::of(lines.first()?, Dialect::Strict)?;
    if is_native_header(&members) && !members.has("role") {
        return Some(Detection::known(Format::Native, "starts with a header"));
    }
    let mut hollow = None;
    for signature in order::headers(&members) {
        match order::unsupported_messages(signature, lines) {
            None => return Some(Detection::named(signature)),
            Some(messages) => hollow = hollow.or(Some(Detection::hollow(signature, messages))),
        }
    }
    hollow
}

/// Whether a line is a header of the native format, and not of a similar format.
fn is_native_header(members: &ObjectShape<'_>) -> bool {
    let foreign = ["cwd", "harness", "timestamp", "createdAt"];
    members.get("type") == Some(b"\"session\"") && members.has("version") && !members.any(&foreign)
}

/// Whether a line is a record of the native format other than a message.
pub(super) fn native_line(members: &ObjectShape<'_>) -> bool {
    let Some(kind) = members.get("type").and_then(json::text) else {
        return false;
    };
    match kind.as_ref() {
        _ if members.has("role") => false,
        "session" => is_native_header(members),
        "packed" => members.begins("records", b'['),
        "meta" | "truncate" | "compact" | "summary" | "restore" => members.has("at"),
        "foreign" => members.has("at") || members.has("format"),
        _ => false,
    }
}

/// Whether a message has content; a role alone is not specific to a format.
pub(super) fn has_body(members: &ObjectShape<'_>) -> bool {
    let body = [
        "content", "tool_calls", "tool_call_id", "function_call", "reasoning", "reasoning_content", "refusal",
    ];
    body.iter().any(|name| members.has(name))
}

/// The format of one line.
enum Vote {
    Native,
    /// A message, and whether it has members that no other format has.
    Message(bool),
    /// A role without content, or an unknown role.
    Bare,
    Picoclaw,
    Chat,
    Foreign(&'static Signature),
    None,
}

fn ballot(members: &ObjectShape<'_>, hints: Hints<'_>) -> Vote {
    if native_line(members) {
        return Vote::Native;
    }
    let message = members.is_text("role");
    if message && hints.sidecar {
        return Vote::Picoclaw;
    }
    if let Some(signature) = order::named(members) {
        return Vote::Foreign(signature);
    }
    if message {
        let times = members.is_text("created_at") && !members.has("timestamp") && !members.has("id");
        return match has_body(members) && has_role(members) {
            false => Vote::Bare,
            true if times => Vote::Picoclaw,
            true => Vote::Message(is_own(members)),
        };
    }
    let messages = members
        .get("messages")
        .is_some_and(|value| value.starts_with(b"["));
    match messages && !members.has("key") {
        true => Vote::Chat,
        false => Vote::None,
    }
}

/// The number of votes by format.
#[derive(Default)]
struct VoteCount {
    objects: usize,
    native: usize,
    messages: usize,
    own: usize,
    bare: usize,
    picoclaw: usize,
    chat: usize,
    foreign: Vec<(&'static Signature, usize)>,
}

impl VoteCount {
    fn add(&mut self, vote: Vote) {
        self.objects += 1;
        match vote {
            Vote::Native => self.native += 1,
            Vote::Message(own) => {
                self.messages += 1;
                self.own += usize::from(own);
            }
            Vote::Bare => self.bare += 1,
            Vote::Picoclaw => self.picoclaw += 1,
            Vote::Chat => self.chat += 1,
            Vote::Foreign(one) => match self.foreign.iter_mut().find(|(known, _)| known.what == one.what) {
                Some((_, count)) => *count += 1,
                None => self.foreign.push((one, 1)),
            },
            Vote::None => {}
        }
    }

    /// Assigns unspecific lines to the format of the specific ones: messages among native events, lines of PicoClaw
    /// without a time, and plain messages in another format's log.
    fn assign_unspecific(&mut self) {
        let plain = self.messages + self.bare;
        if self.native > 0 {
            self.native += plain + self.picoclaw;
        } else if self.picoclaw > 0 {
            self.picoclaw += plain;
        } else if self.own == 0
            && let Some((_, count)) = self
                .foreign
                .iter_mut()
                .find(|(signature, _)| signature.takes_plain)
        {
            *count += plain;
        } else if self.messages > 0 {
            self.messages += self.bare;
        }
    }
}

pub(super) fn vote(lines: &[&[u8]], hints: Hints<'_>) -> Detection {
    let mut count = VoteCount::default();
    let mut silent: Option<&[u8]> = None;
    for line in lines {
        let Some(members) = ObjectShape::of(line, Dialect::Python) else {
            continue;
        };
        let vote = ballot(&members, hints);
        if matches!(vote, Vote::None | Vote::Bare) {
            silent = silent.or(Some(line));
        }
        count.add(vote);
    }
    count.assign_unspecific();
    // The first of equal counts wins: formats are listed by precedence.
    let own = [
        (Format::Native, count.native),
        (Format::Jsonl, count.messages),
        (Format::OpenaiChat, count.chat),
        (Format::Picoclaw, count.picoclaw),
    ];
    let (format, most) = own
        .into_iter()
        .rev()
        .max_by_key(|(_, votes)| *votes)
        .unwrap_or((Format::Jsonl, 0));
    let foreign = count.foreign.iter().rev().max_by_key(|(_, votes)| *votes);
    let short = most == 0 || most * 2 < count.objects;
    let own = own.into_iter().map(|(format, votes)| (format.name(), votes));
    let others = count.foreign.iter().map(|(one, votes)| (one.name, *votes));
    let votes = |verdict: Detection| {
        let losers = own
            .chain(others)
            .filter(|(name, votes)| *votes > 0 && verdict.name != Some(name));
        let losers = losers.map(|(name, votes)| FormatCandidate {
            name,
            evidence: format!("{votes} of {} lines match", lines.len()),
        });
        Detection {
            votes: losers.collect(),
            ..verdict
        }
    };
    let settles = |(one, _): &&(&'static Signature, usize)| one.decisive;
    let foreign = count.foreign.iter().find(settles).or(foreign);
    let decisive = foreign.is_some_and(|(one, _)| one.decisive);
    if let Some((signature, cast)) = foreign
        && (short || decisive || *cast >= most)
    {
        let same = |(one, votes): &&(&Signature, usize)| votes == cast && one.name != signature.name;
        if let (false, Some((other, _))) = (decisive, count.foreign.iter().find(same)) {
            let what = format!("as many lines match {} as {}", signature.what, other.what);
            return votes(Detection::unknown(what).hint("give the format with --from"));
        }
        if let Some(messages) = order::unsupported_messages(signature, lines) {
            return votes(Detection::hollow(signature, messages));
        }
        return votes(Detection::named(signature));
    }
    if short {
        let seen = silent.map_or_else(String::new, |line| format!(": {}", excerpt(line)));
        return votes(Detection::unknown(format!(
            "{} JSON lines, {most} of them like messages{seen}",
            count.objects
        )));
    }
    votes(Detection::known(
        format,
        format!("{most} of {} lines match", lines.len()),
    ))
}
