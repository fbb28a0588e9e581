//! Tests plugins: `convo-NAME` on PATH, or next to the program.

use crate::env::{CHAT, Env};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_plugin(text: &str) -> Env {
    let env = Env::with_chat();
    program(&env.root().join("bin/convo-hello"), text);
    env
}

/// The program in a directory without the built plugins.
fn alone(env: &Env, arguments: &[&str]) -> Command {
    let own = env.root().join("own/convo");
    if !own.exists() {
        std::fs::create_dir(env.root().join("own")).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_convo"), &own).unwrap();
    }
    let mut command = env.program(own);
    command.args(arguments).stdin(Stdio::null());
    command
}

#[test]
fn a_program_is_a_command() {
    let env = with_plugin("#!/bin/sh\necho \"$# $1 $2\"; cat; exit 42\n");
    env.pipe(&["hello", "--flag", "a b"], CHAT)
        .status(42)
        .gives(format!("2 --flag a b\n{CHAT}"));
}

#[test]
fn a_plugin_gets_the_program_and_the_store() {
    let env = with_plugin("#!/bin/sh\n\"$CONVO\" cat trip\necho \"$CONVO_STORE\"\n");
    let store = env.store();
    env.run(&["hello"])
        .fine()
        .gives(format!("{CHAT}{}\n", store.display()));
    // A global option before the command applies to the plugin too.
    let other = env.root().join("other");
    let run = env.run(&["--store", other.to_str().unwrap(), "hello"]).status(0);
    assert!(run.out().ends_with(&format!("{}\n", other.display())), "{run}");
    // Without the variable, the default store.
    let run = env.shell("unset CONVO_STORE; convo hello 2>&1 | tail -n 1");
    run.gives(format!("{}\n", env.root().join("data/convo").display()));
}

#[test]
fn plugins_are_listed_without_running_them() {
    let env = with_plugin("#!/bin/sh\ntouch ran\n");
    program(&env.root().join("bin/convo-cat"), "#!/bin/sh\ntouch ran\n");
    std::fs::write(env.root().join("bin/convo-noexec"), "").unwrap();
    snapshot!("plugins", env.wait(alone(&env, &["plugins"])).fine());
    snapshot!(
        "plugins_json",
        env.wait(alone(&env, &["plugins", "--json"])).fine()
    );
    assert!(!env.work().join("ran").exists());
}

#[test]
fn plugins_next_to_the_program_come_after_path() {
    let env = with_plugin("#!/bin/sh\necho path\n");
    let _ = alone(&env, &[]);
    program(&env.root().join("own/convo-hello"), "#!/bin/sh\necho beside\n");
    program(&env.root().join("own/convo-more"), "#!/bin/sh\necho beside\n");
    env.wait(alone(&env, &["hello"])).fine().gives("path\n");
    env.wait(alone(&env, &["more"])).fine().gives("beside\n");
    let listed = env.wait(alone(&env, &["plugins"])).fine();
    assert!(listed.out().ends_with("/own/convo-more\n"), "{listed}");
    std::fs::set_permissions(env.root().join("own"), std::fs::Permissions::from_mode(0o777)).unwrap();
    env.wait(alone(&env, &["more"])).status(2);
}

#[test]
fn a_plugin_gets_the_path_of_the_config_file() {
    let env = with_plugin("#!/bin/sh\necho \"$CONVO_CONFIG\"\n");
    let path = env.write("c.toml", "[llm]\nmodel = \"m\"\n");
    let path = path.to_str().unwrap();
    env.run(&["--config", path, "hello"])
        .fine()
        .gives(format!("{path}\n"));
    env.run(&["--no-config", "hello"]).fine().gives("/dev/null\n");
    env.run(&["--config", path, "list"]).status(0);
}

#[test]
fn built_in_commands_cannot_be_replaced() {
    let env = Env::with_chat();
    program(&env.root().join("bin/convo-cat"), "#!/bin/sh\necho shadow\n");
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn unsafe_directories_are_not_searched() {
    let env = Env::with_chat();
    let evil = "#!/bin/sh\necho evil\n";
    let open = env.root().join("open");
    program(&open.join("convo-open"), evil);
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    program(&env.work().join("convo-here"), evil);
    program(&env.work().join("relative/convo-relative"), evil);
    let path = format!(":relative:.:{}:{}", open.display(), env.path());
    for name in ["open", "here", "relative"] {
        let mut command = env.command(&[name]);
        command.env("PATH", &path);
        env.feed(command, b"").status(2).gives("");
    }
    let mut command = alone(&env, &["plugins"]);
    command.env("PATH", &path);
    env.feed(command, b"").fine().gives("");
}

#[test]
fn a_mistyped_command_gets_a_suggestion() {
    let env = with_plugin("#!/bin/sh\n");
    let mut reported = String::new();
    for command in ["lst", "trunctate", "helo", "xyzzy", "../x", "a b"] {
        reported += &env.run(&[command]).status(2).gives("").to_string();
    }
    snapshot!("plugins_unknown", reported);
}

#[test]
fn a_plugin_that_does_not_start_is_reported() {
    let env = with_plugin("#!/nonexistent/interpreter\n");
    env.run(&["hello"]).status(69).says("bin/convo-hello");
}

#[test]
fn a_plugin_that_does_not_start_is_69() {
    let env = with_plugin("#!/nonexistent/interpreter\n");
    snapshot!("plugins_broken", env.run(&["hello"]).status(69));
}

/// `convo help NAME` shows the help of the command or plugin.
#[test]
fn help_comes_from_the_command_or_the_plugin() {
    let env = with_plugin("#!/bin/sh\necho \"help: $*\"\n");
    let whole = env.run(&["--help"]).fine().stdout;
    env.run(&["help"]).fine().gives(whole);
    let cat = env.run(&["cat", "--help"]).fine().stdout;
    env.run(&["help", "cat"]).fine().gives(cat);
    env.run(&["help", "hello"]).fine().gives("help: --help\n");
    env.run(&["help", "nobody"]).status(2);
}
