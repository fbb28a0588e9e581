//! Removes data from session files that a program does not need to resume them, line by line and with little memory.

pub mod image;
pub mod part;
pub mod placeholder;

pub use part::{PartNames, SlimPart, Slimming};

use super::Format;
use super::lines::ByteLines;
use crate::error::{Error, Result};
use crate::model::record::body_of;
use image::StoreImage;
use part::{LineRemainder, Slimmer};
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// The removable parts of a format; `None` if the format is not supported.
pub fn parts(format: Format) -> Option<&'static [SlimPart]> {
    format.spec().slims.map(|slims| slims.parts)
}

/// The parts to remove: by default the usual ones, or only those in `only`, always without those in `keep`.
///
/// # Errors
/// A usage error for an unsupported format or an unknown part.
pub fn parts_to_remove(format: Format, only: &[String], keep: &[String]) -> Result<PartNames> {
    let Some(parts) = parts(format) else {
        let error = Error::usage(format!("cannot slim {} files", format.name()));
        return Err(error.hint(match format {
            Format::Native => "remove records that are out of view with: convo gc".to_string(),
            _ => format!(
                "formats: {}",
                names(
                    Format::ALL
                        .into_iter()
                        .filter(|format| format.spec().slims.is_some())
                        .map(Format::name)
                )
            ),
        }));
    };
    let known = |name: &String| match parts.iter().any(|part| part.name == name) {
        true => Ok(()),
        false => {
            let what = format!("unknown kind '{name}' of {}", format.name());
            Err(Error::usage(what).hint(format!("kinds: {}", names(parts.iter().map(|part| part.name)))))
        }
    };
    only.iter().chain(keep).try_for_each(known)?;
    let has = |list: &[String], part: &SlimPart| list.iter().any(|name| name == part.name);
    let is_chosen = |part: &&SlimPart| match only {
        [] => part.is_usual && !has(keep, part),
        only => has(only, part) && !has(keep, part),
    };
    Ok(PartNames(
        parts.iter().filter(is_chosen).map(|part| part.name).collect(),
    ))
}

fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The size of a kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlimShare {
    /// Number of lines with it.
    pub lines: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Remaining bytes.
    pub left: u64,
    /// The effect of removing it; `None` for records that are kept.
    pub loss: Option<&'static str>,
}

/// The size of a file by kind of record; parts of records are counted separately.
#[derive(Clone, Debug, Default)]
pub struct RecordShares(pub BTreeMap<String, SlimShare>);

impl RecordShares {
    fn add(&mut self, kind: &str, bytes: usize, left: usize) -> &mut SlimShare {
        if !self.0.contains_key(kind) {
            self.0.insert(kind.to_string(), SlimShare::default());
        }
        let share = self.0.entry(kind.to_string()).or_default();
        share.lines += 1;
        share.bytes += bytes as u64;
        share.left += left as u64;
        share
    }

    /// Adds the counts of another file.
    pub fn join(&mut self, other: &RecordShares) {
        for (kind, share) in &other.0 {
            let own = self.0.entry(kind.clone()).or_default();
            own.lines += share.lines;
            own.bytes += share.bytes;
            own.left += share.left;
            own.loss = own.loss.or(share.loss);
        }
    }

    /// Bytes of the file, and remaining bytes.
    pub fn total(&self) -> (u64, u64) {
        let all = self.0.values();
        all.fold((0, 0), |(bytes, left), share| {
            (bytes + share.bytes, left + share.left)
        })
    }
}

/// A file to be slimmed: read once for analysis and again for writing.
pub struct Slim {
    parts: &'static [SlimPart],
    slimmer: Box<dyn Slimmer>,
}

impl Slim {
    /// Reads a file of which these parts are to be removed.
    ///
    /// # Errors
    /// A usage error for an unsupported format; read errors.
    pub fn read(format: Format, chosen: PartNames, input: impl Read) -> Result<Slim> {
        let Some(slims) = format.spec().slims else {
            return Err(Error::usage(format!("cannot slim {} files", format.name())));
        };
        let mut slimmer = (slims.open)(chosen);
        let mut lines = ByteLines::new(Vec::new(), input);
        let failed = |error| Error::io("cannot read", error);
        while let Some((full, place)) = lines.next_line().map_err(failed)? {
            slimmer.inspect(place.line, body_of(full, place));
        }
        slimmer.end_of_scan();
        Ok(Slim {
            parts: slims.parts,
            slimmer,
        })
    }

    /// Writes the slimmed file from the same input, read a second time. With `keep`, also removes images, after passing
    /// each to `keep`.
    pub fn write(
        &mut self,
        input: impl Read,
        out: &mut dyn Write,
        mut keep: Option<StoreImage<'_>>,
    ) -> Result<RecordShares> {
        let mut shares = RecordShares::default();
        let mut lines = ByteLines::new(Vec::new(), input);
        let failed = |error| Error::io("cannot read", error);
        while let Some((full, place)) = lines.next_line().map_err(failed)? {
            let body = body_of(full, place);
            let mut slimmed = self.slimmer.slim(place.line, body);
            let without = match (&mut keep, &slimmed.left) {
                (None, _) | (_, LineRemainder::Nothing) => None,
                (Some(keep), LineRemainder::Same) => image::without(body, keep)?,
                (Some(keep), LineRemainder::Other(line)) => image::without(line, keep)?,
            };
            // Count the bytes of images separately from their record.
            let mut bytes = full.len();
            if let Some(line) = without {
                let before = match &slimmed.left {
                    LineRemainder::Other(line) => line.len(),
                    _ => body.len(),
                };
                let saved = before.saturating_sub(line.len());
                shares.add(image::NAME, saved, 0).loss = Some(image::LOSS);
                bytes -= saved;
                slimmed.left = LineRemainder::Other(line);
            }
            let start = body.as_ptr().addr() - full.as_ptr().addr();
            let mut write = |bytes: &[u8]| {
                out.write_all(bytes)
                    .map_err(|error| Error::io("cannot write", error))
            };
            let left = match &slimmed.left {
                LineRemainder::Same => {
                    write(full)?;
                    full.len()
                }
                LineRemainder::Other(line) => {
                    write(&full[..start])?;
                    write(line)?;
                    write(&full[start + body.len()..])?;
                    full.len() - body.len() + line.len()
                }
                LineRemainder::Nothing => 0,
            };
            let Some(part) = slimmed.part else {
                shares.add(&slimmed.record, bytes, left);
                continue;
            };
            // The rest of a line counts as its record.
            let removed = match slimmed.record == part || left == 0 {
                true => shares.add(part, bytes, left),
                false => {
                    shares.add(&slimmed.record, left, left);
                    shares.add(part, bytes.saturating_sub(left), 0)
                }
            };
            removed.loss = self
                .parts
                .iter()
                .find(|known| known.name == part)
                .map(|known| known.loss);
        }
        Ok(shares)
    }
}
