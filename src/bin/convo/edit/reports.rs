//! Reports about the sessions of inputs, which are printed once an input is complete.

use crate::errors::of_session;
use convo::model::session::Session;

/// The report about an unchanged session; empty without a reason, because an error was reported instead.
pub fn describe_unchanged(why: &str) -> String {
    match why.is_empty() {
        true => String::new(),
        false => format!("unchanged: {why}"),
    }
}

/// What to report about each session.
#[derive(Default)]
pub struct EditReports(Vec<EditReport>);

struct EditReport {
    /// The name of the input.
    label: String,
    /// The session's id, if it has one.
    id: Option<String>,
    what: String,
}

impl EditReports {
    /// Adds a report; an empty one says nothing.
    pub fn add(&mut self, label: &str, session: &Session, what: String) {
        self.0.push(EditReport {
            label: label.to_string(),
            id: session.header_text("id"),
            what,
        });
    }

    /// Passes the name of the input and each report to `print`. If an input has several sessions, the report names its own.
    pub fn print(self, mut print: impl FnMut(&str, &str)) {
        for of_input in self.0.chunk_by(|one, next| one.label == next.label) {
            for report in of_input.iter().filter(|report| !report.what.is_empty()) {
                let id = report.id.as_deref().filter(|_| of_input.len() > 1);
                print(&report.label, &of_session(id, &report.what));
            }
        }
    }
}
