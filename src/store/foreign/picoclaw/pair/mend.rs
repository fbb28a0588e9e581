//! What a repair does to the two files.

use super::Pair;
use crate::error::Result;
use crate::format::picoclaw;

/// What is to be mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mend {
    /// Messages that share a line, a byte order mark, a last line without an end.
    pub lines: bool,
    /// Numbers in the sidecar that are not those of the log.
    pub books: bool,
}

impl Pair {
    /// The log as it was read under the lock.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Mends log and sidecar. Whoever asks for it has kept a copy of the log.
    pub fn mend(&mut self, mend: &Mend, now: &str) -> Result<()> {
        let before = self.raw_lines();
        if self.sidecar.skip() > before {
            // What becomes visible by the repair of lines is not what was hidden.
            self.sidecar.set_skip(before);
            self.write_sidecar(now)?;
        }
        if mend.lines {
            self.refuse_shared()?;
            let mended = picoclaw::mended(&self.bytes, self.sidecar.skip());
            self.replace_log(mended)?;
        }
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }
}
