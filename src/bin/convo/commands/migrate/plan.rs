//! Plans the migration of each session and formats its row in the report.

use super::inspect::{ExaminedFile, FoundSession, Refusal};
use super::target::MigrationTarget;
use super::target_state::{TargetState, TargetUpdate};
use super::transfer::RecentFiles;
use super::update;
use crate::context::Context;
use crate::output::path_name;
use crate::terminal::table::Cell;
use convo::error::{Error, ErrorKind};
use convo::model::json;
use std::collections::HashMap;

/// The outcome for a session or file, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MigrationOutcome {
    Skipped,
    Migrated,
    /// New lines of the source are appended to the stored session.
    Updated,
    /// Nothing is recoverable; a notice takes the session's place.
    Notice,
    NotASession,
    Damaged,
    Conflict,
    Failed,
}

impl MigrationOutcome {
    /// All outcomes, in the order of the summary.
    pub const ALL: [MigrationOutcome; 8] = [
        MigrationOutcome::Migrated,
        MigrationOutcome::Updated,
        MigrationOutcome::Notice,
        MigrationOutcome::Skipped,
        MigrationOutcome::Conflict,
        MigrationOutcome::Damaged,
        MigrationOutcome::NotASession,
        MigrationOutcome::Failed,
    ];

    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            MigrationOutcome::Skipped => "skipped",
            MigrationOutcome::Migrated => "migrated",
            MigrationOutcome::Updated => "updated",
            MigrationOutcome::Notice => "notice",
            MigrationOutcome::NotASession => "not-a-session",
            MigrationOutcome::Damaged => "damaged",
            MigrationOutcome::Conflict => "conflict",
            MigrationOutcome::Failed => "failed",
        }
    }

    /// Whether the session is written as a new one.
    pub const fn is_new(self) -> bool {
        matches!(self, MigrationOutcome::Migrated | MigrationOutcome::Notice)
    }

    /// Whether the target has everything that the source has of the session.
    pub const fn is_complete(self) -> bool {
        matches!(
            self,
            MigrationOutcome::Skipped | MigrationOutcome::Migrated | MigrationOutcome::Updated
        )
    }
}

/// One session of one file.
pub struct MigrationStep {
    pub file: usize,
    pub nth: usize,
    pub outcome: MigrationOutcome,
    pub error: Option<Error>,
    /// The update, if the outcome is [`MigrationOutcome::Updated`].
    pub update: Option<TargetUpdate>,
}

impl MigrationStep {
    /// Records an error: a name that was taken in the meantime is a conflict, everything else a failure.
    pub fn fail(&mut self, error: Error) {
        self.outcome = if error.kind == ErrorKind::Exists {
            MigrationOutcome::Conflict
        } else {
            MigrationOutcome::Failed
        };
        self.error = Some(error);
    }
}

/// The sessions that use an id: file and session index of the first, and of the first one with different content.
struct IdClaim<'e> {
    first: (usize, usize),
    fingerprint: &'e str,
    other: Option<(usize, usize)>,
}

/// A step for each session, before its content is compared.
fn all_steps(examined: &[ExaminedFile], target: Option<&MigrationTarget<'_>>) -> Vec<MigrationStep> {
    let mut steps = Vec::new();
    for (file, examined) in examined.iter().enumerate() {
        for (nth, found) in examined.found.iter().flatten().enumerate() {
            let outcome = if found.notice {
                MigrationOutcome::Notice
            } else {
                MigrationOutcome::Migrated
            };
            let mut step = MigrationStep {
                file,
                nth,
                outcome,
                error: None,
                update: None,
            };
            if let Some(MigrationTarget::Foreign(foreign)) = target
                && let Err(error) = foreign.generated_files(file, nth)
            {
                step.fail(error);
            }
            steps.push(step);
        }
    }
    steps
}

/// The sessions that claim each id or target file.
fn id_claims<'e>(
    examined: &'e [ExaminedFile],
    steps: &[MigrationStep],
    target: Option<&'e MigrationTarget<'_>>,
) -> HashMap<&'e str, IdClaim<'e>> {
    let mut claims: HashMap<&str, IdClaim<'_>> = HashMap::new();
    // Sessions take precedence over notices.
    for outcome in [MigrationOutcome::Migrated, MigrationOutcome::Notice] {
        for step in steps.iter().filter(|step| step.outcome == outcome) {
            let Ok(found) = &examined[step.file].found else {
                continue;
            };
            let found = &found[step.nth];
            let (name, fingerprint) = claimed(found, step, target);
            let claim = claims.entry(name).or_insert(IdClaim {
                first: (step.file, step.nth),
                fingerprint,
                other: None,
            });
            let differs = claim.fingerprint != fingerprint && !found.notice;
            if claim.other.is_none() && differs {
                claim.other = Some((step.file, step.nth));
            }
        }
    }
    claims
}

/// Decides the outcome of every session. Different sessions with the same id in two files conflict; copies of a session
/// are migrated once. A notice is skipped if a session has its id.
pub fn decide(
    examined: &[ExaminedFile],
    target: Option<&MigrationTarget<'_>>,
    recent: &RecentFiles<'_>,
    context: &Context,
    updates: bool,
) -> Vec<MigrationStep> {
    let mut steps = all_steps(examined, target);
    let claims = id_claims(examined, &steps, target);
    for step in steps.iter_mut().filter(|step| step.outcome.is_new()) {
        let Ok(own) = &examined[step.file].found else {
            continue;
        };
        let own = &own[step.nth];
        let (what, fingerprint) = claimed(own, step, target);
        let Some(claim) = claims.get(what) else { continue };
        if let (Some(other), false) = (claim.other, own.notice) {
            let first = claim.fingerprint != fingerprint;
            let other = if first { claim.first } else { other };
            let name = path_name(&examined[other.0].path);
            step.fail(
                Error::new(
                    ErrorKind::Exists,
                    match target {
                        Some(MigrationTarget::Foreign(_)) => {
                            format!("{name} has the same target file {what}")
                        }
                        _ => format!("conflict: {name} contains a different session {what}"),
                    },
                )
                .hint("import one of them, or both to different stores"),
            );
        } else if claim.first != (step.file, step.nth) {
            step.outcome = MigrationOutcome::Skipped;
        } else if let Some(target) = target {
            match update::compare_target(
                target,
                (step.file, step.nth),
                &examined[step.file],
                recent,
                context,
            ) {
                Ok(TargetState::New) => {}
                Ok(TargetState::Grown(_)) if own.notice => step.outcome = MigrationOutcome::Skipped,
                Ok(TargetState::Grown(_)) if !updates => step.fail(
                    Error::new(
                        ErrorKind::Exists,
                        format!("the source has more messages than session {what}"),
                    )
                    .hint("append them without --no-update"),
                ),
                Ok(TargetState::Grown(update)) => {
                    step.outcome = MigrationOutcome::Updated;
                    step.update = Some(update);
                }
                Ok(TargetState::There) => step.outcome = MigrationOutcome::Skipped,
                Ok(TargetState::Other) if own.notice => step.outcome = MigrationOutcome::Skipped,
                Ok(TargetState::Other) => step.fail(
                    Error::new(
                        ErrorKind::Exists,
                        match target {
                            MigrationTarget::Store(_) => {
                                format!("conflict: stored session {what} has different content")
                            }
                            _ => format!("conflict: the file of session {what} has different content"),
                        },
                    )
                    .hint("write elsewhere with --output-dir"),
                ),
                Err(error) => step.fail(error),
            }
        }
    }
    steps
}

/// Returns the name that a session claims in the target, and the hash that identifies equal sessions.
fn claimed<'s>(
    found: &'s FoundSession,
    step: &MigrationStep,
    target: Option<&'s MigrationTarget<'_>>,
) -> (&'s str, &'s str) {
    match target {
        Some(MigrationTarget::Foreign(foreign)) => foreign
            .generated_files(step.file, step.nth)
            .map_or(("", ""), |built| (built.name(), built.digest())),
        _ => (&found.id, &found.fingerprint),
    }
}

/// The steps of one file; steps are in the order of the files.
pub fn of_file(steps: &[MigrationStep], file: usize) -> &[MigrationStep] {
    let start = steps.partition_point(|step| step.file < file);
    let end = steps.partition_point(|step| step.file <= file);
    &steps[start..end]
}

/// The report on one file.
pub struct FileRow<'e> {
    examined: &'e ExaminedFile,
    pub outcome: MigrationOutcome,
    sessions: Vec<SessionReport<'e>>,
}

struct SessionReport<'e> {
    id: &'e str,
    messages: u64,
    outcome: MigrationOutcome,
    /// The target files, if the name differs from the id.
    files: &'e [String],
}

/// Builds the row of a file from the steps of its sessions.
pub fn row<'e>(
    examined: &'e ExaminedFile,
    steps: &[MigrationStep],
    files: &dyn Fn(&MigrationStep) -> &'e [String],
) -> FileRow<'e> {
    let outcome = match &examined.found {
        Err(Refusal::NotASession(_)) => MigrationOutcome::NotASession,
        Err(Refusal::Damaged(_)) => MigrationOutcome::Damaged,
        Err(Refusal::Failed(_)) => MigrationOutcome::Failed,
        Ok(_) => steps
            .iter()
            .map(|step| step.outcome)
            .max()
            .unwrap_or(MigrationOutcome::Skipped),
    };
    let sessions = steps
        .iter()
        .filter_map(|step| {
            let found = examined.found.as_ref().ok()?.get(step.nth)?;
            Some(SessionReport {
                id: &found.id,
                messages: found.messages,
                outcome: step.outcome,
                files: files(step),
            })
        })
        .collect();
    FileRow {
        examined,
        outcome,
        sessions,
    }
}

impl FileRow<'_> {
    /// Columns: outcome, path, id, messages.
    pub fn cells(&self, dry_run: bool) -> Vec<Cell> {
        let path = path_name(&self.examined.path);
        let outcome = match (self.outcome, dry_run) {
            (MigrationOutcome::Migrated, true) => "would-migrate",
            (MigrationOutcome::Updated, true) => "would-update",
            (MigrationOutcome::Notice, true) => "would-notice",
            (outcome, _) => outcome.name(),
        };
        let id = match self.sessions.as_slice() {
            [] => "-".to_string(),
            [one] => one.id.to_string(),
            several => format!("{} sessions", several.len()),
        };
        let messages: u64 = self.sessions.iter().map(|one| one.messages).sum();
        vec![
            Cell::Text(outcome.to_string()),
            Cell::Text(path),
            Cell::Text(id),
            Cell::Number(Some(messages)),
        ]
    }

    /// Encodes the row as an object.
    pub fn json(&self) -> String {
        let damage = self
            .examined
            .findings
            .iter()
            .filter(|finding| finding.damage)
            .count();
        let losses: std::collections::BTreeMap<_, _> = self
            .examined
            .losses
            .iter()
            .map(|(loss, count)| (loss.name(), count))
            .collect();
        let sessions: Vec<_> = self
            .sessions
            .iter()
            .map(|one| {
                let mut reported = serde_json::json!({
                    "id": one.id, "messages": one.messages, "outcome": one.outcome.name(),
                });
                if !one.files.is_empty() {
                    reported["files"] = one.files.into();
                }
                reported
            })
            .collect();
        let mut row = serde_json::json!({
            "schema": "convo.migrate/1", "source": path_name(&self.examined.path),
            "format": self.examined.format.map(convo::format::Format::name), "outcome": self.outcome.name(),
            "sessions": sessions, "damage": damage, "losses": losses,
        });
        if let Some(from) = self.from() {
            row["from"] = from;
        }
        row.to_string()
    }

    /// The number of messages from each file, if the session was assembled from several.
    fn from(&self) -> Option<serde_json::Value> {
        let [found] = self.examined.found.as_deref().ok()? else {
            return None;
        };
        let source = json::member(&found.header, "source").filter(|_| found.has_new_header)?;
        serde_json::from_slice(json::member(source, "salvaged")?).ok()
    }
}
