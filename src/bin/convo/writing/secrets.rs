//! Warns about secrets on pages, which are often published.

use crate::context::Context;
use convo::filter::redact::{Certainty, Redactor, RedactorOptions};
use convo::model::session::Session;
use convo::model::view::View;

/// Counts definite secrets in the messages of a page.
pub fn count(session: &Session, view: &View, hidden: bool) -> u64 {
    let mut redactor = Redactor::new(RedactorOptions {
        level: Certainty::Definite,
        ..RedactorOptions::default()
    });
    let mut found = |body: &[u8]| redactor.redact(body).findings.len() as u64;
    match hidden {
        true => (0..session.len())
            .map(|index| found(session.record(index).body))
            .sum(),
        false => view.items.iter().map(|item| found(item.body(session))).sum(),
    }
}

/// Warns of secrets on a page.
pub fn warn(context: &Context, label: &str, count: u64) {
    let secrets = match count {
        0 => return,
        1 => "1 secret".to_string(),
        count => format!("{count} secrets"),
    };
    let hint = "remove secrets before you share a page: convo redact";
    context
        .output
        .report_with_hint(label, &format!("the page has {secrets}"), hint);
}
