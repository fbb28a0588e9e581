//! Tests `convo compact --compat`, which imitates other systems, as a filter and in the store.

mod recorded;

use super::{compact, work};
use crate::env::{CHAT, Env, Run};

/// A strategy of each system with its result: the first id after the header, and the number of lines.
const WAYS: [(&[&str], &str, usize); 15] = [
    (&["langchain", "--budget", "1000"], "r3", 5),
    (
        &[
            "langchain", "--budget", "1000", "--start-on", "user", "--include-system",
        ],
        "s",
        5,
    ),
    (&["langchain", "--mask-tools", "--keep-tools", "1"], "s", 21),
    (&["langchain", "--keep-messages", "5", "--with", "none"], "s", 6),
    (&["openai-agents", "--keep-items", "5"], "s", 6),
    (&["openai-agents", "--with", "none"], "s", 6),
    (&["openai-agents", "--tool-output-max", "500"], "s", 21),
    (&["picoclaw", "--budget", "800"], "s", 5),
    (&["picoclaw", "--with", "none"], "s", 5),
    (&["penguin", "--window", "2000"], "s", 13),
    (&["penguiflow", "--keep-last", "2"], "s", 9),
    (&["penguiflow", "--budget", "100", "--with", "extract"], "s", 5),
    (&["goaitools", "--message-limit", "9"], "u3", 8),
    (&["goaitools", "--keep-last", "2"], "s", 9),
    (&["goaitools", "--budget", "2500"], "s", 9),
];

#[must_use]
fn compat(options: &[&str], session: &str) -> Run {
    compact(&[&["--compat"], options].concat(), session)
}

/// Ids of the lines after the header; `summary` for a summary.
fn ids(run: &Run) -> Vec<String> {
    let id = |line: &serde_json::Value| match line["type"].as_str() {
        Some(kind) => kind.to_string(),
        None => line["id"].as_str().unwrap_or_default().to_string(),
    };
    run.objects().iter().skip(1).map(id).collect()
}

#[test]
fn each_system_as_a_filter() {
    let session = work(100);
    let mut found = Vec::new();
    for (options, ..) in &WAYS {
        let run = compat(options, &session).status(0);
        let ids = ids(&run);
        found.push((*options, ids[0].clone(), ids.len()));
        let again = compat(options, run.out()).status(0);
        assert_eq!(again.out(), run.out(), "{options:?}");
    }
    let expected = WAYS.map(|(options, first, lines)| (options, first.to_string(), lines));
    assert_eq!(found, expected);
}

#[test]
fn each_system_in_the_store_and_back() {
    let more: [&[&str]; 6] = [
        &["langchain", "--keep-tokens", "500"],
        &["openai-agents", "--with", "extract"],
        &["picoclaw", "--half"],
        &["picoclaw", "--with", "extract"],
        &["goaitools", "--token-limit", "1000", "--prompt-tokens", "5000"],
        &["goaitools", "--keep-last", "2", "--with", "extract"],
    ];
    let env = Env::new();
    env.write("work.jsonl", work(100));
    env.run(&["migrate", "-q", "./work.jsonl"]).status(0);
    let before = env.run(&["context", "work"]).status(0).stdout;
    for options in WAYS.iter().map(|(options, ..)| *options).chain(more) {
        let call = [&["compact", "work", "--compat"], options].concat();
        let run = env.run(&call).status(0).gives("");
        assert!(
            run.stderr.contains(" tokens (21 to "),
            "{options:?}: {}",
            run.stderr
        );
        let after = env.run(&["context", "work"]).status(0).stdout;
        assert_ne!(after, before);
        let log = env.run(&["cat", "work"]).status(0);
        let event = log.objects().pop().unwrap();
        assert_eq!(
            (&event["type"], &event["strategy"]),
            (&"compact".into(), &options[0].into())
        );
        env.run(&call).status(0).says("convo: work: unchanged: ");
        env.run(&["context", "work"]).status(0).gives(after);
        env.run(&["restore", "work"]).status(0);
        env.run(&["context", "work"]).status(0).gives(before.clone());
    }
}

#[test]
fn dropped_messages_are_summarized() {
    let session = work(100);
    let run = compat(
        &["langchain", "--keep-messages", "4", "--with", "extract"],
        &session,
    )
    .status(0);
    assert_eq!(ids(&run), ["s", "summary", "u4", "a4", "t4", "r4"]);
    assert!(run.out().contains("Please never change the tests."), "{run}");
    let run = compat(
        &["langchain", "--keep-messages", "4", "--pin-rules", "off"],
        &session,
    )
    .status(0);
    assert!(
        ids(&run).contains(&"summary".to_string()) && !run.out().contains("standing"),
        "{run}"
    );
    let small = compat(
        &["langchain", "--keep-messages", "4", "--summary-budget", "110"],
        &session,
    )
    .status(0);
    assert!(ids(&small).contains(&"summary".to_string()));
    assert!(small.out().len() < run.out().len(), "{small}\n{run}");
    let digest = compat(&["goaitools", "--keep-last", "2", "--digest-tools"], &session).status(0);
    assert_eq!(digest.out().matches("[digest of 4 messages]").count(), 3);
}

#[test]
fn options_change_what_is_kept() {
    let session = work(100);
    let kept = |options: &[&str]| compat(options, &session).status(0).out().to_string();
    let differ = |one: &[&str], other: &[&str]| assert_ne!(kept(one), kept(other), "{one:?} {other:?}");
    let budget = ["langchain", "--budget", "1000"];
    for more in [
        &["--keep-end", "first"][..],
        &["--end-on", "tool"],
        &["--include-system"],
    ] {
        differ(&budget, &[&budget[..], more].concat());
    }
    let lines = "{\"role\":\"user\",\"content\":\"one line\\nand one more\\nthe last line\"}\n";
    let part = |more: &[&str]| compat(&[&["langchain", "--budget", "10"], more].concat(), lines).status(0);
    assert_eq!(part(&[]).out(), "");
    assert!(
        part(&["--allow-partial"])
            .out()
            .contains("\"content\":\"the last line\"")
    );
    let mask = ["langchain", "--mask-tools", "--keep-tools", "1"];
    for more in [
        &["--placeholder", "gone"][..],
        &["--mask-inputs"],
        &["--exclude-tool", "read"],
        &["--mask-min-gain", "90000"],
    ] {
        differ(&mask, &[&mask[..], more].concat());
    }
    let outputs = ["openai-agents", "--tool-output-max", "500"];
    for more in [
        &["--preview", "20"][..],
        &["--keep-last", "4"],
        &["--only-tool", "write"],
    ] {
        differ(&outputs, &[&outputs[..], more].concat());
    }
    differ(
        &["penguiflow", "--keep-last", "2"],
        &["penguiflow", "--keep-last", "2", "--budget", "100"],
    );
    // The first limit that drops anything decides.
    let limits = ["--message-limit", "9", "--token-limit", "1000:500"];
    let one = [&["goaitools", "--prompt-tokens", "5000"], &limits[..]].concat();
    let other = [
        &["goaitools", "--prompt-tokens", "5000"],
        &limits[2..],
        &limits[..2],
    ]
    .concat();
    differ(&one, &other);
    assert_eq!(kept(&one), kept(&["goaitools", "--message-limit", "9"]));
    // Uses PicoClaw's counter unless another tokenizer is requested.
    let counted = |more: &[&str]| {
        let call = [&["picoclaw", "--budget", "3000", "-n", "--json"], more].concat();
        let reported = compat(&call, &session).status(0).objects().pop().unwrap();
        reported["tokenizer"].as_str().unwrap().to_string()
    };
    assert_eq!(counted(&[]), "picoclaw");
    assert_eq!(counted(&["--tokenizer", "o200k_base"]), "o200k_base");
    assert_eq!(kept(&["picoclaw", "--sanitise"]), session);
    assert_eq!(
        kept(&["langchain", "--mask-tools", "--when", "tokens>=90000"]),
        session
    );
}

/// Penguin checks images only if a limit is exceeded, or with `always`.
#[test]
fn images_above_a_number_are_removed() {
    let image = "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,aGVsbG8=\"}}";
    let message =
        format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"look\"}},{image}]}}\n");
    let session = message.repeat(3);
    let kept = |most| {
        compat(
            &["penguin", "--budget", "90k", "--always", "--max-images", most],
            &session,
        )
    };
    assert_eq!(kept("2").status(0).out().matches("base64").count(), 2);
    let unasked = compat(&["penguin", "--budget", "90k", "--max-images", "2"], &session);
    assert_eq!(unasked.status(0).out(), session);
    assert_eq!(kept("0").status(0).out().matches("base64").count(), 0);
}

#[test]
fn an_unreachable_limit_is_reported() {
    let session = work(100);
    let run = compat(&["picoclaw", "--budget", "9"], &session)
        .status(1)
        .gives(&session);
    assert!(
        run.stderr
            .contains("cannot reach the limit of picoclaw; the minimum is "),
        "{run}"
    );
    let run = compat(&["picoclaw", "--budget", "9", "--best-effort"], &session).status(1);
    assert_eq!(ids(&run), ["s", "u4", "a4", "t4", "r4"]);
    let run = compat(&["penguiflow", "--budget", "9", "--overflow", "error"], &session).status(1);
    assert_eq!(run.out(), session);
    // Its estimate leaves out calls and results.
    let run = compat(&["penguiflow", "--budget", "300"], &session).status(0);
    let reported =
        "more than the budget of 300, which penguiflow compares with an estimate without tool calls";
    assert!(run.stderr.contains(reported), "{run}");
}

#[test]
fn compat_exact_gives_the_original_result() {
    let session = work(100);
    let options = ["langchain", "--budget", "250", "--include-system"];
    let run = compat(
        &[&options[..], &["--compat-exact", "--end-on", "assistant"]].concat(),
        &session,
    )
    .status(0);
    assert!(
        run.stderr
            .contains("--compat exact: a provider may reject the result"),
        "{run}"
    );
    // A result without its call: kept by their rules, not by convo's.
    let theirs = compat(
        &["openai-agents", "--keep-items", "2", "--compat-exact"],
        &session,
    )
    .status(0);
    assert_eq!(ids(&theirs), ["s", "t4", "r4"]);
    let ours = compat(&["openai-agents", "--keep-items", "2"], &session).status(0);
    assert_eq!(ids(&ours), ["s", "r4"]);
}

#[test]
fn the_outcome_of_each_message_is_reported() {
    let session = work(100);
    let run = compat(&["goaitools", "--message-limit", "9", "-n"], &session).status(0);
    assert!(run.out().starts_with("s\tdropped\t"), "{run}");
    assert!(
        run.out().contains("u3\tfull\t") && run.out().ends_with("\tkept\n"),
        "{run}"
    );
    let run = compat(&["goaitools", "--message-limit", "9", "-n", "--json"], &session).status(0);
    let last = run.objects().pop().unwrap();
    assert_eq!(
        (&last["changed"], &last["now"]["messages"]),
        (&true.into(), &8.into())
    );
}

#[test]
fn refused_options_list_the_accepted_ones() {
    let refused = |options: &[&str], says: &[&str]| {
        let run = compact(options, CHAT).status(2);
        for says in says {
            assert!(run.stderr.contains(says), "{options:?}: {}", run.stderr);
        }
        assert_eq!(run.out(), "");
    };
    refused(
        &["--compat", "letta", "--budget", "9"],
        &["penguiflow, goaitools"],
    );
    for system in [
        "langchain", "openai-agents", "picoclaw", "penguin", "penguiflow", "goaitools",
    ] {
        let nothing = format!("--compat {system}: no option or key selects a function");
        refused(
            &["--compat", system],
            &[&nothing, &format!("hint: {system} supports --")],
        );
        refused(&["--compat", system, "--tiered"], &[&nothing]);
    }
    let of = |options: &[&str], says: &str| refused(&[&["--compat"], options].concat(), &[says, "hint: "]);
    of(
        &["langchain", "--budget", "9", "--mask-tools"],
        "--budget conflicts with --mask-tools",
    );
    of(
        &["langchain", "--budget", "9", "--half"],
        "--compat langchain with --budget does not support --compat picoclaw:half",
    );
    of(
        &["langchain", "--budget", "9", "--dedupe", "exact"],
        "does not support --dedupe",
    );
    of(
        &["langchain", "--budget", "9", "--pin", "m1"],
        "does not support --pin",
    );
    of(
        &["langchain", "--budget", "9", "--min-gain", "10%"],
        "does not support --min-gain",
    );
    of(&["langchain", "--mask-tools", "--reserve", "5"], "--budget");
    of(&["langchain", "--keep-messages", "0"], "expected at least 1");
    of(
        &["langchain", "--keep-messages", "1", "--keep-tokens", "1"],
        "keep-messages conflicts with keep-tokens",
    );
    of(
        &[
            "langchain", "--budget", "9", "--keep-end", "first", "--include-system",
        ],
        "keep-end=first conflicts with",
    );
    of(
        &["langchain", "--budget", "9", "--start-on", "nobody"],
        "expected user, assistant, system or tool",
    );
    of(&["openai-agents", "--tool-output-max", "0"], "at least 1");
    of(
        &["openai-agents", "--tool-output-max", "9", "--keep-last", "0"],
        "expected at least 1",
    );
    of(&["openai-agents", "--keep-items=-1"], "--keep-items");
    of(
        &["penguin", "--budget", "9", "--window", "9"],
        "--budget conflicts with --window",
    );
    of(
        &["penguiflow", "--budget", "9", "--summary-budget", "10"],
        "exceeds the total",
    );
    refused(
        &["--compat", "goaitools", "--token-limit", "9"],
        &["requires --compat goaitools:prompt-tokens"],
    );
    of(
        &["goaitools", "--token-limit", "many", "--prompt-tokens", "9"],
        "MAX:TARGET",
    );
    of(
        &["goaitools", "--budget", "9", "--with", "extract"],
        "--with requires --keep-last",
    );
    of(
        &["goaitools", "--keep-last", "9", "--message-limit", "1"],
        "--compat goaitools:message-limit=... conflicts with --keep-last",
    );
    // Without a system these options have no effect.
    for alone in [
        "--compat-exact", "--include-system", "--half", "--sanitise", "--keep-items=1",
    ] {
        refused(&["--budget", "9", alone], &["--compat <SYSTEM>"]);
    }
}

#[test]
fn the_table_of_the_documents_names_every_system() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compaction.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    for system in convo::filter::compat::CompatSystem::ALL {
        let row = format!("| {} | ", system.name());
        assert!(docs.contains(&row), "docs/compaction.md has no row {row:?}");
    }
    // The help lists every key.
    let help = Env::new().run(&["compact", "--help"]).status(0);
    let keys: Vec<&str> = help
        .out()
        .lines()
        .filter_map(|line| line.trim().split_once(": "))
        .map(|(key, _)| key)
        .filter(|key| {
            key.contains(['.', '-']) && key.chars().all(|c| c.is_ascii_lowercase() || "-.".contains(c))
        })
        .collect();
    assert!(keys.len() >= 18, "{keys:?}");
    for key in keys {
        assert!(
            docs.contains(&format!("`{key}")),
            "docs/compaction.md does not name {key}"
        );
    }
}

#[test]
fn the_short_help_is_at_most_40_lines() {
    let env = Env::new();
    let mut command = env.command(&["compact", "-h"]);
    command.env("COLUMNS", "80");
    let run = env.wait(command).status(0);
    assert!(run.out().lines().count() <= 40, "{}", run.out());
    assert!(!run.out().contains("--compat"), "{}", run.out());
}
