//! Signals that end this program while another one works for it: that one is ended first.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a terminal, a supervisor and a connection that is gone send.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Takes note of signals that would end this program, while another one works for it.
#[derive(Debug)]
pub struct Interrupt {
    came: Vec<(i32, Arc<AtomicBool>)>,
    /// Whether nobody works: then a signal does what it always does.
    idle: Arc<AtomicBool>,
}

/// A signal that came, and is to end this program when everything is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted(pub i32);

impl Interrupt {
    /// What this program was told to ignore when it was started stays ignored: a job of `nohup` outlives its terminal.
    /// One of these is enough for a process.
    pub fn new() -> io::Result<Interrupt> {
        let ignored = ignored();
        let mut interrupt = Interrupt {
            came: Vec::new(),
            idle: Arc::new(AtomicBool::new(true)),
        };
        for signal in ENDING
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
        {
            let came = Arc::new(AtomicBool::new(false));
            flag::register_conditional_default(signal, interrupt.idle.clone())?;
            flag::register(signal, came.clone())?;
            interrupt.came.push((signal, came));
        }
        Ok(interrupt)
    }

    /// From here on a signal is waited for by who looks at it.
    pub fn hold(&self) {
        self.idle.store(false, Ordering::SeqCst);
    }

    /// From here on a signal ends this program at once; gives back one that came before that.
    pub fn release(&self) -> Option<Interrupted> {
        self.idle.store(true, Ordering::SeqCst);
        self.came()
    }

    /// The signal that came, if one did.
    pub fn came(&self) -> Option<Interrupted> {
        let came = self.came.iter().find(|(_, came)| came.load(Ordering::SeqCst));
        came.map(|(signal, _)| Interrupted(*signal))
    }
}

impl Interrupted {
    /// Ends this program as the signal would have done.
    pub fn obey(self) {
        let _ = low_level::emulate_default_handler(self.0);
    }
}

/// Signals that are ignored, a bit for each, as Linux tells; elsewhere none is known to be.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}
