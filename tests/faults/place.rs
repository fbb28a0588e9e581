//! An isolated directory for one injection, with a store and files, and runs of the program in it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time limit of a run; exceeding it is a finding.
pub const LONGEST: Duration = Duration::from_secs(20);

pub const CONVO: &str = env!("CARGO_BIN_EXE_convo");

/// The directory of temporary files next to the places.
const TEMPORARY: &str = "temporary";

static BASE: OnceLock<PathBuf> = OnceLock::new();
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// The parent of all places. Memory serves as disk, because syncs are a hundred times faster.
pub fn base() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    builder.prefix("convo-faults");
    let built = match std::env::var_os("FAULTS_DIR") {
        Some(dir) => builder.tempdir_in(dir),
        None => builder.tempdir_in(memory).or_else(|_| builder.tempdir()),
    };
    let built = built.unwrap();
    std::fs::create_dir(built.path().join(TEMPORARY)).unwrap();
    BASE.set(built.path().to_path_buf()).unwrap();
    built
}

/// Files by path below a place, and leftover temporary files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub files: BTreeMap<String, Vec<u8>>,
    pub leftovers: Vec<String>,
}

/// The result of a run; a signal is a negative status.
#[derive(Debug)]
pub struct Outcome {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// The directories of a place that are compared.
pub const PARTS: [&str; 3] = ["store", "work", "home"];

pub struct Place {
    root: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = BASE.get().unwrap().join(number.to_string());
        std::fs::create_dir_all(root.join("work")).unwrap();
        Place { root }
    }

    /// Copies the files to another directory.
    pub fn copy(&self) -> Place {
        Place::copied(&self.root)
    }

    /// A place with the store and the work files of a directory.
    pub fn copied(root: &Path) -> Place {
        let place = Place::new();
        for part in PARTS {
            if root.join(part).is_dir() {
                copy_dir(&root.join(part), &place.root.join(part));
            }
        }
        place
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    pub fn log(&self, id: &str) -> PathBuf {
        self.store().join(format!("sessions/{id}.jsonl"))
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let in_home = path.starts_with(self.root.join("home"));
        std::fs::write(&path, bytes).unwrap();
        if in_home {
            let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_500_000);
            let file = std::fs::File::options().write(true).open(path);
            file.and_then(|file| file.set_modified(time)).unwrap();
        }
    }

    /// A command with fixed time and ids and without the machine's environment.
    pub fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.root.join("home"))
            .env("XDG_CONFIG_HOME", self.root.join("config"))
            // Below HOME, so that archives and journals name files alike in every place.
            .env("XDG_DATA_HOME", self.root.join("home/.local/share"))
            .env("XDG_CACHE_HOME", self.root.join("cache"))
            .env("TMPDIR", BASE.get().unwrap().join(TEMPORARY))
            .env("CONVO_STORE", self.store())
            .env("CONVO_NOW", "2026-11-20T18:02:03Z")
            .env("CONVO_SEED", "seed")
            .env("TZ", "UTC")
            .env("RUST_BACKTRACE", "0")
            .current_dir(self.root.join("work"));
        command
    }

    pub fn convo(&self, arguments: &[&str]) -> Outcome {
        self.fed(arguments, b"")
    }

    pub fn fed(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let mut command = self.program(CONVO);
        command.args(arguments);
        run(command, input, LONGEST)
    }

    /// Runs a preparation, which must succeed.
    #[track_caller]
    pub fn sets_up(&self, arguments: &[&str]) {
        let outcome = self.convo(arguments);
        assert_eq!(outcome.status, 0, "{arguments:?}: {outcome:?}");
    }

    /// Waits for programs that a killed run started and that still work on files of this place.
    pub fn wait_for_others(&self) {
        let root = self.root.to_str().unwrap().as_bytes();
        let works = |process: std::fs::DirEntry| {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            command
                .windows(root.len() + 1)
                .any(|part| part.strip_prefix(root) == Some(b"/"))
        };
        let is_any = || std::fs::read_dir("/proc").unwrap().flatten().any(works);
        let began = std::time::Instant::now();
        while is_any() && began.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn state(&self) -> State {
        let mut state = State::default();
        for part in PARTS {
            collect(&self.root, Path::new(part), &mut state);
        }
        state
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn collect(root: &Path, below: &Path, state: &mut State) {
    let Ok(entries) = std::fs::read_dir(root.join(below)) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let inner = below.join(entry.file_name());
        let path = inner.to_string_lossy().into_owned();
        let kind = entry.file_type().unwrap();
        if path == "store/cache" {
            // May exist or not.
        } else if kind.is_dir() {
            collect(root, &inner, state);
        } else if entry.file_name().to_string_lossy().starts_with('.') && path.contains("/.convo/quarantine/")
        {
            // Files of a dead writer were moved, not deleted.
        } else if entry.file_name().to_string_lossy().starts_with('.') {
            state.leftovers.push(path);
        } else if kind.is_file() {
            state
                .files
                .insert(path, std::fs::read(root.join(&inner)).unwrap());
        } else {
            state.files.insert(path, format!("{kind:?}").into_bytes());
        }
    }
}

pub fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, from.metadata().unwrap().permissions()).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
            // Archived files are compared by time.
            let time = entry.metadata().unwrap().modified().unwrap();
            let file = std::fs::File::options().write(true).open(target);
            file.and_then(|file| file.set_modified(time)).unwrap();
        }
    }
}

/// Runs a command to its end, or kills it after a time limit.
pub fn run(mut command: Command, input: &[u8], longest: Duration) -> Outcome {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if input.len() < 4096 {
        // The input fits into the pipe; a program may exit without reading it.
        let _ = stdin.write_all(input);
        drop(stdin);
        return ended(child, longest);
    }
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        ended(child, longest)
    })
}

fn ended(mut child: Child, longest: Duration) -> Outcome {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, receiver) = channel();
    let other = sender.clone();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = err.read_to_end(&mut bytes);
        let _ = other.send((false, bytes));
    });
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = out.read_to_end(&mut bytes);
        let _ = sender.send((true, bytes));
    });
    let (mut stdout, mut stderr, mut hung) = (Vec::new(), Vec::new(), false);
    for _ in 0..2 {
        match receiver.recv_timeout(longest) {
            Ok((true, bytes)) => stdout = bytes,
            Ok((false, bytes)) => stderr = bytes,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                hung = true;
                let _ = child.kill();
                break;
            }
        }
    }
    let status = child.wait().unwrap();
    let mut stderr = String::from_utf8_lossy(&stderr).into_owned();
    if hung {
        stderr.push_str("(it hung and was killed)");
    }
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    Outcome {
        status: if hung {
            HUNG
        } else {
            status.code().or(signal.map(|signal| -signal)).unwrap()
        },
        stdout,
        stderr,
    }
}

/// The status of a run that exceeded the time limit.
pub const HUNG: i32 = -1000;
