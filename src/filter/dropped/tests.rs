use super::*;
use crate::model::view::View;

fn session(lines: &[&str]) -> Session {
    let mut session = Session::default();
    lines.iter().for_each(|line| session.push_new(line.as_bytes()));
    session
}

fn lost(a: &[&str], b: &[&str]) -> Vec<(FactKind, String, usize, bool)> {
    let (a, b) = (session(a), session(b));
    let views = [View::replay(&a), View::replay(&b)];
    let entries = [DiffEntry::all(&a, &views[0]), DiffEntry::all(&b, &views[1])];
    facts(&a, &entries[0], &entries[1])
        .into_iter()
        .map(|fact| (fact.kind, fact.text, fact.at, fact.kept))
        .collect()
}

const HEADER: &str = r#"{"type":"session","version":1,"id":"s","metadata":{"cwd":"/repo"}}"#;
const RULE: &str = r#"{"role":"user","content":"Always answer in British English."}"#;
const CALL: &str = r#"{"role":"assistant","content":"We decided to use LMDB instead of SQLite.","tool_calls":[{"id":"c","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"cargo test -q\"}"}},{"id":"d","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"/repo/src/a.rs\"}"}}]}"#;
const FAILED: &str =
    r#"{"role":"tool","tool_call_id":"c","content":"Exit code: 101\nerror[E0308]: mismatched types\n"}"#;
const ASKED: &str = r#"{"role":"assistant","content":"It took 6 s. Shall I go on with the second part?"}"#;

#[test]
fn facts_missing_from_the_other_side_are_found() {
    let a = [HEADER, RULE, CALL, FAILED, ASKED];
    let all = lost(&a, &a);
    let kinds: Vec<FactKind> = all.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(
        kinds,
        [
            FactKind::Rule,
            FactKind::Decision,
            FactKind::Question,
            FactKind::Path,
            FactKind::Command,
            FactKind::Error,
            FactKind::Figure
        ],
        "{all:?}"
    );
    assert!(all.iter().all(|(.., kept)| *kept), "{all:?}");
    // Case, white space and the session directory are ignored; summaries are searched, too.
    let b = [
        HEADER,
        r#"{"type":"summary","id":"e","at":"2026-01-01T00:00:00Z","content":"always  answer in british English.\nR src/a.rs\n$ cargo test -q => 101: error[E0308]: mismatched types"}"#,
    ];
    let lost: Vec<String> = lost(&a, &b)
        .into_iter()
        .filter(|(.., kept)| !kept)
        .map(|(_, text, ..)| text)
        .collect();
    assert_eq!(
        lost,
        [
            "We decided to use LMDB instead of SQLite.",
            "Shall I go on with the second part?",
            "6 s"
        ]
    );
}

#[test]
fn an_answered_question_is_not_open() {
    let a = [
        r#"{"role":"user","content":"Which database do we take then?"}"#,
        r#"{"role":"assistant","content":"The small one."}"#,
        r#"{"role":"user","content":"And why is that so, please?"}"#,
    ];
    let questions: Vec<usize> = lost(&a, &a)
        .into_iter()
        .filter(|(kind, ..)| *kind == FactKind::Question)
        .map(|(_, _, at, _)| at)
        .collect();
    assert_eq!(questions, [2]);
}

#[test]
fn short_tool_results_are_searched_and_replaced_rules_are_not_counted() {
    let short =
        r#"{"role":"tool","tool_call_id":"c","content":"24 passed, p95 412 ms, see target/report.html"}"#;
    let listing: String = (0..100).map(|nth| format!("src/a{nth}.rs\\n")).collect();
    let listing = format!(r#"{{"role":"tool","tool_call_id":"d","content":"{listing}"}}"#);
    let revoked = r#"{"role":"user","content":"From now on answer in American English."}"#;
    let found = lost(&[HEADER, RULE, CALL, short, &listing, revoked], &[HEADER]);
    let texts = |kind| -> Vec<String> {
        let facts = found.iter().filter(|(found, ..)| *found == kind);
        facts.map(|(_, text, ..)| text.clone()).collect()
    };
    assert_eq!(texts(FactKind::Rule), ["From now on answer in American English."]);
    assert_eq!(texts(FactKind::Figure), ["412 ms"]);
    assert_eq!(texts(FactKind::Path), ["src/a.rs", "target/report.html"]);
}

#[test]
fn a_path_in_the_home_directory_is_found_in_each_form() {
    let header = HEADER.replace("/repo", "/home/mia/work");
    let message = |path: &str| format!(r#"{{"role":"assistant","content":"See {path} for it."}}"#);
    let whole = message("/home/mia/.config/app/a.toml");
    for other in [message("~/.config/app/a.toml"), whole.clone()] {
        let found = lost(&[&header, &whole], &[&header, &other]);
        assert_eq!(
            found,
            [(FactKind::Path, "~/.config/app/a.toml".to_string(), 0, true)]
        );
    }
}
