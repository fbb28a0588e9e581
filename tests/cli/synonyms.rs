//! Tests synonyms of commands, and the commands that print completions and manual pages.

use crate::env::Env;
use std::os::unix::fs::PermissionsExt;

/// Creates a program on PATH.
fn program(env: &Env, name: &str, text: &str) {
    let path = env.root().join("bin").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn names_of_other_programs_run_the_command() {
    let env = Env::with_chat();
    let chat = env.run(&["cat", "trip"]).status(0).out().to_string();
    env.run(&["export", "trip"]).fine().gives(&chat);
    assert_eq!(env.run(&["ls"]).fine().out(), env.run(&["list"]).out());
    // The same after a global option.
    env.run(&["-q", "export", "trip"]).fine().gives(&chat);
    let help = env.run(&["export", "--help"]).status(0);
    assert!(help.out().contains("Usage: convo cat"), "{help}");
    env.run(&["rm", "trip"]).status(0).says("moved to the trash");
    env.run(&["restore", "-q", "trip"]).fine();
    env.run(&["delete", "--purge", "trip"]).status(0);
    env.pipe(&["import", "-q", "-"], &chat).status(0);
    // They are hidden.
    let help = env.run(&["--help"]);
    assert!(!help.out().contains("export "), "{help}");
}

#[test]
fn names_of_other_programs_suggest_a_command() {
    let env = Env::new();
    for (word, hint) in [
        ("rg", "convo search"),
        ("mv", "convo title"),
        ("stats", "convo count"),
        ("wc", "convo count"),
        ("log", "convo cat NAME"),
        ("edit", "convo truncate"),
        ("version", "convo --version"),
        ("html", "convo cat --to html NAME"),
        ("compare", "convo diff A B"),
        ("concat", "convo join"),
        ("repair", "convo check --for API --fix"),
        ("scrub", "convo redact"),
    ] {
        let run = env.run(&[word, "x"]).status(2).gives("");
        assert_eq!(run.stderr.lines().count(), 2, "{run}");
        let run = run.says(&format!("convo: '{word}': no such command\nhint: "));
        run.says(hint);
    }
    env.run(&["xyzzy"])
        .status(2)
        .says("hint: list commands with: convo --help");
}

#[test]
fn a_plugin_takes_precedence_over_the_hint() {
    let env = Env::new();
    program(&env, "convo-stats", "#!/bin/sh\necho found\n");
    env.run(&["stats"]).fine().gives("found\n");
}

#[test]
fn completions_print_the_script_of_a_shell() {
    let env = Env::new();
    for (shell, file) in [("bash", "convo.bash"), ("zsh", "_convo"), ("fish", "convo.fish")] {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/").to_string() + file;
        let script = std::fs::read_to_string(script).unwrap();
        env.run(&["completions", shell]).fine().gives(script);
    }
    env.run(&["completions", "tcsh"])
        .status(2)
        .says("[possible values: bash, zsh, fish]");
    let help = env.run(&["completions", "--help"]);
    for dir in [
        "bash-completion/completions/convo",
        ".zfunc/_convo",
        "fish/completions/convo.fish",
    ] {
        assert!(help.out().contains(dir), "{help}");
    }
}

#[test]
fn man_prints_the_page_of_a_command() {
    let env = Env::new();
    for (arguments, file) in [
        (&["man"][..], "convo.1"),
        (&["man", "compact"], "convo-compact.1"),
        (&["man", "import"], "convo-migrate.1"),
        (&["man", "format"], "convo-format.5"),
    ] {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/man/").to_string() + file;
        env.run(arguments)
            .fine()
            .gives(std::fs::read_to_string(page).unwrap());
    }
    env.run(&["man", "xyzzy"])
        .status(2)
        .says("'xyzzy': no such command");
    env.run(&["man", "generate"])
        .status(2)
        .says("'generate': no such command");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn man_formats_the_page_on_a_terminal() {
    let env = Env::new();
    program(&env, "man", "#!/bin/sh\necho \"formatted $*: $(grep -c ^.SH)\"\n");
    let run = env.terminal((80, 50), "convo man list");
    assert!(run.out().contains("formatted -l -: "), "{run}");
}
