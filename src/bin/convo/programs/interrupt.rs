//! Handles signals while an external program runs: the external program is ended first.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals from a terminal, a supervisor or a lost connection.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Defers ending signals while an external program runs.
#[derive(Debug)]
pub struct Interrupt {
    came: Vec<(i32, Arc<AtomicBool>)>,
    /// Whether no external program runs, so that signals have their default effect.
    idle: Arc<AtomicBool>,
}

/// A signal that ends this program after cleanup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted(pub i32);

impl Interrupt {
    /// Registers the handlers. Signals that were ignored at the start are still ignored, so that a `nohup` job
    /// survives its terminal. Create only one per process.
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

    /// Defers signals from now on.
    pub fn hold(&self) {
        self.idle.store(false, Ordering::SeqCst);
    }

    /// Restores the default effect of signals; returns one that arrived meanwhile.
    pub fn release(&self) -> Option<Interrupted> {
        self.idle.store(true, Ordering::SeqCst);
        self.received()
    }

    /// The signal that arrived, if any.
    pub fn received(&self) -> Option<Interrupted> {
        let came = self.came.iter().find(|(_, came)| came.load(Ordering::SeqCst));
        came.map(|(signal, _)| Interrupted(*signal))
    }
}

impl Interrupted {
    /// Ends this program as the signal would have done.
    pub fn end_program(self) {
        let _ = low_level::emulate_default_handler(self.0);
    }
}

/// Ignored signals as a bit mask, as reported by Linux; 0 on other systems.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}
