//! `compact --steps` and `--handoff`.

use crate::env::Env;
use serde_json::json;

/// A session that runs a command in each exchange.
fn work() -> String {
    let mut session = String::new();
    for nth in 0..30 {
        let arguments = json!({"command": format!("cargo test case_{nth}")}).to_string();
        let result = format!("running case {nth} of the suite, all of it passed. ").repeat(12);
        let lines = [
            json!({"role": "user", "id": format!("u{nth}"), "content": format!("Please run case {nth} and tell me how it went.")}),
            json!({"role": "assistant", "id": format!("c{nth}"), "content": "", "tool_calls": [
                {"id": format!("k{nth}"), "type": "function", "function": {"name": "bash", "arguments": arguments}}]}),
            json!({"role": "tool", "id": format!("t{nth}"), "tool_call_id": format!("k{nth}"), "content": result}),
            json!({"role": "assistant", "id": format!("a{nth}"), "content": format!("Case {nth} passed after {} seconds.", nth * 3)}),
        ];
        lines
            .iter()
            .for_each(|line| session.push_str(&format!("{line}\n")));
    }
    session
}

#[test]
fn steps_are_the_strategies_by_name() {
    let env = Env::new();
    let compact = |more: &[&str]| {
        let arguments = [&["compact", "-q", "--budget", "1500", "--best-effort"], more].concat();
        let run = env.pipe(&arguments, work());
        // Events and messages that they insert have unique ids.
        let lines = run.objects().into_iter();
        lines
            .map(|line| json!([line["role"], line["content"]]))
            .collect::<Vec<_>>()
    };
    for (steps, options) in [
        ("mask", &["--mask-tools"][..]),
        ("dedupe,mask", &["--dedupe", "exact", "--mask-tools"]),
        ("tiered", &["--tiered"]),
        ("optimize", &["--optimize"]),
        ("headtail", &["--tool-output-max", "10240"]),
        ("digest,handoff", &["--digest-tools", "--with", "extract"]),
        (
            "dedupe,media,thinking,headtail,mask,digest,handoff,extract,drop",
            &[],
        ),
    ] {
        let listed = compact(&["--steps", steps]);
        assert!(!listed.is_empty(), "{steps}");
        assert_eq!(listed, compact(options), "{steps}");
    }
    // `--steps` alone is a valid request.
    env.pipe(&["compact", "-q", "--steps", "mask"], work()).status(0);
}

#[test]
fn a_session_with_tools_is_summarized_in_blocks_unless_that_is_off() {
    let env = Env::new();
    let summary = |more: &[&str]| {
        let arguments = [&["compact", "-q", "--budget", "1500"], more].concat();
        env.pipe(&arguments, work()).status(0).out().to_string()
    };
    for blocks in [
        &[][..],
        &["--handoff", "auto"],
        &["--steps", "mask,headtail,handoff"],
    ] {
        assert!(summary(blocks).contains(r"\ncommands:\n"), "{blocks:?}");
    }
    for sentences in [&["--handoff", "off"][..], &["--steps", "mask,headtail,extract"]] {
        let text = summary(sentences);
        assert!(
            text.contains("[summary of ") && !text.contains(r"\ncommands:\n"),
            "{sentences:?} {text}"
        );
    }
}

#[test]
fn a_limit_of_lines_next_to_a_budget_keeps_all_strategies() {
    let compact = |more: &[&str]| {
        let arguments = [&["compact", "-q", "--budget", "1500"], more].concat();
        // Ids of events depend on the number of runs.
        Env::new().pipe(&arguments, work()).status(0).out().to_string()
    };
    assert_eq!(compact(&["--tune", "tool-output.lines=9999"]), compact(&[]));
    let env = Env::new();
    // Without a goal it is the only strategy.
    let call = json!({"id": "k", "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let lines = [
        json!({"role": "user", "content": "Go."}),
        json!({"role": "assistant", "content": "", "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "k", "content": "a line\n".repeat(50)}),
    ];
    let session: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = env
        .pipe(&["compact", "-q", "--tune", "tool-output.lines=4"], session)
        .status(0);
    assert!(run.out().contains(" bytes elided]"), "{run}");
}

#[test]
fn steps_that_contradict_each_other_are_refused() {
    let env = Env::new();
    for (options, why) in [
        (
            &["--steps", "tiered,mask"][..],
            "--steps tiered conflicts with other steps",
        ),
        (&["--steps", "mask", "--tiered"], "cannot be used with"),
        (&["--steps", "masks"], "masks"),
        (
            &["--handoff", "off", "--with", "cmd:cat", "--budget", "900"],
            "--handoff requires the built-in summarizer",
        ),
    ] {
        let run = env.pipe(&[&["compact"], options].concat(), work());
        run.status(2).says(why);
    }
}

#[test]
fn results_that_were_cut_give_way_to_placeholders_before_messages_are_dropped() {
    let env = Env::new();
    let session: String = (0..30)
        .flat_map(|nth| {
            let arguments = json!({"command": format!("ls d{nth}")}).to_string();
            let files: String = (0..200).map(|file| format!("file{nth}_{file}.txt\n")).collect();
            [
                json!({"role": "user", "content": format!("List folder {nth}.")}),
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": format!("c{nth}"), "type": "function", "function": {"name": "sh", "arguments": arguments}}]}),
                json!({"role": "tool", "tool_call_id": format!("c{nth}"), "content": files}),
                json!({"role": "assistant", "content": "Done."}),
            ]
        })
        .map(|line| format!("{line}\n"))
        .collect();
    for budget in ["3000", "3400", "3800"] {
        let options = ["--optimize", "--tool-output-max", "400", "--budget", budget];
        let run = env.pipe(&[&["compact"][..], &options].concat(), session.clone());
        run.status(0).says("(120 to 120 messages)");
    }
}
