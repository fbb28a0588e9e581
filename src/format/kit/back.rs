//! Sessions that were edited, in the inputs that they came from: all other bytes are copied.

use super::codec::Codec;
use super::editor::{Editor, Edits};
use super::frame::{Edit, Frame, replaced};
use super::link::link;
use super::read;
use crate::error::{Error, Kind, Result};
use crate::format::report::Report;
use crate::format::{Purpose, Returned, written};
use crate::model::json::{self, Dialect};
use std::io::Write;

/// Writes sessions back into what they came from.
pub fn back<C: Editor>(
    codec: &'static C,
    sessions: &[Returned<'_>],
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let Some(origin) = sessions.first().and_then(|first| first.session.origin()) else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    let bytes = &origin.bytes;
    let is_changed = sessions.iter().any(|session| session.changed);
    let parsed = is_changed.then(|| read::reparse(codec, origin)).flatten();
    let Some(read::Reparsed {
        sessions: sources,
        document,
    }) = parsed
    else {
        return written(out.write_all(bytes));
    };
    let mut edits: Vec<(usize, Edit)> = Vec::new();
    for (own, returned) in sources.iter().zip(sessions) {
        edits.extend(edits_of(own, returned, report)?);
    }
    edits.sort_by_key(|(at, _)| *at);
    let edits = edits.into_iter().map(|(_, edit)| edit);
    let edits: Vec<Edit> = match C::UNITS {
        true => edits.flat_map(by_element).collect(),
        false => edits.collect(),
    };
    let count: usize = sources.iter().map(|own| own.source.raws.len()).sum();
    if edits.len() == count && edits.iter().all(|edit| matches!(edit, Edit::Keep(_))) {
        return written(out.write_all(bytes));
    }
    let added = edits
        .iter()
        .filter(|edit| matches!(edit, Edit::Insert(_)))
        .count() as u64;
    let Some(value) = document else {
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
        return lines_back(codec, bytes, edits, added, out, report);
    };
    let mut frame = Frame::parse(bytes, value, C::LIST);
    if let ([own], true) = (sources.as_slice(), C::UNITS) {
        frame.join(&own.source.sizes);
    }
    if !frame.can_splice() {
        let what = "a truncated or damaged document cannot be rewritten in place";
        return Err(Error::new(Kind::Data, what).hint(format!(
            "write the readable messages to a new file: convo cat --to {} FILE > NEW",
            C::NAME
        )));
    }
    let after = match C::LAYS_OUT {
        true => frame.splice_laid_out(&edits),
        false => frame.splice(&edits),
    };
    written(out.write_all(&counted::<C>(&after, added)))
}

/// The edit of a unit as edits of its elements.
fn by_element(edit: Edit) -> Vec<Edit> {
    let elements = |raw: &[u8]| -> Vec<Vec<u8>> {
        let elements = json::elements(raw, Dialect::Strict).unwrap_or_default();
        elements.into_iter().map(<[u8]>::to_vec).collect()
    };
    match edit {
        Edit::Keep(_) => vec![edit],
        Edit::Insert(raw) => elements(&raw).into_iter().map(Edit::Insert).collect(),
        Edit::Replace(nth, raw) => {
            let edits = elements(&raw).into_iter().enumerate();
            let edits = edits.map(|(at, raw)| match at {
                0 => Edit::Replace(nth, raw),
                _ => Edit::Insert(raw),
            });
            edits.collect()
        }
    }
}

/// The edits of a session of an origin, each with the index of the element that it is at or after. New elements at the
/// end are at the end of all.
fn edits_of<C: Editor>(
    own: &read::ReparsedSession<C>,
    returned: &Returned<'_>,
    report: &mut Report,
) -> Result<Vec<(usize, Edit)>> {
    let source = &own.source;
    let edits = match returned.changed {
        false => (0..source.raws.len()).map(Edit::Keep).collect(),
        true => {
            let (codec, purpose) = (own.codec, Purpose::Return);
            let mut context = codec.context(own.about.as_deref(), source);
            let edits = Edits::new(codec, returned.session, returned.view, purpose, source);
            edits.check_instructions()?;
            let list = link::<C>(&source.raws, codec.edit(&edits, &mut context, report));
            codec.check(&edits, &list)?;
            list
        }
    };
    let ends = edits.iter().rposition(|edit| !matches!(edit, Edit::Insert(_)));
    let mut anchor = 0;
    let row = |nth: usize, raw: Vec<u8>, is_new| match source.rows.get(nth) {
        Some(row) => own.codec.with_row(row, &raw, is_new),
        None => raw,
    };
    let edits = edits.into_iter().enumerate().map(|(nth, edit)| match edit {
        Edit::Keep(nth) => {
            anchor = source.at[nth];
            (anchor, Edit::Keep(anchor))
        }
        Edit::Replace(nth, raw) => {
            anchor = source.at[nth];
            (anchor, Edit::Replace(anchor, row(nth, raw, false)))
        }
        Edit::Insert(raw) if ends.is_none_or(|ends| nth > ends) => {
            (usize::MAX, Edit::Insert(row(0, raw, true)))
        }
        Edit::Insert(raw) => (anchor, Edit::Insert(row(0, raw, true))),
    });
    Ok(edits.collect())
}

/// Writes lines back.
fn lines_back<C: Editor>(
    codec: &C,
    bytes: &[u8],
    edits: Vec<Edit>,
    added: u64,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let before: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for edit in edits {
        let line = match edit {
            Edit::Keep(nth) if codec.begins(before[nth].trim_ascii()) => counted::<C>(before[nth], added),
            Edit::Keep(nth) => before[nth].to_vec(),
            Edit::Replace(nth, made) => {
                let line = before[nth];
                let lead = line.len() - line.trim_ascii_start().len();
                let end = line.trim_ascii_end().len();
                [&line[..lead.min(end)], &made, &line[end..]].concat()
            }
            Edit::Insert(made) => [made.as_slice(), b"\n"].concat(),
        };
        // The line before may have been the last one, without an ending.
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        lines.push(line);
    }
    codec.check_lines(&lines, report);
    lines.iter().try_for_each(|line| written(out.write_all(line)))
}

/// The bytes of an object with the number of its elements raised.
fn counted<C: Codec>(bytes: &[u8], added: u64) -> Vec<u8> {
    let count = C::COUNT.and_then(|name| json::member(bytes.trim_ascii(), name));
    let number = count.and_then(|raw| std::str::from_utf8(raw).ok()?.parse::<u64>().ok());
    match (count, number) {
        (Some(raw), Some(number)) if added > 0 => {
            replaced(bytes, raw, (number + added).to_string().as_bytes())
        }
        _ => bytes.to_vec(),
    }
}
