//! `convo count`.

use crate::env::{BARE, CHAT, Env, OPENAI};

#[test]
fn two_figures_each() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    snapshot!("count", env.run(&["count", "trip"]).fine());
    snapshot!("count_json", env.run(&["count", "--json", "trip"]).fine());
}

#[test]
fn a_stream_counts_as_the_store_does() {
    let env = Env::with_chat();
    let stored = env.run(&["count", "trip"]).fine();
    env.pipe(&["count"], CHAT).fine().gives(&stored.stdout);
    snapshot!("count_openai", env.pipe(&["count"], OPENAI));
}

#[test]
fn session_by_session() {
    let env = Env::with_chat();
    env.write("bare.jsonl", BARE);
    snapshot!(
        "count_several",
        env.run(&["count", "./bare.jsonl", "trip"]).fine()
    );
    let lines = env.pipe(&["count", "--json"], format!("{BARE}{CHAT}")).fine();
    let messages: Vec<_> = lines
        .objects()
        .iter()
        .map(|line| line["log"]["messages"].clone())
        .collect();
    assert_eq!(messages, [2, 7]);
}

#[test]
fn damage_is_counted() {
    let env = Env::new();
    snapshot!("count_damaged", env.pipe(&["count"], format!("{BARE}broken\n")));
}

#[test]
fn errors() {
    let env = Env::new();
    env.run(&["count", "nobody"]).status(66);
    env.run(&["count", "no.json"]).status(66).says("convo: no.json: ");
}
