//! Repairs one log: makes a copy, moves damaged lines to the quarantine, then replaces the log atomically.

use super::log::{Mended, Moved, Seen};
use super::mend::unwind;
use super::{Stamp, quarantined, sound};
use crate::error::{Error, Kind, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::store::directory::Directory;
use crate::store::held::Held;
use crate::store::log::{Chain, SEAL, digits_of, hex, seal};
use crate::store::{Store, atomic, pieces, rewrite, trash};

/// The beginning of a header written by convo.
const SESSION: &[u8] = b"{\"type\":\"session\"";

/// Maximum number of passes over a log; three are known to be needed.
const ROUNDS: u32 = 16;

pub(super) const QUARANTINE: &str = "quarantine";

impl Store {
    /// Repairs a log, which is checked again under its lock; returns the result of that check. None when the log is
    /// gone.
    pub(super) fn repair_log(&self, id: &str, stamp: Stamp<'_>, force: bool) -> Result<Option<Seen>> {
        let held = match Held::open(self, key::checked_id(id)?) {
            Err(error) if error.kind == Kind::NotFound => return Ok(None),
            held => held?,
        };
        let shown = held.sessions.shown(&held.name);
        let read = sound::read(&held.file, held.facts.size, id, &shown);
        let (mut seen, bytes) = read.map_err(|error| Error::io(&shown, error))?;
        let Some(mended) = seen.mended.take() else {
            return Ok(Some(seen));
        };
        if !force {
            rewrite::refuse_writers(&held.file, &shown)?;
        }
        let (_, now) = stamp("copy")?;
        let quarantine = atomic::folder(self.directory(), QUARANTINE)?;
        let before = quarantine.facts(&held.name)?.map_or(0, |facts| facts.size);
        let (copy, is_new) = copy_of(&held, &bytes, &quarantine, id, &now)?;
        let exchanged = mend(id, &bytes, mended, &copy, stamp).and_then(|(log, runs)| {
            if !runs.is_empty() && !is_kept(&quarantine, &held.name, &copy, &runs)? {
                pieces::append(&quarantine, &held.name, &runs)?;
            }
            held.replace(self, &mut |out| atomic::put_bytes(out, &shown, &log))
        });
        exchanged.inspect_err(|error| {
            if error.kind != Kind::Unsure {
                let _ = pieces::cut(&quarantine, &held.name, before); // on failure the next repair continues from there
                if is_new {
                    let _ = atomic::unlink(&quarantine, &copy); // a second name of the log
                }
            }
        })?;
        // Corrected lines may count messages that were not counted, with the same checksum.
        self.forget_counts();
        let copy = quarantine.shown(&copy);
        seen.copy = Some(copy);
        Ok(Some(seen))
    }
}

/// The repaired log, and the runs for the quarantine. A correction can reveal further problems, so the log is checked
/// until there are none.
fn mend(id: &str, log: &[u8], first: Mended, copy: &str, stamp: Stamp<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut runs = runs(&first.moved, log, copy, stamp)?;
    let mut log = chained(&first, stamp)?;
    for _ in 0..ROUNDS {
        let Some(more) = Seen::of(&log, id, copy).mended else {
            break;
        };
        runs.extend(self::runs(&more.moved, &log, copy, stamp)?);
        log = chained(&more, stamp)?;
    }
    Ok((log, runs))
}

/// Creates the copy of the log as a second name of the same file; returns whether it is new, because an interrupted
/// repair may have left one.
fn copy_of(
    held: &Held<'_>,
    bytes: &[u8],
    quarantine: &Directory,
    id: &str,
    now: &str,
) -> Result<(String, bool)> {
    for name in quarantine
        .names()?
        .into_iter()
        .filter(|name| trash::is_copy(name).is_some())
    {
        let Some(facts) = quarantine
            .facts(&name)?
            .filter(|facts| facts.size == held.facts.size)
        else {
            continue;
        };
        if facts.is_same_file(&held.facts) || pieces::read(quarantine, &name)? == bytes {
            atomic::sync_directory(quarantine)?;
            return Ok((name, false));
        }
    }
    let time: String = now.chars().filter(|digit| !matches!(digit, '-' | ':')).collect();
    let mut names = (1..).map(|nth| trash::copy_name(id, &time, nth));
    loop {
        let name = names.next().unwrap_or_default();
        if atomic::link_new(held.sessions, &held.name, quarantine, &name)? {
            return Ok((name, true));
        }
    }
}

/// Whether an interrupted repair has put all moved lines into the quarantine.
fn is_kept(quarantine: &Directory, name: &str, copy: &str, runs: &[u8]) -> Result<bool> {
    let file = pieces::read(quarantine, name)?;
    let of = |run: &pieces::Run| json::member(&file[run.line.clone()], "copy").and_then(json::text);
    let kept = pieces::runs(&file)
        .iter()
        .filter(|run| run.sound && of(run).as_deref() == Some(copy))
        .count();
    Ok(kept > 0 && kept == pieces::runs(runs).len())
}

fn runs(moved: &[Moved], bytes: &[u8], copy: &str, stamp: Stamp<'_>) -> Result<Vec<u8>> {
    let mut runs = Vec::new();
    for piece in moved {
        let mut members = quarantined(stamp, &format!("quarantine {}", piece.place.offset))?;
        members
            .text("copy", copy)
            .raw("line", piece.place.line.to_string())
            .raw("offset", piece.place.offset.to_string())
            .text("why", &piece.why);
        runs.extend(pieces::run(members, &bytes[piece.bytes.clone()]));
    }
    Ok(runs)
}

/// The lines, with a `repair` event wherever a checksum does not follow from the line before; the checksum chain
/// continues from the state that the event states.
fn chained(mended: &Mended, stamp: Stamp<'_>) -> Result<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut chain = Chain::default();
    let mut from = 0; // start of the bytes that the next checksum covers
    for line in &mended.lines {
        let start = out.len();
        out.extend_from_slice(line);
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let Some(digits) = digits_of(ended) else {
            if start == 0 && line.starts_with(SESSION) && ended.ends_with(b"}") {
                let covered = &ended[..ended.len() - 1]; // a new line, written here
                out.truncate(covered.len());
                let own = chain.close(covered);
                out.extend_from_slice(&seal(own));
                out.push(b'\n');
                from = out.len();
            }
            continue;
        };
        let comma = start + ended.len() - SEAL;
        let mut behind = chain;
        behind.pass(&out[from..comma]);
        let right = hex(behind.state());
        if start == 0 && right != digits && line.starts_with(SESSION) {
            // Nothing precedes the header, so its checksum is computed from its content.
            out[comma..comma + SEAL].copy_from_slice(&seal(right));
            chain = Chain::behind(&ended[..ended.len() - SEAL], right);
            from = out.len();
            continue;
        }
        if right != digits {
            let stored = std::str::from_utf8(&digits)
                .ok()
                .and_then(|text| u32::from_str_radix(text, 16).ok());
            let state = unwind(stored.unwrap_or_default(), &out[from..comma]);
            let (id, at) = stamp(&format!("repair {from}"))?;
            let mut event = ObjectBuilder::default();
            event
                .text("type", "repair")
                .text("id", &id)
                .text("at", &at)
                .text("_chain", &format!("{state:08x}"));
            let mut marker = event.finish();
            marker.pop();
            let own = chain.close(&marker);
            marker.extend_from_slice(&seal(own));
            marker.push(b'\n');
            out.splice(from..from, marker);
        }
        chain = Chain::behind(&ended[..ended.len() - SEAL], digits);
        from = out.len();
    }
    Ok(out)
}
