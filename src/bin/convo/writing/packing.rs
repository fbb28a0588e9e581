//! Writes the record stream with each session on one line, if requested or if the input has this form.

use crate::context::Context;
use convo::error::Error;
use convo::format::packed::{HashFn, Packer};
use std::io::{self, Write};

/// Whether each session is written on one line.
#[derive(Clone, Copy, Debug)]
pub enum Packing {
    Always,
    /// With the hash of each session.
    Hashed(HashFn),
    Never,
    /// If the first input that is not empty begins with a packed session.
    AsInput,
}

impl From<bool> for Packing {
    fn from(packs: bool) -> Packing {
        if packs { Packing::Always } else { Packing::Never }
    }
}

/// Writes the record stream, and packs it if requested.
pub fn packing(
    context: &Context,
    packing: Packing,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if matches!(packing, Packing::Never) {
        return write(out);
    }
    let mut packer = OptionalPacker {
        context,
        packing,
        packer: match packing {
            Packing::Hashed(hash) => Packer::new(out).hashing(hash),
            _ => Packer::new(out),
        },
    };
    let done = write(&mut packer);
    // Write pending data, so that an error follows the data before it.
    let finished = packer.packer.finish();
    done.and(finished.map_err(|error| Error::io("cannot write", error).into()))
}

/// Packs the record stream, or passes it on if the input is not packed.
struct OptionalPacker<'w> {
    context: &'w Context,
    packing: Packing,
    packer: Packer<'w>,
}

impl Write for OptionalPacker<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match !matches!(self.packing, Packing::AsInput) || self.context.is_input_packed() {
            true => self.packer.write(bytes),
            false => self.packer.get_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.packer.flush()
    }
}
