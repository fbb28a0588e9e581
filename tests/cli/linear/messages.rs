//! Sessions with many messages: work for each message that depends on all others takes noticeable time from this size
//! on, but not in the sessions of the other tests.

use super::{lines, message, slow};
use crate::env::Env;

#[test]
fn converting_many_messages_to_claude_code() {
    let env = Env::new();
    let shape = |count| lines(count, |nth| message(&format!("m{nth}")));
    let small = env.write("small.jsonl", shape(6000));
    let large = env.write("large.jsonl", shape(24_000));
    let command = ["cat", "@", "--to", "claude-code"];
    assert_eq!(slow(&env, &command, &small, &large), None);
}
