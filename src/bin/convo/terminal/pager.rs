//! Shows long output in a pager.

use crate::environment::variable;
use crate::programs::interrupt::Interrupt;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// The pager that the environment names; none if a variable disables it, or if the terminal is not capable of one.
pub fn named() -> Option<String> {
    let set = |name| std::env::var(name).ok();
    let is_dumb = || set("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let default = || (!is_dumb()).then(|| "less".to_string());
    let pager = set("CONVO_PAGER").or_else(|| set("PAGER")).or_else(default)?;
    let pager = pager.trim();
    (!pager.is_empty() && pager != "cat").then(|| pager.to_string())
}

/// Whether text and the shell's prompt need more lines than the screen has.
pub fn is_longer(text: &str, rows: usize, columns: usize) -> bool {
    let mut left = rows.saturating_sub(1);
    text.lines().any(|line| {
        // A column takes at least one byte, so a line with few bytes fits without measuring.
        let width = match line.len() <= columns {
            true => line.len(),
            false => textwrap::core::display_width(line),
        };
        let needed = width.div_ceil(columns.max(1)).max(1);
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        !fits
    })
}

/// Shows text in a pager until it exits. False if the pager failed before it had read the text.
pub fn show(pager: &str, text: &str) -> bool {
    let Some(mut child) = start(pager) else {
        return false;
    };
    // Leave interrupts to the pager: if convo exited first, the shell would take over the terminal.
    let interrupt = Interrupt::new().inspect(Interrupt::hold);
    let input = child.stdin.take();
    let is_read = input.is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
    let status = child.wait();
    if let Ok(interrupt) = interrupt {
        interrupt.release();
    }
    match status.ok().and_then(|status| status.code()) {
        // Quitting a pager early is status 0. A shell returns 126 or 127 if it cannot run a command.
        Some(0) => true,
        Some(126 | 127) | None => false,
        Some(_) => is_read,
    }
}

/// Starts the pager, without a shell if possible, so that a missing program causes no error message of a shell.
fn start(pager: &str) -> Option<Child> {
    let is_simple = |c: char| c.is_alphanumeric() || "-_./+,=: ".contains(c);
    let mut words = pager.split_whitespace();
    let mut command = match pager.chars().all(is_simple) && !pager.contains('=') {
        true => {
            let mut command = Command::new(words.next()?);
            command.args(words);
            command
        }
        false => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(pager);
            command
        }
    };
    for (name, value) in [("LESS", "FRX"), ("LESSCHARSET", "utf-8"), ("LV", "-c")] {
        if variable(name).is_none() {
            command.env(name, value);
        }
    }
    let started = command.stdin(Stdio::piped()).spawn();
    started.map_err(|error: io::Error| error.kind()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_keeps_a_line_for_the_prompt() {
        assert!(!is_longer("a\nb\n", 3, 10));
        assert!(is_longer("a\nb\nc\n", 3, 10));
        assert!(is_longer("0123456789012345678901234567\n", 3, 10));
        assert!(!is_longer("\x1b[1m0123456789\x1b[0m\n", 3, 10));
        assert!(!is_longer("", 0, 0));
    }
}
