//! A place of its own for every test: folders, time and ids are fixed, and nothing of the machine's environment is
//! seen.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

/// No run takes so long, unless it hangs.
const LONGEST: Duration = Duration::from_secs(30);

/// A conversation of two exchanges as a native stream.
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

/// Two messages without anything around them.
pub const BARE: &str =
    "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n";

/// The same as a document of OpenAI Chat messages.
pub const OPENAI: &str =
    r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;

/// Folders of its own, and how many runs there were.
pub struct Env {
    root: TempDir,
    runs: AtomicU32,
    /// The program without plugins next to it.
    alone: OnceLock<TempDir>,
}

/// What a run did.
pub struct Run {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
    root: String,
}

impl Env {
    pub fn new() -> Env {
        let root = tempfile::Builder::new().prefix("convo-test").tempdir().unwrap();
        for folder in ["home", "work", "config", "data", "bin"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Env {
            root,
            runs: AtomicU32::new(0),
            alone: OnceLock::new(),
        }
    }

    /// With a session `trip` in the store.
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

    /// Where runs stand, and where relative operands are looked for.
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    pub fn store(&self) -> PathBuf {
        self.root().join("store")
    }

    /// The log of a session as it lies in the store.
    pub fn log(&self, id: &str) -> PathBuf {
        self.store().join(format!("sessions/{id}.jsonl"))
    }

    /// Makes a file among the work.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.work().join(name)).unwrap()).unwrap()
    }

    /// A program in this environment. Each gets another seed, as each gets other ids outside of tests.
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

    /// A folder with the binary alone, the test's own `bin`, and what a shell line needs.
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

    /// The same without the plugins that were built.
    #[must_use = "a test checks what a run did"]
    pub fn run_without_plugins(&self, arguments: &[&str]) -> Run {
        self.wait(self.command_without_plugins(arguments))
    }

    pub fn command_without_plugins(&self, arguments: &[&str]) -> Command {
        let folder = self.alone.get_or_init(|| {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            std::fs::hard_link(env!("CARGO_BIN_EXE_convo"), folder.path().join("convo")).unwrap();
            folder
        });
        let mut command = self.program(folder.path().join("convo"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// With something on standard input.
    #[must_use = "a test checks what a run did"]
    pub fn pipe(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        self.feed(self.command(arguments), input.as_ref())
    }

    /// A line for `sh -c`.
    #[must_use = "a test checks what a run did"]
    pub fn shell(&self, line: &str) -> Run {
        let mut command = self.program("/bin/sh");
        command.arg("-c").arg(line).stdin(Stdio::null());
        self.wait(command)
    }

    /// A line for `sh -c` on a terminal with so many columns; none where `script` is missing.
    pub fn terminal(&self, columns: usize, line: &str) -> Option<Run> {
        if !Path::new("/usr/bin/script").exists() {
            eprintln!("skipped: /usr/bin/script is missing");
            return None;
        }
        let mut command = self.program("/usr/bin/script");
        let line = format!("stty rows 50 cols {columns}; {line}");
        command
            .args(["-qefc", &line, "/dev/null"])
            .stdin(Stdio::null())
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm");
        let mut run = self.wait(command);
        run.stdout = run.out().replace("\r\n", "\n").into_bytes();
        Some(run)
    }

    /// Runs to the end, with what is set up.
    #[must_use = "a test checks what a run did"]
    pub fn wait(&self, mut command: Command) -> Run {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.ended(command.spawn().unwrap())
    }

    #[must_use = "a test checks what a run did"]
    pub fn feed(&self, mut command: Command, input: &[u8]) -> Run {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A program that reads no further ends the pipe, which is no concern of the writer.
            scope.spawn(move || drop(stdin.write_all(input)));
            self.ended(child)
        })
    }

    /// Waits for the end, but not for ever: what hangs is killed, and its status is none.
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

    /// Every file below the root but the store's, for tests that nothing is made elsewhere.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
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

    /// The run went well and said nothing on standard error.
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

    /// Standard error holds this.
    #[track_caller]
    pub fn says(self, text: &str) -> Run {
        assert!(
            self.stderr.contains(text),
            "{text:?} is not in what it says: {self}"
        );
        self
    }

    /// Standard output is exactly this.
    #[track_caller]
    pub fn gives(self, text: impl AsRef<[u8]>) -> Run {
        let text = text.as_ref();
        let expected = String::from_utf8_lossy(text).into_owned();
        assert!(self.stdout == text, "expected {expected:?}, and it gave {self}");
        self
    }

    /// The objects on standard output, one a line.
    #[track_caller]
    pub fn objects(&self) -> Vec<serde_json::Value> {
        objects(self.out())
    }
}

/// A folder in which nothing but the program is: beside it lie the plugins that were built.
fn alone() -> PathBuf {
    let binary = env!("CARGO_BIN_EXE_convo");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(binary.replace('/', "-"));
    let link = folder.join("convo");
    if !link.is_symlink() {
        std::fs::create_dir_all(&folder).unwrap();
        match std::os::unix::fs::symlink(binary, &link) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{error}"),
            _ => {} // another test may have been faster
        }
    }
    folder
}

/// The objects of these lines.
#[track_caller]
pub fn objects(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// As snapshots hold it: what it printed, what it said, its status.
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

/// Snapshots lie in `tests/snapshots`, without what is only known to a build.
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
