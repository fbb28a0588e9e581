//! `convo expand`.

use crate::env::{CHAT, Env};

#[test]
fn a_message_as_the_log_has_it() {
    let env = Env::with_chat();
    let line = CHAT.lines().nth(4).unwrap();
    env.run(&["expand", "m4", "trip"])
        .fine()
        .gives(format!("{line}\n"));
    env.run(&["expand", "--text", "m4", "trip"])
        .fine()
        .gives("22 C, sunny\n");
    env.pipe(&["expand", "m4"], CHAT)
        .fine()
        .gives(format!("{line}\n"));
}

#[test]
fn what_an_event_took_out_of_view() {
    let env = Env::with_chat();
    let lines: Vec<&str> = CHAT.split_inclusive('\n').collect();
    env.run(&["compact", "trip", "--keep-last", "1"]).status(0);
    let list = env.run(&["restore", "--list", "trip"]).fine();
    let id = list.out().split('\t').next().unwrap().to_string();
    env.run(&["expand", &id, "trip"])
        .fine()
        .gives(lines[2..6].concat());
    env.run(&["restore", "trip"]).status(0);
    env.run(&[
        "compact",
        "trip",
        "--digest-tools",
        "--keep-last",
        "1",
        "--min-gain",
        "0%",
    ])
    .status(0);
    let view = env.run(&["context", "trip"]).fine();
    let Some(digest) = view.out().lines().find(|line| line.contains("[digest of")) else {
        panic!("{view}");
    };
    let id = digest
        .split("\"id\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_string();
    env.run(&["expand", &id, "trip"])
        .fine()
        .gives(lines[2..6].concat());
}

#[test]
fn what_is_not_there_is_told() {
    let env = Env::with_chat();
    let run = env.run(&["expand", "nobody", "trip"]).status(1);
    assert!(run.stderr.contains("no such message or event: nobody"), "{run}");
    env.run(&["expand", "m4", "nobody"]).status(66);
    // A stream compacted without its log contains only the placeholder.
    let big = CHAT.replace("22 C, sunny", &"22 C, sunny. ".repeat(60));
    let stream = env
        .pipe(
            &[
                "compact",
                "--mask-tools",
                "--keep-tools",
                "0",
                "--mask-min-gain",
                "0",
            ],
            &big,
        )
        .status(0);
    assert!(stream.out().contains("tool output elided: weather"));
    let run = env.pipe(&["expand", "m4"], &stream.stdout).status(1);
    assert!(
        run.stderr.contains("m4: the original is not in this log") && run.stderr.contains("--log"),
        "{run}"
    );
    let log = env
        .pipe(
            &[
                "compact",
                "--log",
                "--mask-tools",
                "--keep-tools",
                "0",
                "--mask-min-gain",
                "0",
            ],
            &big,
        )
        .status(0);
    let run = env.pipe(&["expand", "--text", "m4"], &log.stdout).fine();
    assert_eq!(run.out(), "22 C, sunny. ".repeat(60) + "\n");
}
