//! Repairs the two files.

use super::Pair;
use crate::error::Result;
use crate::format::picoclaw;

/// What to repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairRepair {
    /// Messages that share a line, a byte order mark, a last line without newline.
    pub lines: bool,
    /// Counts in the sidecar that do not match the log.
    pub bookkeeping: bool,
}

impl Pair {
    /// The log as read under the lock.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Repairs log and sidecar. The caller has made a copy of the log.
    pub fn repair(&mut self, repair: &PairRepair, now: &str) -> Result<()> {
        let before = self.raw_lines();
        if self.sidecar.skip() > before {
            // Lines that the repair makes readable were not hidden.
            self.sidecar.set_skip(before);
            self.write_sidecar(now)?;
        }
        if repair.lines {
            self.refuse_shared()?;
            let repaired = picoclaw::repaired_log(&self.bytes, self.sidecar.skip());
            self.replace_log(repaired)?;
        }
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now)
    }
}
