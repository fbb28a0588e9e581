//! Hooks: configured commands, run with a message about a change. A failed hook only causes a warning.

use crate::config;
use crate::output::Output;
use crate::programs::external_program::{ExternalProgram, ProgramName, RunOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Default time limit; `hook-timeout` changes it.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Set in the environment of a hook, so that its own changes run no hooks.
pub const DISABLED: &str = "CONVO_NO_HOOKS";

/// Variables that hold an API key or name its file.
const SERVICE_KEYS: [&str; 4] = [
    "CONVO_LLM_KEY", "CONVO_LLM_KEY_FILE", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
];

/// Maximum output of a hook in bytes; it is discarded.
const MAXIMUM: usize = 16 << 20;

/// The session whose change a hook reports.
pub struct ChangedSession<'c> {
    /// Where a failed hook is reported, and under which name.
    pub output: &'c Output,
    pub label: &'c str,
    pub store: Option<&'c Path>,
    pub id: &'c str,
}

/// The hooks of a run.
pub struct HookRunner {
    pub commands: config::Hooks,
    timeout: Duration,
    /// Hooks that ran; cached because a process can register signal handlers only a few times.
    programs: RwLock<BTreeMap<&'static str, ExternalProgram>>,
}

impl HookRunner {
    /// Creates the hooks from the configuration.
    pub fn new(commands: config::Hooks, timeout: Duration) -> HookRunner {
        HookRunner {
            commands,
            timeout,
            programs: RwLock::default(),
        }
    }

    /// Runs a hook with a message about a change.
    pub fn run(&self, session: &ChangedSession<'_>, (kind, command): (&'static str, &str), about: &[u8]) {
        let failed = |why: &str| {
            let what = format!("hook '{kind}' failed: {why}; the change is stored");
            session.output.notice(session.label, &what);
        };
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        if !programs.contains_key(kind) {
            match ProgramName::Shell(command.to_string()).program(session.store, "hook", &[]) {
                Ok(mut program) => {
                    program.env("CONVO_HOOK", kind);
                    program.env(DISABLED, "1");
                    SERVICE_KEYS.iter().for_each(|name| program.without(name));
                    programs.insert(kind, program);
                }
                Err(error) => return failed(&error.message),
            }
        }
        let Some(program) = programs.get_mut(kind) else {
            return;
        };
        program.env("CONVO_SESSION", session.id);
        let requested = RunOptions {
            timeout: self.timeout,
            most: MAXIMUM,
            listen: &mut |_| {},
        };
        if let Err(failure) = program.ask(&[about, b"\n"].concat(), requested) {
            failed(&failure.why);
            if let Some(interrupted) = failure.interrupted {
                interrupted.end_program();
            }
        }
    }
}
