//! Tests completion in a real shell on a pseudo terminal: hostile session names must not execute anything.

use crate::env::{CHAT, Env};
use std::io::{Read, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A bash in a pseudo terminal that `script` opens.
struct Terminal {
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
    child: std::process::Child,
}

impl Terminal {
    /// Starts the shell.
    fn open(env: &Env) -> Terminal {
        let mut command = env.program("/usr/bin/script");
        command
            .args(["-qec", "/bin/bash --norc --noprofile -i", "/dev/null"])
            .env("TERM", "dumb")
            .env("CONVO_PAGER", "cat")
            .env("PS1", "ready$ ")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (shown, mut output) = (screen.clone(), child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                shown
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        let keys = child.stdin.take().unwrap();
        let mut terminal = Terminal { keys, screen, child };
        terminal.press("", "ready$ ");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/convo.bash");
        terminal.press(&format!("source '{script}'; echo sour''ced\n"), "sourced");
        terminal
    }

    /// Sends keys and waits until the screen shows the expected text.
    fn press(&mut self, keys: &str, expected: &str) {
        let before = self.screen.lock().unwrap().len();
        self.keys.write_all(keys.as_bytes()).unwrap();
        let start = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if screen[before.min(screen.len())..].contains(expected) || expected.is_empty() {
                return;
            }
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "no {expected:?} after {keys:?}: {screen:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.keys.write_all(b"\x15exit\n");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn bash_quotes_hostile_names() {
    let env = Env::with_chat();
    let hostile = [
        "z$(touch${IFS}PWNED).jsonl", "q it's; touch PWNED.jsonl", "star*.jsonl",
    ];
    for name in hostile {
        env.write(name, CHAT);
    }
    env.write("c\u{1b}[31m.jsonl", CHAT);
    env.run(&["alias", "add", "v$(touch${IFS}PWNED)", "trip"])
        .status(0);
    env.run(&["alias", "add", "new york", "trip"]).status(0);
    let mut terminal = Terminal::open(&env);
    for (typed, shown) in [
        ("convo count z", r"z\$\(touch\$\{IFS\}PWNED\).jsonl "),
        ("convo count 'z", "'z$(touch${IFS}PWNED).jsonl' "),
        ("convo count \"z", "\"z\\$(touch\\${IFS}PWNED).jsonl\" "),
        ("convo count q", r"q\ it\'s\;\ touch\ PWNED.jsonl "),
        (r"convo count q\ it", r"q\ it\'s\;\ touch\ PWNED.jsonl "),
        ("convo count st", r"star\*.jsonl "),
        ("convo show v", r"v\$\(touch\$\{IFS\}PWNED\) "),
        ("convo count ne", r"new\ york "),
        (r"convo count new\ y", r"new\ york "),
        ("convo count 'new y", "'new york' "),
        ("convo check trip --for=anthropic --fix=d", "--fix=drop "),
        ("convo check trip --fix --for openai-c", "--for openai-chat "),
        (
            "convo handoff trip --install -n --project . --to ope",
            "--to opencode ",
        ),
    ] {
        terminal.press(&format!("{typed}\t"), shown.rsplit('.').next().unwrap());
        let screen = terminal.screen.lock().unwrap().clone();
        assert!(screen.ends_with(shown), "{typed}: {screen:?}");
        // Run the completed command line, as a user would.
        terminal.press("; echo status $?.\n", "status 0.");
        assert!(!env.work().join("PWNED").exists(), "{typed}: a command ran");
    }
    // A name with a control character is not completed.
    terminal.press("convo count c\t", "convo count c");
    let screen = terminal.screen.lock().unwrap().clone();
    assert!(!screen.contains("31m"), "{screen:?}");
}
