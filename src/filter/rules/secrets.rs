//! `no_secrets`: secrets in any part of a message.

use super::subject::Subject;
use super::violation::Violation;
use crate::filter::redact::{Certainty, Redactor, RedactorOptions};
use serde::Deserialize;

/// The least certain findings.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { level = \"definite\" }")]
pub struct NoSecrets {
    #[serde(default)]
    level: LevelName,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LevelName {
    Definite,
    #[default]
    Likely,
}

impl NoSecrets {
    pub fn check(&self, subject: &Subject<'_>) -> Vec<Violation> {
        let level = match self.level {
            LevelName::Definite => Certainty::Definite,
            LevelName::Likely => Certainty::Likely,
        };
        let mut redactor = Redactor::new(RedactorOptions {
            level,
            ..RedactorOptions::default()
        });
        let mut violations = Vec::new();
        for (item, own) in subject.view.items.iter().enumerate() {
            for finding in redactor.redact(own.body(subject.session)).findings {
                let secret = finding.secret;
                let message = format!(
                    "{} secret of kind {}, {} bytes",
                    secret.level.name(),
                    secret.kind,
                    secret.length
                );
                violations.push(Violation::new(Some(item), message));
            }
        }
        violations
    }
}
