//! Runs the program for a call and returns its output.

use crate::arguments::McpArguments;
use crate::tools::CommandCall;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit status of a search without a match.
const NOTHING: i32 = 1;

/// The program, and limits for its calls.
pub struct CommandRunner {
    path: OsString,
    max_bytes: u64,
    files: bool,
}

impl CommandRunner {
    /// Finds the program: the caller of this plugin, else the one next to it, else the one on PATH.
    pub fn new(arguments: &McpArguments) -> CommandRunner {
        let caller = std::env::var_os("CONVO").filter(|path| !path.is_empty());
        let extra = || {
            let path = std::env::current_exe().ok()?.with_file_name("convo");
            path.is_file().then(|| path.into_os_string())
        };
        CommandRunner {
            path: caller.or_else(extra).unwrap_or_else(|| "convo".into()),
            max_bytes: arguments.max_bytes,
            files: arguments.files,
        }
    }

    /// Runs a call; returns the printed text or an error.
    pub fn call(&self, call: &CommandCall) -> Value {
        if let Some(name) = call.sessions.iter().find(|name| !self.files && is_file(name)) {
            let problem = format!("{name}: files are not read (the server runs without --files)");
            return content(&problem, true);
        }
        match self.run(call) {
            Ok(result) => result,
            Err(error) => content(&format!("cannot run convo: {error}"), true),
        }
    }

    fn run(&self, call: &CommandCall) -> std::io::Result<Value> {
        let mut child = Command::new(&self.path)
            .args(&call.options)
            .args(["--color=never", "--quiet", "--"])
            .args(&call.pattern)
            .args(&call.sessions)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (mut text, mut messages) = (Vec::new(), Vec::new());
        let (printed, stderr) = std::thread::scope(|scope| {
            let stderr = scope.spawn(|| self.read(err, &mut messages));
            (self.read(out, &mut text), stderr.join())
        });
        let is_cut = printed?;
        stderr.unwrap_or(Ok(false))?;
        let status = child.wait()?.code();
        let mut text = String::from_utf8_lossy(&text).into_owned();
        let messages = String::from_utf8_lossy(&messages).into_owned();
        if is_cut {
            text += &format!("\n[cut after {} bytes: ask for less]\n", self.max_bytes);
        }
        if text.is_empty() && messages.is_empty() {
            text = match status {
                Some(0 | NOTHING) => "nothing found".to_string(),
                _ => format!("convo failed without a message (status {status:?})"),
            };
        }
        let failed = text.is_empty() || !matches!(status, Some(0 | NOTHING));
        // Damage is reported after the readable content.
        Ok(content(&(text + &messages), failed && !is_cut))
    }

    /// Reads up to the size limit; true if there was more. The program ends when its pipe is closed.
    fn read(&self, from: Option<impl Read>, into: &mut Vec<u8>) -> std::io::Result<bool> {
        let Some(from) = from else { return Ok(false) };
        from.take(self.max_bytes.saturating_add(1)).read_to_end(into)?;
        let is_cut = into.len() as u64 > self.max_bytes;
        if is_cut {
            into.pop();
            // Do not cut within a character.
            let whole = String::from_utf8_lossy(into).trim_end_matches('\u{fffd}').len();
            into.truncate(whole);
        }
        Ok(is_cut)
    }
}

/// Whether the program would interpret this name as an existing file.
fn is_file(name: &str) -> bool {
    name.contains(['/', '.']) && Path::new(name).exists()
}

fn content(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}
