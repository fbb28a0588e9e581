//! A compaction for a question keeps its tokens for the answer.

use super::widened::{session, with_default_options};

#[test]
fn a_question_keeps_only_the_newest_exchange_in_any_case() {
    let mut lines = session(2, &[], 8);
    lines.push_new(br#"{"role":"user","content":"Where is the spare key?"}"#);
    lines.push_new(br#"{"role":"assistant","content":"It hangs behind the water barrel, on a nail."}"#);
    let filler = session(16, &[], 8);
    (0..filler.len()).for_each(|at| lines.push_new(filler.record(at).body));
    let mut case = with_default_options(lines);
    let kept = |case: &super::case::Case, budget| {
        let done = case.done(case.with_budget(budget, false).unwrap()).unwrap();
        let shown = done.shown();
        (done.view.items.len(), shown.contains("behind the water barrel"))
    };
    case.options.style.questions = vec!["Where does the spare key hang?".to_string()];
    let budget = case.was.tokens / 5;
    assert_eq!(kept(&case, budget), (3, true));
    case.options.keep_last = Some(2);
    assert_eq!(kept(&case, budget), (4, false));
}
