//! Checks a log line by line, which suffices for an undamaged log of any size.

use super::log::{Seen, version};
use super::{Found, Trouble, records};
use crate::format::lines::Lines;
use crate::model::event::VERSION;
use crate::model::record::{Kind as Line, Record};
use crate::model::session::{Class, Session};
use crate::store::log::{Chain, Verdict, strip_into};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Checks a log of this length; also returns its bytes if it is damaged.
pub(super) fn read(mut file: &File, length: u64, id: &str, shown: &str) -> io::Result<(Seen, Vec<u8>)> {
    // An event that refers to no message by its own id may use a derived id.
    for session in [Session::of_ids(), Session::of_digests()] {
        file.seek(SeekFrom::Start(0))?;
        let is_last = session.derives_ids();
        match sound(file.take(length), session, id, shown)? {
            Some(seen) if is_last || !seen.found.iter().any(is_dangling) => return Ok((seen, Vec::new())),
            Some(_) => {}
            None => break,
        }
    }
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes)?;
    Ok((Seen::of(&bytes, id, shown), bytes))
}

fn is_dangling(found: &Found) -> bool {
    found.trouble == Trouble::DanglingEvent
}

/// Checks a log line by line; none if a line or the header is damaged.
fn sound(log: impl Read, mut session: Session, id: &str, shown: &str) -> io::Result<Option<Seen>> {
    let (mut lines, mut chain, mut bare) = (Lines::new(Vec::new(), log), Chain::default(), Vec::new());
    let mut seen = Seen::default();
    while let Some((line, place)) = lines.next_line()? {
        let verdict = chain.verify(line);
        let stripped = strip_into(line, &mut bare);
        let record = Record::parse(if stripped { &bare } else { line }, place);
        let is_sound = match &record.kind {
            Line::Unreadable(_) => false,
            Line::Event(event) if event.is_header() => version(event).is_none_or(|known| known <= VERSION),
            _ => true,
        };
        if verdict == Verdict::Broken || !is_sound || !line.ends_with(b"\n") {
            return Ok(None);
        }
        seen.bytes += line.len() as u64;
        seen.unchecked = match (verdict, &record.kind) {
            (Verdict::Sealed, _) => 0,
            (_, Line::Blank) => seen.unchecked,
            _ => seen.unchecked + 1,
        };
        session.push_reduced(&record);
    }
    if !(0..session.len()).any(|index| session.class(index) == Class::Header) {
        return Ok(None);
    }
    let troubles = records::troubles(&session, id).into_iter();
    seen.found = troubles
        .map(|(index, trouble, what)| Found {
            session: Some(id.to_string()),
            file: shown.to_string(),
            place: session.place(index),
            trouble,
            what,
            remedy: None,
        })
        .collect();
    seen.found.sort_by_key(|found| found.place.offset);
    seen.links = records::links(&session);
    Ok(Some(seen))
}
