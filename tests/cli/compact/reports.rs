//! Tests the reports of `convo compact`: one line per input, and consistent numbers.

use super::work;
use crate::env::{Env, Run};

/// Tokens and messages of the view according to `convo count`; a report counts the summary as a message.
fn counted(env: &Env, input: &str) -> (u64, u64) {
    let run = env.run(&["count", "--json", input]).fine();
    let object: serde_json::Value = serde_json::from_str(run.out()).unwrap();
    let view = &object["view"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let summaries = u64::from(object["summary"].as_bool().unwrap());
    (
        number(&view["tokens"]["total"]),
        number(&view["messages"]) + summaries,
    )
}

/// The report of a change from and to these tokens and messages.
fn report(start: &str, before: (u64, u64), after: (u64, u64)) -> String {
    format!(
        "{start} from {} to {} tokens ({} to {} messages)\n",
        before.0, after.0, before.1, after.1
    )
}

/// Tokens before and after, summed over the rows of a dry run.
fn summed(run: &Run) -> (u64, u64) {
    let rows = run.out().lines().map(|row| row.split('\t').collect::<Vec<_>>());
    rows.fold((0, 0), |(before, after), row| {
        let number = |cell: &str| cell.parse::<u64>().unwrap();
        (before + number(row[2]), after + number(row[3]))
    })
}

#[test]
fn the_numbers_of_reports_agree_with_count() {
    for strategy in [
        &["--budget", "900"][..],
        &["--mask-tools", "--keep-tools", "1"],
        &["--with", "extract", "--budget", "700"],
        &["--keep-last", "1"],
    ] {
        let env = Env::new();
        env.write("one.jsonl", work(80));
        env.write("two.jsonl", work(60));
        env.run(&["migrate", "-q", "one.jsonl"]).status(0);
        let before = ["one.jsonl", "two.jsonl"].map(|input| counted(&env, input));
        let dry = env
            .run(&[&["compact", "-n", "one.jsonl"], strategy].concat())
            .status(0);
        let json = env
            .run(&[&["compact", "-n", "--json", "one.jsonl"], strategy].concat())
            .status(0);
        // Each input has its line, in place and in the store too.
        let changed = env
            .run(&[&["compact", "-i", "one.jsonl", "two.jsonl"], strategy].concat())
            .status(0);
        let after = ["one.jsonl", "two.jsonl"].map(|input| counted(&env, input));
        let lines = [0, 1].map(|nth| {
            let name = ["one", "two"][nth];
            report(
                &format!("convo: {name}.jsonl: compacted"),
                before[nth],
                after[nth],
            )
        });
        assert_eq!(changed.stderr, lines.concat(), "{strategy:?}");
        let stored = env.run(&[&["compact", "work"], strategy].concat()).status(0);
        assert_eq!(
            stored.stderr,
            report("convo: work: compacted", before[0], after[0])
        );
        assert_eq!(counted(&env, "work"), after[0], "{strategy:?}");
        // The dry run reports the same numbers.
        assert_eq!(
            dry.stderr,
            report("convo: one.jsonl: would compact", before[0], after[0]),
            "{strategy:?}"
        );
        let (summed_before, summed_after) = summed(&dry);
        // The rows exclude the system message and the summary.
        assert!(summed_before <= before[0].0, "{strategy:?}: {dry}");
        assert!(summed_after <= after[0].0, "{strategy:?}: {dry}");
        assert!(
            summed_before - summed_after >= before[0].0 - after[0].0,
            "{strategy:?}: {dry}"
        );
        let last = json.out().lines().last().unwrap();
        let totals: serde_json::Value = serde_json::from_str(last).unwrap();
        let size = |name: &str| {
            let number = |member: &str| totals[name][member].as_u64().unwrap();
            (number("tokens"), number("messages"))
        };
        assert_eq!(
            (size("was"), size("now")),
            (before[0], after[0]),
            "{strategy:?}: {last}"
        );
    }
}

#[test]
fn an_unchanged_input_is_reported_and_q_silences_everything() {
    let env = Env::new();
    env.write("one.jsonl", work(40));
    let call = ["compact", "-i", "one.jsonl", "--budget", "900"];
    env.run(&[&call[..], &["-q"]].concat()).fine();
    env.run(&call).status(0).says("convo: one.jsonl: unchanged: ");
    let piped = env.pipe(&["compact", "--budget", "900"], work(40)).status(0);
    assert!(piped.stderr.starts_with("convo: -: compacted from "), "{piped}");
    env.pipe(&["compact", "-q", "--budget", "900"], work(40)).fine();
    let cut = env.pipe(&["truncate", "-n", "--keep-last", "1"], work(2));
    cut.status(0).says("convo: -: would drop ");
}

/// A summary in sentences keeps more of a conversation than whole exchanges do, unless most of it fits.
#[test]
fn a_conversation_of_which_two_thirds_fit_keeps_whole_exchanges() {
    let env = Env::new();
    let exchange = |nth: u32| {
        format!(
            "{{\"role\":\"user\",\"content\":\"What grows in bed {nth}? I have seeds of sort {}. The soil there is dry.\"}}\n\
             {{\"role\":\"assistant\",\"content\":\"Bed {nth} suits beans. Sow {} of them in May. Water them on day {}.\"}}\n",
            nth * 7,
            nth * 3,
            nth + 40
        )
    };
    env.write("garden.jsonl", (0..60).map(exchange).collect::<String>());
    let (tokens, _) = counted(&env, "garden.jsonl");
    let messages = |percent: u64| {
        let budget = (tokens * percent / 100).to_string();
        let compacted = env
            .run(&["compact", "-q", "--budget", &budget, "garden.jsonl"])
            .status(0);
        env.write("compacted.jsonl", compacted.out());
        counted(&env, "compacted.jsonl").1
    };
    // The summary, and the newest exchange.
    assert_eq!([10, 60].map(messages), [3, 3]);
    assert!(messages(72) > 60, "{}", messages(72));
}
