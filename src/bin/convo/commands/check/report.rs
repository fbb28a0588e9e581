//! Reports the findings of a check as text and as JSON.

use super::problem::CheckProblem;
use super::rules::{RULES, RuleCheck};
use crate::flat_tables::{self, FirstViolation, SessionOrigin, SessionViolations, TableRow};
use crate::output::{count_of, in_line};
use convo::check::{Api, ApiViolation, CheckOptions, HistoryRule, Severity, check, structure};
use convo::filter::repair;
use convo::format::report::{Loss, Report};
use convo::format::request;
use convo::model::session::Session;
use convo::model::view::{Item, View};
use std::collections::HashMap;

/// Line of the input, or 0 if unknown, and id.
type Location = (u64, Option<String>);

/// A session checked against the rules of one API, or the structural rules of every session.
pub struct CheckedSession {
    api: Option<Api>,
    findings: Vec<ApiViolation>,
    /// For each element, the items of the view that it was built from.
    elements: ElementItems,
    /// Content of the session that the request does not contain.
    pub losses: Report,
}

/// The items of the view that elements were built from; without an API each item is an element.
enum ElementItems {
    Items(usize),
    Of(Vec<Vec<usize>>),
}

impl ElementItems {
    fn len(&self) -> usize {
        match self {
            ElementItems::Items(count) => *count,
            ElementItems::Of(elements) => elements.len(),
        }
    }
}

impl CheckedSession {
    /// Checks the view; without an API its structure.
    pub fn new(
        api: Option<Api>,
        session: &Session,
        view: &View,
        options: &CheckOptions,
    ) -> convo::Result<CheckedSession> {
        let Some(api) = api else {
            return Ok(CheckedSession {
                api: None,
                findings: structure(session, view, options),
                elements: ElementItems::Items(view.items.len()),
                losses: Report::default(),
            });
        };
        let mut losses = Report::to_format(api.name());
        let request = request::elements(api, session, view, &mut losses)?;
        // Other losses are reported by rules.
        let content = [Loss::Message, Loss::Part, Loss::Attachment];
        losses.losses.retain(|loss, _| content.contains(loss));
        let findings = check(api, &request.elements, &repair::options_for(&request, options));
        Ok(CheckedSession {
            api: Some(api),
            findings,
            elements: ElementItems::Of(
                request
                    .elements
                    .into_iter()
                    .map(|element| element.items)
                    .collect(),
            ),
            losses,
        })
    }

    /// Returns the violations.
    pub fn each(&self) -> impl Iterator<Item = CheckProblem<'_>> {
        self.findings.iter().map(|finding| CheckProblem {
            api: self.name(),
            rule: finding.rule.id,
            level: finding.level,
            message: &finding.message,
            fix: Some(finding.rule.fix),
            index: Some(finding.index),
            item: self.item(finding),
        })
    }

    /// The item of the view that a finding concerns.
    fn item(&self, finding: &ApiViolation) -> Option<usize> {
        match &self.elements {
            ElementItems::Items(count) => (finding.index < *count).then_some(finding.index),
            ElementItems::Of(elements) => {
                let items = elements.get(finding.index)?;
                items.get(finding.part()).or(items.last()).copied()
            }
        }
    }

    /// Whether there are no violations; with `strict`, not even warnings.
    pub fn is_valid(&self, strict: bool) -> bool {
        !self.findings.iter().any(|finding| strict || finding.is_error())
    }

    /// The name of the API, or `structure`.
    pub fn name(&self) -> &'static str {
        self.api.map_or("structure", Api::name)
    }

    fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_error()).count()
    }

    fn warnings(&self) -> usize {
        self.findings.len() - self.errors()
    }

    /// Summarizes the result in one line.
    pub fn describe(&self) -> String {
        let (errors, warnings) = (self.errors(), self.warnings());
        let mut words = format!(
            "{}, {}: ",
            self.name(),
            count_of(self.elements.len() as u64, "element")
        );
        words.push_str(&match (errors, warnings) {
            (0, 0) => "valid".to_string(),
            (0, _) => format!("valid, {}", count_of(warnings as u64, "warning")),
            _ => {
                let errors = count_of(errors as u64, "error");
                let warnings = count_of(warnings as u64, "warning");
                match self.api {
                    Some(_) => {
                        format!("{errors}, {warnings}; repair with: convo check --fix")
                    }
                    None => format!("{errors}, {warnings}"),
                }
            }
        });
        words
    }
}

/// Finds the locations and ids of view items.
pub struct ItemLocations<'s> {
    session: &'s Session,
    view: &'s View,
    /// Derived ids; computed on first use.
    derived: Option<HashMap<usize, String>>,
    /// The last location, because a message may have many findings.
    last: Option<(usize, Location)>,
}

impl<'s> ItemLocations<'s> {
    pub fn new(session: &'s Session, view: &'s View) -> Self {
        ItemLocations {
            session,
            view,
            derived: None,
            last: None,
        }
    }

    pub fn of(&mut self, item: Option<usize>) -> Location {
        let Some(place) = item else { return (0, None) };
        if let Some((_, location)) = self.last.as_ref().filter(|(known, _)| *known == place) {
            return location.clone();
        }
        let location = self.find(place);
        self.last = Some((place, location.clone()));
        location
    }

    fn find(&mut self, place: usize) -> Location {
        let Some(item) = self.view.items.get(place) else {
            return (0, None);
        };
        let session = self.session;
        let line = match item {
            Item::Line(index) | Item::Edited(index, _) | Item::Summary(index) => Some(*index),
            Item::Inserted(_) => None,
        };
        let own = match item {
            Item::Summary(index) => session
                .record(*index)
                .event()
                .and_then(|event| event.id())
                .map(|id| id.into_owned()),
            _ => item
                .message(session)
                .and_then(|message| Some(message.id()?.into_owned())),
        };
        let id = own.or_else(|| {
            let derived = self
                .derived
                .get_or_insert_with(|| session.derived_ids().collect());
            derived.get(&line?).cloned()
        });
        (line.map_or(0, |line| session.record(line).place.line), id)
    }
}

/// Formats a violation as a line of text.
pub fn line(label: &str, problem: &CheckProblem<'_>, (line, id): Location) -> String {
    let place = if line > 0 {
        format!("{line}:")
    } else {
        String::new()
    };
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let fix = problem.fix.map(|fix| format!("; fix: {fix}"));
    let CheckProblem {
        rule, level, message, ..
    } = problem;
    let text = format!(
        "{label}:{place} {rule} {}: {message}{id}{}",
        level.name(),
        fix.unwrap_or_default()
    );
    format!("{}\n", in_line(&text))
}

/// Encodes a violation as a JSON object.
pub fn finding(label: &str, session: &Session, problem: &CheckProblem<'_>, (line, id): Location) -> String {
    let mut row = serde_json::json!({
        "schema": "convo.check/1", "input": label, "session": session.header_text("id"), "rule": problem.rule,
        "level": problem.level.name(), "api": problem.api, "id": id, "message": problem.message,
    });
    if let Some(index) = problem.index {
        row["index"] = index.into();
    }
    if let Some(fix) = problem.fix {
        row["fix"] = fix.into();
    }
    if line > 0 {
        row["line"] = line.into();
    }
    format!("{row}\n")
}

/// Encodes the result of a session as a JSON object.
pub fn summary(
    label: &str,
    session: &Session,
    checked: &[CheckedSession],
    rules: Option<&RuleCheck<'_>>,
    strict: bool,
) -> String {
    let of_api = |checked: &CheckedSession| {
        serde_json::json!({
            "api": checked.name(), "elements": checked.elements.len(), "errors": checked.errors(),
            "warnings": checked.warnings(),
        })
    };
    let of_rules = |rules: &RuleCheck<'_>| {
        serde_json::json!({
            "api": RULES, "elements": rules.elements, "rules": rules.len(), "failed": rules.failed(),
            "errors": rules.errors(), "warnings": 0,
        })
    };
    let checks: Vec<_> = checked.iter().map(of_api).chain(rules.map(of_rules)).collect();
    let failed = rules.map_or(0, RuleCheck::errors);
    let row = serde_json::json!({
        "schema": "convo.check-summary/1", "input": label, "session": session.header_text("id"),
        "valid": failed == 0 && checked.iter().all(|checked| checked.is_valid(strict)),
        "errors": failed + checked.iter().map(CheckedSession::errors).sum::<usize>(),
        "warnings": checked.iter().map(CheckedSession::warnings).sum::<usize>(), "checks": checks,
    });
    format!("{row}\n")
}

/// Encodes the result of a session as a row of a table.
pub fn row(
    origin: &SessionOrigin,
    checked: &[CheckedSession],
    rules: Option<&RuleCheck<'_>>,
    strict: bool,
    places: &mut ItemLocations<'_>,
) -> String {
    let failed = rules.map_or(0, RuleCheck::errors);
    let of_apis = checked.iter().flat_map(CheckedSession::each);
    let problems: Vec<CheckProblem<'_>> = of_apis
        .chain(rules.into_iter().flat_map(RuleCheck::each))
        .collect();
    let count = |level: Severity| problems.iter().filter(|problem| problem.level == level).count() as u64;
    let has_repair =
        |problem: &&CheckProblem<'_>| HistoryRule::of(problem.rule).is_some_and(HistoryRule::has_repair);
    let is_error = |problem: &&CheckProblem<'_>| problem.level == Severity::Error;
    let first = problems.iter().find(is_error).or(problems.first());
    let violations = SessionViolations {
        api: checked.iter().find_map(|checked| checked.api).map(Api::name),
        is_valid: failed == 0 && checked.iter().all(|checked| checked.is_valid(strict)),
        errors: count(Severity::Error),
        warnings: count(Severity::Warn),
        repairable: problems
            .iter()
            .filter(|problem| problem.api != RULES)
            .filter(has_repair)
            .count() as u64,
        rules: problems.iter().map(|problem| problem.rule.to_string()).collect(),
        first: first.map(|problem| FirstViolation {
            rule: problem.rule.to_string(),
            message: problem.message.to_string(),
            line: Some(places.of(problem.item).0).filter(|line| *line > 0),
        }),
    };
    let row = TableRow::new(flat_tables::CHECKS).with(origin).with(&violations);
    format!("{row}\n")
}
