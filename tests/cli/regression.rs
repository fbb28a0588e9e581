//! Regression tests of fixed bugs.

use crate::env::Env;

const SUMMED: &str = concat!(
    "{\"type\":\"session\",\"version\":1,\"id\":\"s\"}\n",
    "{\"role\":\"user\",\"content\":\"u1\",\"id\":\"m1\"}\n",
    "{\"role\":\"assistant\",\"content\":\"a2\",\"id\":\"m2\"}\n",
    "{\"type\":\"summary\",\"id\":\"e1\",\"at\":\"2026-01-01T00:00:00Z\",\"content\":\"earlier\",\"covers\":[\"m1\",\"m2\"]}\n",
    "{\"role\":\"user\",\"content\":\"u3\",\"id\":\"m3\"}\n",
    "{\"role\":\"assistant\",\"content\":\"a4\",\"id\":\"m4\"}\n",
);

/// The header came after the summary, which split the session.
#[test]
fn a_materialized_stream_starts_with_its_header() {
    let env = Env::new();
    let once = env.pipe(&["truncate", "--keep-last", "1"], SUMMED).status(0);
    assert!(once.out().starts_with("{\"type\":\"session\""), "{once}");
    assert!(!once.out().contains("covers"), "{once}");
    let twice = env.pipe(&["truncate", "--keep-last", "1"], once.out()).status(0);
    assert_eq!(once.out(), twice.out());
    let context = env
        .pipe(&["context", "-t", "openai-chat", "-q"], once.out())
        .fine();
    assert_eq!(context.out().matches("\"role\"").count(), 3, "{context}");
    let count = env.pipe(&["count", "--json"], once.out()).fine();
    assert!(count.out().contains("\"summary\":true"), "{count}");
}

/// A summary of the middle moved to the front when its stream was materialized.
#[test]
fn a_summary_of_the_middle_keeps_its_position() {
    let env = Env::new();
    let (event, rest): (Vec<&str>, Vec<&str>) = SUMMED
        .split_inclusive('\n')
        .partition(|line| line.contains("summary"));
    let middle = [
        rest.concat(),
        event[0].replace("[\"m1\",\"m2\"]", "[\"m2\",\"m3\"]"),
    ]
    .concat();
    let materialized = env.pipe(&["truncate", "--keep-last", "9"], &middle).status(0);
    assert!(materialized.out().contains("\"here\":true"), "{materialized}");
    let direct = env.pipe(&["context", "-t", "jsonl", "-q"], &middle).fine();
    let through = env
        .pipe(&["context", "-t", "jsonl", "-q"], materialized.out())
        .fine();
    assert_eq!(through.out(), direct.out());
}

/// An append materialized unrelated events, so hidden messages were removed from the file.
#[test]
fn an_append_leaves_the_log_unchanged() {
    let env = Env::new();
    env.write("s.jsonl", SUMMED);
    env.run(&["append", "-i", "s.jsonl", "more"]).fine();
    assert!(env.read("s.jsonl").starts_with(SUMMED));
}

/// Members of a request and of messages were dropped silently.
#[test]
fn a_request_is_restored_unchanged() {
    let env = Env::new();
    let request = concat!(
        "{\"model\":\"gpt-4\",\"tools\":[{\"type\":\"function\"}],\"messages\":[\n",
        "{\"role\":\"user\",\"content\":\"u1\",\"id\":\"m1\",\"metadata\":{\"k\":1}},\n",
        "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":\"A\",\"reasoning\":\"B\"}\n]}\n",
    );
    env.write("request.json", request);
    env.run(&["append", "-i", "request.json", "hi"]).fine();
    let expected = request.replace("\"B\"}\n", "\"B\"},\n{\"role\":\"user\",\"content\":\"hi\"}\n");
    assert_eq!(env.read("request.json"), expected);
}

/// A file whose first lines are bare messages is a file of lines, whatever follows.
#[test]
fn a_file_of_lines_keeps_lines_other_than_messages() {
    let env = Env::new();
    let mut text = "{\"role\":\"user\",\"content\":\"x\"}\n".repeat(60);
    text += "{\"type\":\"session\",\"version\":1,\"id\":\"late\"}\nnot json\n{\"role\":\"user\",\"content\":\"y\"}\n";
    env.write("late.jsonl", &text);
    env.run(&["truncate", "-i", "--keep-last", "99", "late.jsonl"])
        .status(65);
    assert_eq!(env.read("late.jsonl"), text);
}

/// Late results were separated from their calls.
#[test]
fn a_late_result_keeps_its_call() {
    let env = Env::new();
    let late = concat!(
        "{\"role\":\"user\",\"content\":\"u1\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"u2\"}\n",
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}\n",
        "{\"role\":\"user\",\"content\":\"wait\"}\n",
        "{\"role\":\"assistant\",\"content\":\"t\",\"reasoning\":[{\"type\":\"text\",\"text\":\"t\"}]}\n",
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\"}\n",
    );
    for cut in [
        ["--keep-last", "1"],
        ["--keep-messages", "1"],
        ["--keep-messages", "3"],
    ] {
        let run = env.pipe(&["truncate", cut[0], cut[1]], late).status(0);
        assert!(
            run.out().starts_with("{\"role\":\"user\",\"content\":\"u2\"}"),
            "{cut:?}: {run}"
        );
        assert!(run.out().contains("\"id\":\"c1\"") && run.out().contains("\"tool_call_id\":\"c1\""));
    }
}

/// A summary with a lone surrogate was ignored.
#[test]
fn a_lone_surrogate_invalidates_no_event() {
    let env = Env::new();
    let odd = SUMMED
        .replace("earlier", "earl\\ud83d")
        .replace("\"id\":\"s\"", "\"id\":\"s\",\"title\":\"\\udc00t\"");
    let count = env.pipe(&["count", "--json"], &odd).fine();
    assert!(count.out().contains("\"summary\":true"), "{count}");
    env.pipe(&["cat"], &odd).fine().gives(&odd);
}

/// With a closed output, all inputs were read and reported.
#[test]
fn a_full_disk_is_reported_once() {
    let env = Env::new();
    env.write("a.jsonl", SUMMED);
    env.write("b.jsonl", SUMMED);
    let run = env
        .shell("convo cat a.jsonl b.jsonl a.jsonl > /dev/full; exit $?")
        .status(74);
    assert_eq!(run.to_string().matches("no space left").count(), 1, "{run}");
}

/// Python's DEVNULL is open for reading and writing, but is not a closed output.
#[test]
fn a_null_device_open_for_both_directions_is_an_output() {
    let env = Env::new();
    env.write("a.jsonl", SUMMED);
    env.shell("convo cat a.jsonl 1<>/dev/null").fine();
}

/// Options without effect were accepted silently.
#[test]
fn an_option_without_effect_is_refused() {
    let env = Env::with_chat();
    env.run(&["truncate", "trip", "--all", "--log"])
        .status(2)
        .says("--log requires a stream");
    env.run(&["truncate", "trip", "--all", "-n", "-o", "x.jsonl"])
        .status(2);
    env.run(&["truncate", "trip", "--all", "-i"])
        .status(2)
        .says("-i requires a file");
    env.run(&["append", "trip", "-i", "x"])
        .status(2)
        .says("-i requires a file");
    env.run(&["append", "trip", "--log", "x"]).status(2);
    env.run(&["cat", "trip", "-i"]).status(2);
    assert_eq!(
        env.run(&["count", "--json", "trip"])
            .fine()
            .out()
            .matches("\"messages\":7")
            .count(),
        2
    );
}
