//! Counts the messages of a log, and finds its continuation, without reading all of it. Earlier counts are cached and
//! valid only if the log still has the same checksum at that position, which covers every byte before it.

use super::directory::{Directory, FileStat};
use super::log::{self, SEAL, digits_of};
use super::network::CACHE;
use super::{Store, log_name};
use crate::error::{Error, Position, Result};
use crate::model::chain::{self, ChainLinks};
use crate::model::event::Action;
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use rustix::fs::OFlags;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

/// Minimum number of new bytes for which the cache file is rewritten.
const FEW: u64 = 4 * 1024;

/// Maximum size of a cache file in bytes.
const LONGEST: u64 = 1024;

/// The result of counting a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageCount {
    /// Number of counted bytes: complete lines.
    pub length: u64,
    /// The checksum of the last counted line, if it has one.
    digits: Option<log::Digits>,
    /// Number of messages.
    pub messages: u64,
    /// The session that continues this one.
    pub link: Option<String>,
    /// The session that a durable link leads to, or this one if the names through which it was found are durable.
    pub confirmed: Option<String>,
}

impl MessageCount {
    /// Counts the lines of `bytes`, which follow those already counted; returns whether one of them may change the
    /// continuation. A partial last line is ignored.
    fn count_lines_of(&mut self, bytes: &[u8]) -> bool {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
        let mut links = false;
        each_record(&bytes[..whole], |line, record| {
            self.digits = digits_of(&line[..line.len() - 1]);
            self.length += line.len() as u64;
            match &record.kind {
                Line::Message(_) => self.messages += 1,
                Line::Event(event) => {
                    links |= chain::child(event).is_some() || matches!(event.action(), Action::Restore(_));
                }
                Line::Unreadable(_) | Line::Blank => {}
            }
        });
        links
    }

    /// Determines the continuation from all lines so far; later lines decide which links are active.
    fn find_link(&mut self, bytes: &[u8], agrees: &dyn Fn(&str) -> bool) {
        let mut session = Session::default();
        each_record(bytes, |_, record| session.push(record));
        let mut children = ChainLinks::of(&session).continued_to.into_iter();
        let child = children.find(|child| agrees(child));
        if child != self.link {
            self.confirmed = None;
            self.link = child;
        }
    }

    /// Encodes the count as a line of text with its own checksum.
    fn encoded(&self) -> Option<String> {
        let digits = String::from_utf8(self.digits?.to_vec()).ok()?;
        let child = self.link.clone().unwrap_or_default();
        let confirmed = self.confirmed.clone().unwrap_or_default();
        let text = format!(
            "{}\t{digits}\t{}\t{child}\t{confirmed}",
            self.length, self.messages
        );
        let whole = format!("{text}\t{:08x}\n", crc32c::crc32c(text.as_bytes()));
        (whole.len() as u64 <= LONGEST && whole.matches('\t').count() == 5).then_some(whole)
    }

    fn read(text: &str) -> Option<MessageCount> {
        let (text, sum) = text.strip_suffix('\n')?.rsplit_once('\t')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32c::crc32c(text.as_bytes()) {
            return None;
        }
        let cells: Vec<&str> = text.split('\t').collect();
        let [length, digits, messages, child, confirmed] = cells[..] else {
            return None;
        };
        let given = |text: &str| (!text.is_empty()).then(|| text.to_string());
        Some(MessageCount {
            length: length.parse().ok()?,
            digits: Some(digits.as_bytes().try_into().ok()?),
            messages: messages.parse().ok()?,
            link: given(child),
            confirmed: given(confirmed),
        })
    }

    /// Whether the log still has the recorded checksum at the counted length.
    fn is_valid_for(&self, file: &File, facts: &FileStat) -> bool {
        let Some(start) = self.length.checked_sub(1 + SEAL as u64) else {
            return false;
        };
        let mut end = [0; SEAL + 1];
        self.length <= facts.size
            && file.read_exact_at(&mut end, start).is_ok()
            && end[SEAL] == b'\n'
            && digits_of(&end[..SEAL]) == self.digits
    }

    /// Counts to the end of the log; returns separately the count including a last line without newline. Readers
    /// treat that as a line, but it may still change.
    fn catch_up(
        &mut self,
        file: &File,
        facts: &FileStat,
        agrees: &dyn Fn(&str) -> bool,
    ) -> std::io::Result<Option<MessageCount>> {
        let counted = self.length;
        let read = |from: u64, to: u64| {
            let mut bytes = vec![0; usize::try_from(to - from).map_err(std::io::Error::other)?];
            file.read_exact_at(&mut bytes, from).map(|()| bytes)
        };
        let bytes = read(counted, facts.size)?;
        if self.count_lines_of(&bytes) {
            self.find_link(&read(0, self.length)?, agrees);
        }
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1);
        if whole == bytes.len() {
            return Ok(None);
        }
        let mut with = self.clone();
        if with.count_lines_of(&[&bytes[whole..], b"\n"].concat()) {
            let mut all = read(0, facts.size)?;
            all.push(b'\n');
            with.find_link(&all, agrees);
        }
        Ok(Some(with))
    }
}

/// Visits the lines of a log: the stored bytes and the record.
fn each_record(bytes: &[u8], mut each: impl FnMut(&[u8], &Record<'_>)) {
    let mut bare = Vec::new();
    let mut offset = 0;
    for stored in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = if log::strip_into(stored, &mut bare) {
            &bare[..]
        } else {
            stored
        };
        // Not the start of an input, so a byte order mark is part of the line.
        offset += stored.len() as u64;
        each(stored, &Record::parse(line, Position { line: 0, offset }));
    }
}

fn file_name(id: &str) -> String {
    format!("{id}.count")
}

/// The cached count of a log.
fn cached(cache: &Directory, id: &str) -> Option<MessageCount> {
    let file = cache.file(file_name(id), OFlags::RDONLY).ok()??;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    MessageCount::read(&text)
}

impl Store {
    /// Counts an open log: returns the count to cache, and the current one. `known` is an earlier count by this
    /// process; only a process that `writes` updates the cache.
    pub(super) fn count(
        &self,
        id: &str,
        file: &File,
        facts: &FileStat,
        known: Option<MessageCount>,
        writes: bool,
    ) -> Result<(MessageCount, MessageCount)> {
        let from_cache = || {
            let cache = self.directory().inner(CACHE).ok()??;
            cached(&cache, id).filter(|count| count.is_valid_for(file, facts))
        };
        let known = known.filter(|count| count.length == facts.size || count.is_valid_for(file, facts));
        let mut count = known.or_else(from_cache).unwrap_or_default();
        let before = count.length;
        let shown = || self.directory().shown(format!("sessions/{}", log_name(id)));
        // An unreadable session is checked again before a link is followed.
        let agrees = |child: &str| self.agrees(child, id).unwrap_or(true);
        let with = count
            .catch_up(file, facts, &agrees)
            .map_err(|error| Error::io(shown(), error))?;
        if writes && count.length - before >= FEW {
            self.keep_count(id, &count);
        }
        let now = with.unwrap_or_else(|| count.clone());
        Ok((count, now))
    }

    /// Caches a count. Errors are ignored, because they only cost time.
    pub(super) fn keep_count(&self, id: &str, count: &MessageCount) {
        if let Some(text) = count.encoded() {
            self.write_cached(&file_name(id), text.as_bytes());
        }
    }

    /// Removes all cached counts.
    pub fn forget_counts(&self) {
        let forget = || {
            let cache = self.directory().inner(CACHE).ok()??;
            for name in cache.names().ok()? {
                if name.ends_with(".count") {
                    super::atomic::unlink(&cache, &name).ok()?;
                }
            }
            Some(())
        };
        let _ = forget();
    }
}
