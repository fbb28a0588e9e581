//! Packed sessions with the hash of their messages.

use convo::error::Error;
use convo::filter::materialize::LineJoiner;
use convo::filter::sieve::fingerprint;
use convo::format::packed::Packer;
use convo::model::view::View;
use std::io::Write;

/// Writes each session of the record stream on one line, with its hash.
pub fn pack(
    out: &mut dyn Write,
    write: impl FnOnce(&mut LineJoiner<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut packer = Packer::new(out).hashing(|session| fingerprint(session, &View::replay(session)));
    let done = write(&mut LineJoiner::new(&mut packer));
    // Write pending data, so that an error follows the data before it.
    let finished = packer.finish().map_err(|error| Error::io("cannot write", error));
    done.and(finished.map_err(Into::into))
}
