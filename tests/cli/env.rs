//! An isolated environment for each test: separate directories, fixed time and ids, and none of the machine's
//! environment variables.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

/// Time limit of a run; a longer one hangs.
const LONGEST: Duration = Duration::from_secs(30);

/// A native stream with two exchanges.
pub const CHAT: &str = concat!(
    r#"{"type":"session","version":1,"id":"trip","created_at":"2026-11-01T10:00:00Z","title":"Trip"}"#,
    "\n",
    r#"{"role":"system","content":"You are terse.","id":"m1"}"#,
    "\n",
    r#"{"role":"user","content":"Weather in Paris?","id":"m2","timestamp":"2026-11-01T10:00:01Z"}"#,
    "\n",
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}}],"id":"m3"}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c1","content":"22 C, sunny","id":"m4"}"#,
    "\n",
    r#"{"role":"assistant","content":"22 C and sunny.","id":"m5"}"#,
    "\n",
    r#"{"role":"user","content":"And tomorrow?","id":"m6","timestamp":"2026-11-01T10:05:00Z"}"#,
    "\n",
    r#"{"role":"assistant","content":"Rain.","id":"m7","timestamp":"2026-11-01T10:05:02Z"}"#,
    "\n",
);

/// Two bare messages.
pub const BARE: &str =
    "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n";

/// The same messages as an OpenAI Chat document.
pub const OPENAI: &str =
    r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;

/// The directories of a test, and the number of runs.
pub struct Env {
    root: TempDir,
    runs: AtomicU32,
    /// The program without plugins next to it.
    alone: OnceLock<TempDir>,
}

/// The result of a run.
pub struct Run {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
    root: String,
}

impl Env {
    pub fn new() -> Env {
        let root = tempfile::Builder::new().prefix("convo-test").tempdir().unwrap();
        for dir in ["home", "work", "config", "data", "bin"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        Env {
            root,
            runs: AtomicU32::new(0),
            alone: OnceLock::new(),
        }
    }

    /// Creates an environment with a session `trip` in the store.
    pub fn with_chat() -> Env {
        let env = Env::new();
        let path = env.write("trip.jsonl", CHAT);
        let run = env.run(&["migrate", "-q", path.to_str().unwrap()]);
        assert_eq!(run.status, 0, "{run}");
        env
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    pub fn store(&self) -> PathBuf {
        self.root().join("store")
    }

    /// The log of a stored session.
    pub fn log(&self, id: &str) -> PathBuf {
        self.store().join(format!("sessions/{id}.jsonl"))
    }

    /// Creates a file in the working directory.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.work().join(name)).unwrap()).unwrap()
    }

    /// A program in this environment, with another seed for each run, since ids differ outside tests too.
    pub fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let nth = self.runs.fetch_add(1, Ordering::Relaxed);
        let seed = if nth == 0 {
            "seed".to_string()
        } else {
            format!("seed{nth}")
        };
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.root().join("home"))
            .env("XDG_CONFIG_HOME", self.root().join("config"))
            .env("XDG_DATA_HOME", self.root().join("data"))
            .env("CONVO_STORE", self.store())
            .env("CONVO_NOW", "2026-11-20T18:02:03Z")
            .env("CONVO_SEED", seed)
            .env("TZ", "UTC")
            .env("PATH", self.path())
            .current_dir(self.work());
        command
    }

    /// A PATH with only the binary, the test's own `bin`, and basic shell tools.
    pub fn path(&self) -> String {
        let own = self.root().join("bin");
        format!("{}:{}:/usr/bin:/bin", alone().display(), own.display())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_convo"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    #[must_use = "a test checks what a run did"]
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.wait(self.command(arguments))
    }

    /// The same without the built plugins.
    #[must_use = "a test checks what a run did"]
    pub fn run_without_plugins(&self, arguments: &[&str]) -> Run {
        self.wait(self.command_without_plugins(arguments))
    }

    pub fn command_without_plugins(&self, arguments: &[&str]) -> Command {
        let dir = self.alone.get_or_init(|| {
            let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            std::fs::hard_link(env!("CARGO_BIN_EXE_convo"), dir.path().join("convo")).unwrap();
            dir
        });
        let mut command = self.program(dir.path().join("convo"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs with standard input.
    #[must_use = "a test checks what a run did"]
    pub fn pipe(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        self.feed(self.command(arguments), input.as_ref())
    }

    /// Runs a command with `sh -c`.
    #[must_use = "a test checks what a run did"]
    pub fn shell(&self, line: &str) -> Run {
        let mut command = self.program("/bin/sh");
        command.arg("-c").arg(line).stdin(Stdio::null());
        self.wait(command)
    }

    /// Runs a command with `sh -c` on a terminal of this size. Tests that use it are ignored without `script`.
    #[must_use = "a test checks what a run did"]
    pub fn terminal(&self, (columns, rows): (usize, usize), line: &str) -> Run {
        let mut command = self.program("/usr/bin/script");
        let line = format!("stty rows {rows} cols {columns}; {line}");
        command
            .args(["-qefc", &line, "/dev/null"])
            .stdin(Stdio::null())
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm");
        let mut run = self.wait(command);
        run.stdout = run.out().replace("\r\n", "\n").into_bytes();
        run
    }

    /// Runs a prepared command to its end.
    #[must_use = "a test checks what a run did"]
    pub fn wait(&self, mut command: Command) -> Run {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.ended(start(&mut command))
    }

    #[must_use = "a test checks what a run did"]
    pub fn feed(&self, mut command: Command, input: &[u8]) -> Run {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = start(&mut command);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A program may exit without reading all input.
            scope.spawn(move || drop(stdin.write_all(input)));
            self.ended(child)
        })
    }

    /// Waits for the end with a time limit; a program that hangs is killed and has no status.
    #[must_use = "a test checks what a run did"]
    pub fn ended(&self, child: Child) -> Run {
        let own = rustix::process::Pid::from_child(&child);
        let (ended, watch) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if watch.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                    let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
                }
            });
            let output = child.wait_with_output().unwrap();
            drop(ended);
            self.done(output)
        })
    }

    fn done(&self, output: Output) -> Run {
        use std::os::unix::process::ExitStatusExt;
        let run = Run {
            status: output
                .status
                .code()
                .unwrap_or_else(|| -output.status.signal().unwrap_or(1)),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
            root: self.root().to_str().unwrap().to_string(),
        };
        assert!(!run.stderr.contains("panicked"), "a panic: {run}");
        run
    }

    /// Every file below the root except the store's, to check that nothing is created elsewhere.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut dirs = vec![self.root().to_path_buf()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    dirs.push(path);
                } else {
                    found.push(
                        path.strip_prefix(self.root())
                            .unwrap()
                            .to_str()
                            .unwrap()
                            .to_string(),
                    );
                }
            }
        }
        found.sort();
        found
    }
}

impl Run {
    pub fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Asserts status 0 and empty standard error.
    #[track_caller]
    pub fn fine(self) -> Run {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self}");
        self
    }

    #[track_caller]
    pub fn status(self, status: i32) -> Run {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// Asserts that standard error contains a text.
    #[track_caller]
    pub fn says(self, text: &str) -> Run {
        assert!(
            self.stderr.contains(text),
            "{text:?} is not in what it says: {self}"
        );
        self
    }

    /// Asserts the exact standard output.
    #[track_caller]
    pub fn gives(self, text: impl AsRef<[u8]>) -> Run {
        let text = text.as_ref();
        let expected = String::from_utf8_lossy(text).into_owned();
        assert!(self.stdout == text, "expected {expected:?}, and it gave {self}");
        self
    }

    /// Parses the JSON lines on standard output.
    #[track_caller]
    pub fn objects(&self) -> Vec<serde_json::Value> {
        objects(self.out())
    }
}

/// A directory with only the program, because the built plugins are next to the original.
fn alone() -> PathBuf {
    let binary = env!("CARGO_BIN_EXE_convo");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(binary.replace('/', "-"));
    let link = dir.join("convo");
    if !link.is_symlink() {
        std::fs::create_dir_all(&dir).unwrap();
        match std::os::unix::fs::symlink(binary, &link) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{error}"),
            _ => {} // another test created it first
        }
    }
    dir
}

/// Parses JSON lines.
#[track_caller]
pub fn objects(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The text of a snapshot: standard output, standard error, status.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = String::from_utf8_lossy(&self.stdout);
        let mut text = format!("status {}\n", self.status);
        for (name, part) in [("stdout", out.as_ref()), ("stderr", &self.stderr)] {
            if !part.is_empty() {
                text += &format!("--- {name}\n{part}");
                if !part.ends_with('\n') {
                    text += "(no newline)\n";
                }
            }
        }
        let own = format!("process {}", std::process::id());
        f.write_str(&text.replace(&self.root, "[ROOT]").replace(&own, "process [TEST]"))
    }
}

/// Snapshots are in `tests/snapshots`, without build metadata.
pub fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_omit_expression(true);
    settings
}

/// Compares a run with the snapshot of this name.
macro_rules! snapshot {
    ($name:expr, $run:expr) => {
        $crate::env::settings().bind(|| insta::assert_snapshot!($name, $run))
    };
}

/// Starts a program. One that a test has just written may still be open in a process that another test is starting.
fn start(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            started => return started.unwrap(),
        }
    }
}
