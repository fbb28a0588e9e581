//! Tests former option names, and settings as keys of `--tune` and `--compat`: same result, and `-v` reports the new
//! name.

use crate::env::{CHAT, Env, Run};

/// A command line with the former and with the current name of an option, on a store with the session `trip`.
#[rustfmt::skip] // one line each
const RENAMED: &[(&[&str], &[&str], &str)] = &[
    (&["new", "--id", "a", "--memory", "keep_last=2", "--stdout"], &["new", "--id", "a", "--retention", "keep_last=2", "--stdout"], "--retention"),
    (&["append", "trip", "x", "--boundary", "50"], &["append", "trip", "x", "--max-messages", "50"], "--max-messages"),
    (&["check", "trip", "--for", "anthropic", "--thinking"], &["check", "trip", "--for", "anthropic", "--extended-thinking"], "--extended-thinking"),
    (&["check", "trip", "--for", "gemini", "--role", "x"], &["check", "trip", "--for", "gemini", "--allow-role", "x"], "--allow-role"),
    (&["check", "trip", "--for", "gemini", "--gemini", "2.5"], &["check", "trip", "--for", "gemini", "--gemini-version", "2.5"], "--gemini-version"),
    (&["check", "trip", "--for", "gemini", "--open-end"], &["check", "trip", "--for", "gemini", "--allow-open-call"], "--allow-open-call"),
    (&["summarize", "trip", "--stdout", "--cover", "m2.."], &["summarize", "trip", "--stdout", "--range", "m2.."], "--range"),
    (&["summarize", "trip", "--stdout", "--keep-last", "1", "--role", "user", "--min-gain", "0%"], &["summarize", "trip", "--stdout", "--keep-last", "1", "--summary-role", "user", "--min-gain", "0%"], "--summary-role"),
    (&["summarize", "trip", "--stdout", "--with", "cmd:false", "--retry"], &["summarize", "trip", "--stdout", "--with", "cmd:false", "--ignore-backoff"], "--ignore-backoff"),
    (&["compact", "trip", "--stdout", "--budget", "60", "--retry", "--best-effort"], &["compact", "trip", "--stdout", "--budget", "60", "--ignore-backoff", "--best-effort"], "--ignore-backoff"),
    (&["split", "trip", "-n", "--every-turns", "1"], &["split", "trip", "-n", "--max-exchanges", "1"], "--max-exchanges"),
    (&["split", "trip", "-n", "--max-messages", "2", "--id", "p"], &["split", "trip", "-n", "--max-messages", "2", "--id-prefix", "p"], "--id-prefix"),
    (&["key", "--context", "context.json"], &["key", "--tool-context", "context.json"], "--tool-context"),
    (&["show", "trip", "--all"], &["show", "trip", "--hidden"], "--hidden"),
    (&["truncate", "trip", "--stdout", "--all"], &["truncate", "trip", "--stdout", "--keep-last", "0"], "--keep-last 0"),
    (&["list", "--older-than", "1d"], &["list", "--until", "1d"], "--until"),
    (&["list", "--newer-than", "1d"], &["list", "--since", "1d"], "--since"),
    (&["cat", "trip", "--json"], &["cat", "trip", "--diagnostics", "json"], "--diagnostics json"),
];

fn same(old: &Run, new: &Run) {
    assert_eq!(
        (old.status, &old.stdout),
        (new.status, &new.stdout),
        "{old}\n{new}"
    );
}

#[test]
fn former_names_work_and_are_reported() {
    for (old, new, name) in RENAMED {
        // Each in a separate store, because ids depend on the number of runs.
        let env = || {
            let env = Env::with_chat();
            env.write(
                "context.json",
                r#"{"tenant_id":"t","user_id":"u","session_id":"s"}"#,
            );
            env
        };
        same(&env().run(old), &env().run(new));
        let run = env().run(&[old, &["-v"][..]].concat());
        assert!(
            run.stderr.contains("renamed to") && run.stderr.contains(name),
            "{old:?}: {run}"
        );
        let run = env().run(&[new, &["-v"][..]].concat());
        assert!(!run.stderr.contains("renamed to"), "{new:?}: {run}");
        let help = env().run(&[old[0], "--help"]).status(0);
        let former = old
            .iter()
            .find(|word| word.starts_with("--") && !new.contains(word))
            .unwrap();
        let listed = |line: &str| {
            line.trim_start()
                .split([' ', ',', '['])
                .any(|word| word == *former)
        };
        let options = help
            .out()
            .lines()
            .filter(|line| line.trim_start().starts_with('-'));
        // `--role` of summarize and `--id` of split have other meanings elsewhere.
        assert!(
            options.into_iter().all(|line| !listed(line)),
            "{former} in: {help}"
        );
    }
}

/// Former options of `compact`, and the equivalent keys.
#[rustfmt::skip] // one line each
const KEYS: &[(&[&str], &[&str])] = &[
    (&["--when", "tokens>=50", "--hysteresis", "0.3", "--best-effort"], &["--when", "tokens>=50", "--tune", "trigger.hysteresis=0.3", "--best-effort"]),
    (&["--budget", "900", "--on-no-gain", "error"], &["--budget", "900", "--tune", "gain.on-none=error"]),
    (&["--budget", "60", "--trust-usage", "--best-effort"], &["--budget", "60", "--tune", "trigger.use-reported", "--best-effort"]),
    (&["--tool-output-lines", "1"], &["--tune", "tool-output.lines=1"]),
    (&["--mask-tools", "--keep-tools", "0", "--protect-tool-tokens", "1", "--mask-min-gain", "1"], &["--mask-tools", "--keep-tools", "0", "--tune", "mask.protect=1,mask.min-gain=1"]),
    (&["--dedupe", "exact", "--write-tools", "edit,write"], &["--dedupe", "exact", "--tune", "dedupe.write-tools=edit,write"]),
    (&["--budget", "60", "--summary-share", "10%", "--best-effort"], &["--budget", "60", "--tune", "summary.share=10%", "--best-effort"]),
    (&["--budget", "60", "--drop-order", "dialog,context", "--best-effort"], &["--budget", "60", "--tune", "drop.order=dialog,context", "--best-effort"]),
    (&["--budget", "60", "--budget-for", "dialog=50%,context=5%", "--best-effort"], &["--budget", "60", "--tune", "drop.share=dialog=50%,context=5%", "--best-effort"]),
    (&["--compat", "langchain", "--budget", "30", "--keep-end", "first", "--end-on", "user,tool", "--allow-partial"], &["--compat", "langchain:keep-end=first,end-on=user,tool,allow-partial", "--budget", "30"]),
    (&["--compat", "langchain", "--budget", "30", "--start-on", "user", "--include-system"], &["--compat", "langchain:start-on=user", "--compat", "langchain:include-system", "--budget", "30"]),
    (&["--compat", "langchain", "--mask-tools", "--keep-tools", "0", "--placeholder", "[gone, all]"], &["--compat", "langchain:placeholder=[gone, all]", "--mask-tools", "--keep-tools", "0"]),
    (&["--compat", "langchain", "--keep-messages", "2"], &["--compat", "langchain:keep-messages=2"]),
    (&["--compat", "langchain", "--keep-tokens", "20"], &["--compat", "langchain:keep-tokens=20"]),
    (&["--compat", "openai-agents", "--keep-items", "2", "--compat-exact"], &["--compat", "openai-agents:keep-items=2,exact"]),
    (&["--compat", "openai-agents", "--tool-output-max", "5", "--preview", "2", "--keep-last", "1", "--only-tool", "weather"], &["--compat", "openai-agents:preview=2,only-tool=weather", "--tool-output-max", "5", "--keep-last", "1"]),
    (&["--compat", "picoclaw", "--half", "--retry"], &["--compat", "picoclaw:half", "--ignore-backoff"]),
    (&["--compat", "picoclaw", "--sanitise"], &["--compat", "picoclaw:sanitize"]),
    (&["--compat", "penguin", "--budget", "60", "--max-images", "2", "--always"], &["--compat", "penguin:max-images=2,always", "--budget", "60"]),
    (&["--compat", "goaitools", "--token-limit", "10:5", "--message-limit", "3", "--prompt-tokens", "50"], &["--compat", "goaitools:token-limit=10:5,message-limit=3,prompt-tokens=50"]),
    (&["--compat", "goaitools", "--message-limit", "3", "--token-limit", "10", "--prompt-tokens", "50"], &["--compat", "goaitools:message-limit=3,token-limit=10,prompt-tokens=50"]),
];

fn compact(options: &[&str]) -> Run {
    Env::new().pipe(&[&["compact"], options].concat(), CHAT)
}

#[test]
fn former_options_of_compact_are_keys() {
    let mut known: Vec<&str> = Vec::new();
    for (old, new) in KEYS {
        let run = compact(old);
        assert!(run.status < 2, "{old:?}: {run}");
        same(&run, &compact(new));
        let reported = compact(&[old, &["-v"][..]].concat());
        let former = old
            .iter()
            .filter(|word| word.starts_with("--") && !new.contains(word));
        for former in former {
            let words = format!("{former}: renamed to --");
            assert!(reported.stderr.contains(&words), "{words}: {reported}");
            known.push(former);
        }
    }
    assert_eq!(known.len(), 33, "one of the 29 settings has no case: {known:?}");
    let help = Env::new().run(&["compact", "--help"]).status(0);
    let options: Vec<&str> = help
        .out()
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("--"))
        .collect();
    let is_listed = |name: &&str| {
        options
            .iter()
            .any(|line| line.split([' ', '[']).next() == Some(name))
    };
    assert!(!known.iter().any(is_listed), "{options:?}");
}

/// Other names of keys, and options as keys.
#[rustfmt::skip] // one line each
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["--when", "tokens>=50", "--tune", "hysteresis=0.3", "--best-effort"], &["--when", "tokens>=50", "--tune", "trigger.hysteresis=0.3", "--best-effort"]),
    (&["--budget", "900", "--tune", "on-no-gain=error"], &["--budget", "900", "--tune", "gain.on-none=error"]),
    (&["--budget", "60", "--tune", "trust-usage", "--best-effort"], &["--budget", "60", "--tune", "trigger.use-reported", "--best-effort"]),
    (&["--tune", "tool-output-lines=1"], &["--tune", "tool-output.lines=1"]),
    (&["--mask-tools", "--keep-tools", "0", "--tune", "protect-tool-tokens=1,mask-min-gain=1"], &["--mask-tools", "--keep-tools", "0", "--tune", "mask.protect=1,mask.min-gain=1"]),
    (&["--dedupe", "exact", "--tune", "write-tools=edit;write"], &["--dedupe", "exact", "--tune", "dedupe.write-tools=edit,write"]),
    (&["--budget", "60", "--tune", "summary-share=10%", "--best-effort"], &["--budget", "60", "--tune", "summary.share=10%", "--best-effort"]),
    (&["--budget", "60", "--tune", "drop-order=dialog;context", "--best-effort"], &["--budget", "60", "--tune", "drop.order=dialog,context", "--best-effort"]),
    (&["--budget", "60", "--tune", "budget-for=dialog=50%", "--best-effort"], &["--budget", "60", "--tune", "drop.share=dialog=50%", "--best-effort"]),
    (&["--budget", "60", "--tune", "min-gain=0%,dates=off,retry,pin-first-user", "--best-effort"], &["--budget", "60", "--min-gain", "0%", "--dates", "off", "--ignore-backoff", "--pin-first-user", "--best-effort"]),
    (&["--budget", "60", "--tune", "summary-role=system,overflow=truncate-summary,pin-share=10%", "--best-effort"], &["--budget", "60", "--summary-role", "system", "--overflow", "truncate-summary", "--pin-share", "10%", "--best-effort"]),
    (&["--budget", "900", "--with", "cmd:cat", "--tune", "chunk=900,summary-tool-max=9,timeout=9s,retries=1,backoff=1s,max-failures=2,if-due"], &["--budget", "900", "--with", "cmd:cat", "--chunk", "900", "--summary-tool-max", "9", "--timeout", "9s", "--retries", "1", "--backoff", "1s", "--max-failures", "2", "--if-due"]),
    (&["--budget", "60", "--stable=off", "--best-effort"], &["--budget", "60", "--keep-prefix", "off", "--best-effort"]),
    (&["--budget", "60", "--stable", "--best-effort"], &["--budget", "60", "--keep-prefix", "on", "--best-effort"]),
    (&["--compat", "langchain:end=first,end-on=user,tool,allow-partial", "--budget", "30"], &["--compat", "langchain:keep-end=first,end-on=user,tool,allow-partial", "--budget", "30"]),
    (&["--compat", "langchain:messages=2"], &["--compat", "langchain:keep-messages=2"]),
    (&["--compat", "langchain:tokens=20"], &["--compat", "langchain:keep-tokens=20"]),
    (&["--compat", "openai-agents:items=2,compat-exact"], &["--compat", "openai-agents:keep-items=2,exact"]),
    (&["--compat", "picoclaw:sanitise"], &["--compat", "picoclaw:sanitize"]),
];

#[test]
fn keys_have_other_names() {
    for (old, new) in SYNONYMS {
        let run = compact(old);
        assert!(run.status < 2, "{old:?}: {run}");
        same(&run, &compact(new));
        // The same after an option of the program.
        let run = Env::new().pipe(&[&["--no-config", "compact"], *old].concat(), CHAT);
        same(&run, &compact(new));
    }
}

#[test]
fn an_unknown_or_invalid_key_lists_the_keys() {
    let refused = |options: &[&str], says: &[&str]| {
        let run = compact(options).status(2);
        assert!(run.out().is_empty(), "{run}");
        for says in says {
            assert!(run.stderr.contains(says), "{options:?}: {run}");
        }
    };
    let tune = |value: &str, says: &str| {
        refused(
            &["--budget", "60", "--tune", value],
            &[says, "supported keys: trigger.hysteresis, "],
        )
    };
    tune("nosuch=1", "unknown key 'nosuch'");
    tune("mask.protect", "expected mask.protect=VALUE");
    tune("trigger.use-reported=yes", "expected no value");
    tune("mask.protect=many", "mask.protect: expected a number");
    tune("summary.share=10%,nosuch=5", "summary.share: ");
    tune("half", "unknown key 'half'");
    tune(
        "mask.protct=1",
        "unknown key 'mask.protct'; did you mean 'mask.protect'?",
    );
    tune("min-gian=5%", "did you mean 'min-gain'?");
    tune("min-gian=5%", ", retries,");
    tune("min-gain", "min-gain: expected min-gain=VALUE");
    tune("retry=1", "retry: expected no value");
    for (value, key) in [
        ("mask.protect=1;min-gain=5%", "min-gain"),
        ("min-gain=5%;dates=off,mask.protect=1", "dates"),
        ("drop.order=dialog;trust-usage", "trust-usage"),
    ] {
        let hint = format!("write ',' instead of ';' before '{key}'");
        refused(&["--budget", "60", "--tune", value], &[&hint]);
    }
    let compat = |value: &str, says: &str| {
        refused(
            &["--budget", "60", "--compat", value],
            &[says, "supported keys: exact, "],
        )
    };
    compat("langchain:half", "unknown key 'half'");
    compat("picoclaw:halve", "unknown key 'halve'; did you mean 'half'?");
    compat("langchain:keep-end=middle", "keep-end: expected last or first");
    refused(
        &["--compat", "nosuch:half"],
        &["langchain, openai-agents, picoclaw"],
    );
    refused(
        &["--compat", "picoclaw:half", "--compat", "langchain:exact"],
        &["expected one system"],
    );
    refused(
        &[
            "--mask-tools", "--tune", "mask.protect=1", "--tune", "mask.protect=2",
        ],
        &["'mask.protect' cannot be used multiple times"],
    );
    refused(
        &["--budget", "60", "--tune", "trigger.hysteresis=0.1"],
        &["requires --when"],
    );
    refused(
        &["--mask-tools", "--tune", "drop.share=dialog=5%"],
        &["requires --budget"],
    );
    refused(&["--compat", "goaitools:token-limit=5"], &["prompt-tokens"]);
}

#[test]
fn both_orders_of_expand_and_renaming_an_alias() {
    let env = Env::with_chat();
    env.run(&["append", "-q", "trip", "More?"]).fine();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    let event = env.run(&["restore", "--list", "trip"]).status(0);
    let event = event.out().split('\t').next().unwrap().to_string();
    let id = env.run(&["cat", "trip"]).fine();
    let id = id
        .objects()
        .iter()
        .find(|line| line["content"] == "More?")
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        id.starts_with("msg_") && event.starts_with("evt_"),
        "{id} {event}"
    );
    for operands in [[id.as_str(), "trip"], ["trip", id.as_str()]] {
        let run = env.run(&["expand", "--text", operands[0], operands[1]]).fine();
        assert_eq!(run.out(), "More?\n", "{operands:?}");
    }
    env.run(&["restore", &event, "trip"]).status(0);
    // An unknown id comes last; alone it is searched for in standard input.
    assert_eq!(
        env.run(&["expand", "--text", "trip", "m2"]).fine().out(),
        "Weather in Paris?\n"
    );
    assert_eq!(
        env.pipe(&["expand", "--text", "m2"], CHAT).fine().out(),
        "Weather in Paris?\n"
    );
    env.run(&["alias", "add", "travel", "trip"]).status(0);
    env.run(&["new", "--id", "other", "--alias", "taken"]).status(0);
    env.run(&["alias", "rename", "travel", "taken"]).status(73);
    let run = env
        .run(&["alias", "rename", "--json", "travel", "voyage"])
        .status(0);
    assert_eq!(run.objects()[0]["alias"], "voyage", "{run}");
    assert_eq!(env.run(&["alias", "resolve", "voyage"]).fine().out(), "trip\n");
    env.run(&["alias", "resolve", "travel"]).status(66);
    env.run(&["alias", "rename", "travel", "x"])
        .status(66)
        .says("travel: no such alias");
    assert_eq!(
        env.run(&["alias", "list", "-0"]).fine().out(),
        "taken\tother\0voyage\ttrip\0"
    );
}

#[test]
fn every_session_of_the_store() {
    let env = Env::with_chat();
    env.run(&["new", "--id", "b", "--system", "Short."]).status(0);
    let run = env.run(&["count", "--json", "@all"]).fine();
    assert_eq!(run.objects().len(), 2, "{run}");
    for command in ["cat", "show", "context", "detect", "list", "gc", "fsck"] {
        let run = env.run(&[command, "@all"]);
        assert!(matches!(run.status, 0), "{command}: {run}");
    }
    let run = env.run(&["check", "@all", "--for", "openai-chat"]);
    assert!(run.status < 2, "{run}");
    env.run(&["truncate", "@all", "--keep-last", "0"])
        .status(0)
        .says("convo: trip: ")
        .says("convo: b: ");
    env.run(&["append", "@all", "x"])
        .status(2)
        .says("@all: expected one session");
    env.run(&["join", "@all"])
        .status(2)
        .says("@all: expected one session");
    for options in [&["remove", "@all"][..], &["remove", "--purge", "@all"]] {
        env.run(options).status(2).says("@all: expected one session");
    }
    assert_eq!(env.run(&["list", "--json"]).fine().objects().len(), 2);
    let path = env.write("m.jsonl", CHAT.replace("\"trip\"", "\"other\""));
    let run = env
        .run(&["migrate", "-q", "-0", path.to_str().unwrap()])
        .status(0);
    assert!(run.out().ends_with('\0') && !run.out().contains('\n'), "{run}");
}

#[test]
fn diagnostics_and_results_as_json() {
    let env = Env::with_chat();
    let run = env.run(&["cat", "nosuch", "--diagnostics", "json"]).status(66);
    assert!(run.stderr.starts_with('{'), "{run}");
    let run = env.run(&["count", "nosuch", "--json"]).status(66);
    assert!(run.stderr.starts_with('{'), "{run}");
    let run = env
        .run(&["count", "nosuch", "--json", "--diagnostics", "text"])
        .status(66);
    assert!(run.stderr.starts_with("convo: "), "{run}");
    let run = env.run(&["new", "--json", "--id", "n", "--alias", "x"]).fine();
    let reported = &run.objects()[0];
    assert_eq!(
        (&reported["id"], &reported["created"]),
        (&"n".into(), &true.into()),
        "{run}"
    );
    let run = env.run(&["new", "--json", "--id", "n", "--if-missing"]).fine();
    assert_eq!(run.objects()[0]["created"], false);
    let run = env.run(&["remove", "--json", "n"]).fine();
    assert_eq!(
        (&run.objects()[0]["id"], &run.objects()[0]["purged"]),
        (&"n".into(), &false.into())
    );
}

#[test]
fn the_output_format_follows_the_input_or_the_ending() {
    let env = Env::with_chat();
    let body = r#"{"system":"Short.","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":"yo"},{"role":"user","content":"more"}],"max_tokens":9}"#;
    env.write("body.json", body);
    let format = |bytes: &[u8]| {
        let run = env
            .pipe(&["detect"], std::str::from_utf8(bytes).unwrap())
            .status(0);
        run.out().trim().to_string()
    };
    // From a file, standard input and a stored session.
    let run = env.run(&["cat", "-t", "same", "body.json"]).fine();
    assert_eq!(run.out().trim_end(), body);
    let run = env.pipe(&["cat", "-t", "same"], body).fine();
    assert_eq!(run.out().trim_end(), body);
    let run = env
        .pipe(&["truncate", "-t", "same", "--keep-last", "1"], body)
        .status(0);
    assert_eq!(format(&run.stdout), "anthropic");
    assert!(!run.out().contains("yo") && run.out().contains("more"), "{run}");
    let run = env.run(&["cat", "-t", "same", "trip"]).fine();
    assert_eq!(format(&run.stdout), "native");
    // A stream larger than the part used for detection.
    let text = "long ".repeat(40_000);
    let large = body.replace("hi", &text);
    assert_eq!(
        env.pipe(&["cat", "-t", "same"], &large).fine().out().trim_end(),
        large
    );
    env.write(
        "chat.md",
        "# aider chat started at 2026-01-01 10:00:00\n\n#### hi\n\nyo\n",
    );
    env.run(&["cat", "-t", "same", "trip", "--pack"]).status(0);
    // The extension decides, unless --to is given.
    let written = |arguments: &[&str], file: &str| {
        env.run(&[arguments, &["-q", "-o", file]].concat()).status(0);
        env.read(file)
    };
    assert!(written(&["cat", "trip"], "x.md").starts_with('#'));
    for file in ["x.json", "x.jsonl"] {
        assert_eq!(format(written(&["cat", "trip"], file).as_bytes()), "native");
    }
    assert_eq!(
        format(written(&["cat", "trip", "--to", "anthropic"], "z.md").as_bytes()),
        "anthropic"
    );
    assert_eq!(format(written(&["cat", "trip"], "x").as_bytes()), "native");
    let md = env.run(&["cat", "trip", "-t", "md"]).status(0);
    assert_eq!(
        md.out(),
        env.run(&["cat", "trip", "-t", "markdown"]).status(0).out()
    );
}

#[test]
fn a_budget_below_one_message_suggests_options() {
    let big = "word ".repeat(3000);
    let session = |lines: &[&str]| {
        format!(
            "{}\n{}\n",
            r#"{"type":"session","version":1,"id":"s"}"#,
            lines.join("\n")
        )
    };
    let user = r#"{"role":"user","content":"do","id":"u"}"#;
    let call = format!(
        r#"{{"role":"assistant","content":null,"id":"a","tool_calls":[{{"id":"c","type":"function","function":{{"name":"write","arguments":"{{\"text\":\"{big}\"}}"}}}}]}}"#
    );
    let result = r#"{"role":"tool","tool_call_id":"c","content":"ok","id":"t"}"#;
    let done = r#"{"role":"assistant","content":"done","id":"d"}"#;
    let run = |options: &[&str], session: &str| {
        Env::new().pipe(&[&["compact", "--budget", "500"], options].concat(), session)
    };
    let arguments = session(&[user, &call, result, done]);
    let cut = run(&[], &arguments).status(0);
    assert!(cut.out().contains("of 15,000 bytes elided]"), "{cut}");
    run(&["--mask-inputs"], &arguments).status(0);
    let alone = run(&["--keep-last", "1"], &arguments).status(1);
    assert!(
        alone.stderr.contains("with --mask-tools --mask-inputs, "),
        "{alone}"
    );
    let message = format!(r#"{{"role":"user","content":"{big}","id":"b"}}"#);
    let pinned = session(&[&message, done, user, done]);
    run(&["--pin", "b"], &pinned).status(1).says("omit --pin b, ");
    run(&[], &pinned).status(0);
    let newest = session(&[user, done, &message]);
    let cut = run(&[], &newest).status(0);
    assert!(cut.out().contains("of 15,000 bytes elided]"), "{cut}");
}
