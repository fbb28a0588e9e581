//! Pipes: enlarged if much data passes through them, and noticed if their reader ends.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use std::io::{self, Read};
use std::os::fd::AsFd;

/// A transfer of so many bytes at once, half of a usual pipe, is a sign of much data.
const MUCH: usize = 32 * 1024;

/// Notes what passes through a descriptor.
#[derive(Default)]
pub struct Pipe {
    is_enlarged: bool,
}

impl Pipe {
    /// After the first large transfer, lets the pipe hold 1 MiB, so that its two processes wait for each other less often.
    /// Does nothing if the descriptor is not a pipe, or if the system refuses.
    pub fn passed(&mut self, descriptor: impl AsFd, bytes: usize) {
        if bytes < MUCH || self.is_enlarged {
            return;
        }
        self.is_enlarged = true;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(descriptor, 1 << 20);
        #[cfg(not(target_os = "linux"))]
        let _ = descriptor;
    }
}

/// Standard input.
#[derive(Default)]
pub struct Stdin(Pipe);

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = io::stdin().read(buffer)?;
        self.0.passed(io::stdin(), read);
        Ok(read)
    }
}

/// Whether a descriptor is a pipe without a reader.
pub fn is_closed(descriptor: impl AsFd) -> bool {
    events(descriptor, PollFlags::empty()).contains(PollFlags::ERR)
}

/// Whether a descriptor is a regular file, so that reading never waits for another program.
pub fn is_regular_file(descriptor: impl AsFd) -> bool {
    fstat(descriptor).is_ok_and(|about| FileType::from_raw_mode(about.st_mode).is_file())
}

/// The events of a descriptor, without waiting for one.
fn events(descriptor: impl AsFd, wanted: PollFlags) -> PollFlags {
    let mut descriptors = [PollFd::new(&descriptor, wanted)];
    let ready = poll(&mut descriptors, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
    match ready {
        true => descriptors[0].revents(),
        false => PollFlags::empty(),
    }
}
