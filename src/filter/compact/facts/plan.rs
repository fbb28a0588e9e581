//! Plans: lists of steps with their states in the arguments of a call, as objects or as the text of a checklist.

use super::arguments::ArgumentMembers;
use crate::filter::summarize::handoff::PlanStep;
use crate::filter::summarize::without_list_mark;
use crate::model::json::{self, Dialect};

/// Whether a tool of this name, without its separators, keeps a plan.
pub fn is_kept_by(name: &str) -> bool {
    // Not `explanation`.
    let is_plan = name.starts_with("plan") || name.ends_with("plan");
    is_plan || ["todo", "tasktracker"].iter().any(|part| name.contains(part))
}

/// The steps of the first argument that has some, or no step if a list of steps is empty; none if the tool keeps no plan.
pub fn of(name: &str, members: &ArgumentMembers<'_>) -> Option<Vec<PlanStep>> {
    let mut values = members.iter().filter(|_| is_kept_by(name));
    let steps = values.find_map(|(_, raw)| {
        let text = json::text(raw);
        let list = text.as_deref().map_or(*raw, str::as_bytes);
        let steps: Vec<PlanStep> = match json::elements(list, Dialect::Strict) {
            Some(elements) => elements.into_iter().filter_map(step).collect(),
            None => text
                .as_deref()
                .unwrap_or_default()
                .lines()
                .filter_map(item)
                .collect(),
        };
        (!steps.is_empty()).then_some(steps)
    });
    // A call that shows the plan may have an unused list.
    let shows = || {
        members
            .iter()
            .any(|(_, raw)| json::text(raw).as_deref() == Some("view"))
    };
    let is_emptied = || is_kept_by(name) && members.iter().any(|(name, raw)| empties(name, raw)) && !shows();
    steps.or_else(|| is_emptied().then(Vec::new))
}

/// Whether an argument is a list of steps without elements.
fn empties(name: &str, raw: &[u8]) -> bool {
    let name = name.to_lowercase();
    let is_of_steps = ["todo", "plan", "task", "step", "item"]
        .iter()
        .any(|part| name.contains(part));
    let text = json::text(raw);
    let list = text.as_deref().map_or(raw, str::as_bytes);
    is_of_steps && json::elements(list, Dialect::Strict).is_some_and(|elements| elements.is_empty())
}

fn step(raw: &[u8]) -> Option<PlanStep> {
    let text = |names: &[&str]| names.iter().find_map(|name| json::member_text(raw, name));
    let what = text(&["content", "step", "description", "title", "text"])?;
    Some(PlanStep {
        state: text(&["status", "state"]).map(|text| state(&text)),
        text: what.trim().to_string(),
    })
}

/// A line of a checklist: `[x] text`, also as an item of a list.
fn item(line: &str) -> Option<PlanStep> {
    let (mark, text) = without_list_mark(line.trim())
        .strip_prefix('[')?
        .split_once(']')?;
    let text = text.trim();
    (!text.is_empty() && !text.starts_with('(')).then(|| PlanStep {
        state: Some(state(mark)),
        text: text.to_string(),
    })
}

/// The mark of a state.
pub fn state(text: &str) -> char {
    let letters = text.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let letters: String = letters.flat_map(char::to_lowercase).collect();
    match letters.as_str() {
        "completed" | "complete" | "done" | "x" => 'x',
        "inprogress" | ">" | "~" => '>',
        // Roo Code marks the step in progress so.
        "" if text.contains('-') => '>',
        "cancelled" | "canceled" | "deleted" => '-',
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_all_formats_are_recognized() {
        for (name, arguments) in [
            (
                "todowrite",
                r#"{"todos":"[{\"content\":\"measure\",\"status\":\"completed\"},{\"step\":\"go\"}]"}"#,
            ),
            (
                "updateplan",
                r#"{"explanation":"Why.","plan":[{"step":"measure","status":"completed"},{"step":"go"}]}"#,
            ),
            (
                "managetodolist",
                r#"{"todoList":[{"title":"measure","status":"Done"},{"title":"go","status":"not-started"}]}"#,
            ),
            (
                "tasktracker",
                r#"{"command":"plan","task_list":[{"title":"measure","status":"done"},{"title":"go"}]}"#,
            ),
            ("updatetodolist", r#"{"todos":"[x] measure\n[ ] go"}"#),
            ("updatetodo", r#"{"todos":"Now:\n- [X] measure\n- [ ] go"}"#),
            (
                "todowrite",
                r#"{"todos":"1. [completed] measure\n2. [pending] go"}"#,
            ),
        ] {
            let members = json::members(arguments.as_bytes(), Dialect::Strict).unwrap();
            let steps = of(name, &members).unwrap_or_default();
            let steps: Vec<_> = steps
                .iter()
                .map(|step| (step.state.unwrap_or(' '), &*step.text))
                .collect();
            assert_eq!(steps, [('x', "measure"), (' ', "go")], "{name} {arguments}");
            assert_eq!(of("write", &members), None);
        }
        for (name, arguments, is_plan) in [
            ("todowrite", r#"{"todos":[]}"#, true),
            ("todowrite", r#"{"todos":"[]"}"#, true),
            ("updateplan", r#"{"plan":[]}"#, true),
            ("updateplan", r#"{"tags":[]}"#, false),
            ("tasktracker", r#"{"command":"view","task_list":[]}"#, false),
            ("todoread", "{}", false),
            ("write", r#"{"todos":[]}"#, false),
        ] {
            let members = json::members(arguments.as_bytes(), Dialect::Strict).unwrap();
            assert_eq!(of(name, &members), is_plan.then(Vec::new), "{name} {arguments}");
        }
        assert_eq!(state("-"), '>');
        assert_eq!(state("In Progress"), '>');
        assert_eq!(state("cancelled"), '-');
    }
}
