//! Writes edited sessions back to their input, copying all other bytes.

use super::any_codec::{AnyCodec, MemberChange};
use super::codec::lines_of;
use super::frame::{ElementEdit, Frame};
use super::link::link_preserved;
use super::parse::{is_lines, is_object, split_lines};
use super::read;
use crate::error::{Error, Result};
use crate::format::report::Report;
use crate::format::{EditedSession, SessionInput, written};
use crate::model::json;
use crate::model::session::Class;
use std::collections::HashMap;
use std::io::Write;

/// Writes sessions back to the input that they were read from.
pub fn write_back(
    codec: &'static dyn AnyCodec,
    sessions: &[EditedSession<'_>],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    let bytes = &origin.bytes;
    if !sessions.iter().any(|session| session.changed) {
        return written(out.write_all(&[&origin.before[..], bytes].concat()));
    }
    let mut sources = read::reparse(codec, origin);
    check_source(&sources, sessions)?;
    written(out.write_all(&origin.before))?;
    let mut edits: Vec<(usize, ElementEdit)> = Vec::new();
    let mut instructions = None;
    for (own, returned) in sources.iter().zip(sessions) {
        let (own_edits, change) = edits_of(own, returned, report)?;
        instructions = change.or(instructions);
        match own.is_nested {
            false => edits.extend(own_edits),
            true if own_edits
                .iter()
                .all(|(_, edit)| matches!(edit, ElementEdit::Keep(_))) => {}
            true => {
                return Err(Error::not_in_place(format!(
                    "a session within {} cannot be changed in place",
                    codec.constants().phrase
                )));
            }
        }
    }
    sources.retain(|own| !own.is_nested);
    edits.sort_by_key(|(at, _)| *at);
    let edits = edits.into_iter().map(|(_, edit)| edit);
    let edits: Vec<ElementEdit> = match codec.constants().groups_elements {
        true => edits.flat_map(by_element).collect(),
        false => edits.collect(),
    };
    let all = sources.iter().flat_map(|own| own.source.by_line());
    let mut all: Vec<(usize, &[u8])> = all.collect();
    let count = all.len();
    let edits = match sources.iter().any(|own| own.source.is_side_session) {
        false => edits,
        // A line may refer to a line of another session.
        true => {
            all.sort_by_key(|(at, _)| *at);
            let raws: Vec<Vec<u8>> = all.into_iter().map(|(_, raw)| raw.to_vec()).collect();
            let edits = link_preserved(codec.constants().link, &raws, edits);
            check_sessions(codec, &sources, &raws, &edits)?;
            edits
        }
    };
    let keeps_all = edits.len() == count && edits.iter().all(|edit| matches!(edit, ElementEdit::Keep(_)));
    if keeps_all && instructions.is_none() {
        return written(out.write_all(bytes));
    }
    let added = edits
        .iter()
        .filter(|edit| matches!(edit, ElementEdit::Insert(_)))
        .count() as u64;
    let Some(value) = origin.value.clone() else {
        if let Some(own) = sources.first()
            && let Some(lines) = own.codec.appended(&own.source, &edits)
        {
            written(out.write_all(bytes))?;
            if bytes.last().is_some_and(|last| *last != b'\n') {
                written(out.write_all(b"\n"))?;
            }
            let lines = lines.into_iter().map(|line| [line.as_slice(), b"\n"].concat());
            return lines
                .into_iter()
                .try_for_each(|line| written(out.write_all(&line)));
        }
        return write_back_lines(codec, bytes, edits, added, out, report);
    };
    let list = sources
        .first()
        .map_or(codec.constants().list, |own| own.codec.list());
    let mut frame = Frame::parse(bytes, value, list);
    if let ([own], true) = (sources.as_slice(), codec.constants().groups_elements) {
        frame.join(&own.source.sizes);
    }
    if !frame.can_splice() {
        return Err(damaged(
            "a truncated or damaged document cannot be rewritten in place",
        ));
    }
    let after = match codec.constants().copies_layout {
        true => frame.splice_laid_out(&edits),
        false => frame.splice(&edits),
    };
    let after = match instructions {
        Some((name, value)) => json::with_member(&after, name, value.as_deref()),
        None => after,
    };
    written(out.write_all(&with_increased_count(codec, &after, added)))
}

/// The error for damage that an edit would make worse.
fn damaged(what: &str) -> Error {
    Error::data(what).hint("write the readable messages to a new session: convo cat FILE > NEW.jsonl")
}

/// Returns an error unless the source has the sessions that were read from it, whose messages the edits refer to by
/// their position.
fn check_source(sources: &[read::ReparsedSession], sessions: &[EditedSession<'_>]) -> Result<()> {
    let is_same = |(own, returned): (&read::ReparsedSession, &EditedSession<'_>)| {
        let (own, now) = (&own.session, returned.session);
        let is_same_record = |index: usize| match (own.class(index), now.class(index)) {
            _ if own.full(index) == now.full(index) => true,
            // The other members also depend on companion files and on the sessions before this one.
            (Class::Message(_), Class::Message(_)) => {
                let (own, now) = (own.record(index).body, now.record(index).body);
                let is_same = |name| json::member(own, name) == json::member(now, name);
                is_same("role") && is_same("content")
            }
            (own, now) => own == now,
        };
        own.len() <= now.len() && (0..own.len()).all(is_same_record)
    };
    match sources.len() == sessions.len() && sources.iter().zip(sessions).all(is_same) {
        true => Ok(()),
        false => {
            let what = "the source no longer matches the session that was read from it";
            Err(Error::data(what).hint("read the file again"))
        }
    }
}

/// Returns an error if a message would move between the main session and a side session.
fn check_sessions(
    codec: &dyn AnyCodec,
    sources: &[read::ReparsedSession],
    raws: &[Vec<u8>],
    edits: &[ElementEdit],
) -> Result<()> {
    let mut is_side_session = HashMap::new();
    for own in sources.iter().map(|own| &own.source) {
        for nth in own.elements.of.values() {
            is_side_session.extend(own.places(*nth).into_iter().map(|at| (at, own.is_side_session)));
        }
    }
    let lines: Vec<&[u8]> = edits.iter().map(|edit| edit.element(raws)).collect();
    let session = codec.assemble(&lines).unwrap_or_default().session;
    let is_same = |(nth, edit): (usize, &ElementEdit)| {
        let now = session.get(nth).is_some_and(|session| *session > 0);
        match edit {
            ElementEdit::Keep(at) | ElementEdit::Replace(at, _) => {
                is_side_session.get(at).is_none_or(|then| *then == now)
            }
            ElementEdit::Insert(_) => true,
        }
    };
    if edits.iter().enumerate().all(is_same) {
        return Ok(());
    }
    Err(Error::not_in_place(
        "another branch of the session would be sent to the model",
    ))
}

/// Splits the edit of a group into edits of its elements.
fn by_element(edit: ElementEdit) -> Vec<ElementEdit> {
    let elements = |raw: &[u8]| -> Vec<Vec<u8>> {
        let elements = json::items(raw);
        elements.into_iter().map(<[u8]>::to_vec).collect()
    };
    match edit {
        ElementEdit::Keep(_) => vec![edit],
        ElementEdit::Insert(raw) => elements(&raw).into_iter().map(ElementEdit::Insert).collect(),
        ElementEdit::Replace(nth, raw) => {
            let edits = elements(&raw).into_iter().enumerate();
            let edits = edits.map(|(at, raw)| match at {
                0 => ElementEdit::Replace(nth, raw),
                _ => ElementEdit::Insert(raw),
            });
            edits.collect()
        }
    }
}

/// The edits of a session, each with the index of the element that it is at or after, and the change of a member next to
/// the list.
type PlacedEdits = (Vec<(usize, ElementEdit)>, Option<MemberChange>);

/// The edits of one session. New elements at the end of the session are placed at the end of the input.
fn edits_of(
    own: &read::ReparsedSession,
    returned: &EditedSession<'_>,
    report: &mut Report,
) -> Result<PlacedEdits> {
    let source = &own.source;
    let mut instructions = None;
    let edits = match returned.changed {
        false => (0..source.raws.len()).map(ElementEdit::Keep).collect(),
        true => {
            let about = own.about.as_deref();
            let (edits, change) = own.codec.edits_in_place(about, source, returned, report)?;
            instructions = change;
            edits
        }
    };
    let ends = edits
        .iter()
        .rposition(|edit| !matches!(edit, ElementEdit::Insert(_)));
    let mut anchor = source.at.first().copied().unwrap_or(0);
    let row = |nth: usize, raw: Vec<u8>, is_new| match source.rows.get(nth) {
        Some(row) => own.codec.with_row(row, &raw, is_new),
        None => raw,
    };
    let mut out = Vec::with_capacity(edits.len());
    for (nth, edit) in edits.into_iter().enumerate() {
        let at = match &edit {
            ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => source.places(*nth),
            // Lines after the last one of a side session would become part of the main session.
            ElementEdit::Insert(_) if ends.is_none_or(|ends| nth > ends) && !source.is_side_session => {
                vec![usize::MAX]
            }
            ElementEdit::Insert(_) => vec![anchor],
        };
        anchor = at.last().copied().filter(|at| *at < usize::MAX).unwrap_or(anchor);
        match edit {
            ElementEdit::Keep(_) => out.extend(at.into_iter().map(|at| (at, ElementEdit::Keep(at)))),
            ElementEdit::Replace(_, raw) if at.len() > 1 => {
                let mut built = lines_of(&raw).into_iter().map(<[u8]>::to_vec);
                let replaced = at.into_iter().zip(built.by_ref());
                out.extend(replaced.map(|(at, built)| (at, ElementEdit::Replace(at, built))));
                out.extend(built.map(|built| (anchor, ElementEdit::Insert(built))));
            }
            ElementEdit::Replace(nth, raw) => {
                out.push((anchor, ElementEdit::Replace(anchor, row(nth, raw, false))))
            }
            ElementEdit::Insert(raw) => {
                out.push((at[0], ElementEdit::Insert(row(0, raw, true))));
            }
        }
    }
    Ok((out, instructions))
}

/// Writes the edited lines of a log.
fn write_back_lines(
    codec: &dyn AnyCodec,
    bytes: &[u8],
    edits: Vec<ElementEdit>,
    added: u64,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let before = split_lines(codec, bytes);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut last_at = None;
    for edit in edits {
        let at = match &edit {
            ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => Some(*nth),
            ElementEdit::Insert(_) => None,
        };
        let is_next = at.is_some_and(|at| at > 0 && last_at == Some(at - 1));
        last_at = at;
        let line = match edit {
            ElementEdit::Keep(nth) if codec.begins(before[nth].trim_ascii()) => {
                with_increased_count(codec, before[nth], added)
            }
            ElementEdit::Keep(nth) => before[nth].to_vec(),
            ElementEdit::Replace(nth, built) => {
                let line = before[nth];
                let lead = line.len() - line.trim_ascii_start().len();
                let end = line.trim_ascii_end().len();
                [&line[..lead.min(end)], &built, &line[end..]].concat()
            }
            ElementEdit::Insert(built) => [built.as_slice(), b"\n"].concat(),
        };
        // The previous line may have been the last one, without a line ending; likewise the first of two records on one
        // line.
        if let Some(last) = lines.last_mut().filter(|last| !is_next && !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        lines.push(line);
    }
    // A damaged first line may look like the start of a document, so that the messages after it are not found.
    let first = lines
        .iter()
        .map(|line| line.trim_ascii())
        .find(|line| !line.is_empty());
    if first.is_some_and(|line| !is_object(line)) && !is_lines(codec, &mut SessionInput::of(lines.concat()))?
    {
        return Err(damaged("the log would start with a damaged line"));
    }
    codec.check_lines(&lines, report);
    lines.iter().try_for_each(|line| written(out.write_all(line)))
}

/// The object with its element count increased.
fn with_increased_count(codec: &dyn AnyCodec, bytes: &[u8], added: u64) -> Vec<u8> {
    let count = codec
        .constants()
        .count_member
        .and_then(|name| json::member(bytes.trim_ascii(), name));
    let number = count.and_then(json::number::<u64>);
    match (count, number) {
        (Some(raw), Some(number)) if added > 0 => {
            json::replaced(bytes, raw, (number + added).to_string().as_bytes())
        }
        _ => bytes.to_vec(),
    }
}
