//! Pipes that much data passes through.

use std::io::{self, Read};
use std::os::fd::AsFd;

/// A transfer of so many bytes at once, half of a usual pipe, is a sign of much data.
pub const BLOCK: usize = 32 * 1024;

/// Lets a pipe hold 1 MiB, so that its two processes wait for each other less often: without it, copying 200 MB to another
/// process takes twice as long. Does nothing if the descriptor is not a pipe, or if the system refuses.
pub fn enlarge(descriptor: impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(descriptor, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = descriptor;
}

/// Standard input; a pipe is enlarged when so much is read at once that more is to be expected.
#[derive(Default)]
pub struct Stdin {
    is_enlarged: bool,
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = io::stdin().read(buffer)?;
        if read >= BLOCK && !self.is_enlarged {
            self.is_enlarged = true;
            enlarge(io::stdin());
        }
        Ok(read)
    }
}
