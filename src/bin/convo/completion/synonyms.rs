//! Hints for commands that people know from other programs.

/// Unknown commands with their hints. A plugin with that name takes precedence.
#[rustfmt::skip] // a row per hint
const HINTS: [(&[&str], &str); 25] = [
    (&["rg", "ag", "ack"], "search the text of sessions with: convo search"),
    (&["mv"], "set a title with: convo title SESSION TEXT, rename an alias with: convo alias rename, or let sessions follow a moved project with: convo relocate"),
    (&["stats", "wc", "tokens"], "count messages and tokens with: convo count"),
    (&["log", "history", "dump"], "print the complete log with: convo cat NAME"),
    (&["edit", "trim", "cut", "prune", "shrink", "compress"], "shorten the view with: convo truncate, convo compact or convo summarize"),
    (&["version"], "print the version with: convo --version"),
    (&["convert", "markdown", "md", "save"], "convert with: convo cat --to FORMAT NAME, e.g. --to markdown"),
    (&["cost", "costs", "price", "prices", "spend"], "add up recorded tokens with: convo usage"),
    (&["html", "page", "publish"], "write a page with: convo cat --to html NAME > page.html"),
    (&["cmp", "compare"], "compare two sessions with: convo diff A B"),
    (&["concat", "combine"], "combine sessions with: convo join"),
    (&["view", "less", "more", "open", "print", "display", "read"], "display a session with: convo show"),
    (&["head", "tail"], "keep the newest exchanges with: convo truncate --keep-last N --stdout NAME"),
    (&["create", "init", "start"], "create a session with: convo new"),
    (&["add", "write", "push"], "append a message with: convo append"),
    (&["chat", "prompt", "send", "run"], "send a prompt to a model with: convo ask"),
    (&["branch", "resume"], "start a session that continues another one with: convo continue"),
    (&["revert", "redo", "untrash", "recover"], "undo a change or recover a session with: convo restore"),
    (&["trash"], "list removed sessions with: convo restore --list"),
    (&["clean", "vacuum", "archive"], "archive hidden messages with: convo gc"),
    (&["verify", "doctor"], "check the store with: convo fsck"),
    (&["repair"], "repair a session for an API with: convo check --for API --fix, the store with: convo fsck --repair"),
    (&["validate", "lint", "fix"], "check and repair a session for an API with: convo check --for API [--fix]"),
    (&["scrub", "anonymize", "sanitize", "secrets"], "remove secrets with: convo redact FILE"),
    (&["config", "commands"], "see: convo man"),
];

/// Returns the hint for an unknown command.
pub fn hint(word: &str) -> Option<&'static str> {
    let known = |(words, _): &&(&[&str], &str)| words.contains(&word);
    HINTS.iter().find(known).map(|(_, hint)| *hint)
}
