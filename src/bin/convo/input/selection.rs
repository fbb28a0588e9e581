//! Selects sessions of an input: one by `--session`, and by default only the active branch unless `--branch` or
//! `--all-branches` is given. Used by every command.

use super::input_settings::InputSettings;
use convo::error::{Error, ErrorKind};
use convo::filter::branch;
use convo::format::Format;
use convo::model::json;
use convo::model::lineage::{Lineage, SideBranch};
use convo::model::session::Session;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of sessions listed if a name is unknown.
const NAMED: usize = 8;

/// The requested one of several, by number or id.
struct WantedSession<'r> {
    text: &'r str,
    number: Option<usize>,
    seen: usize,
    names: Vec<String>,
    found: bool,
}

impl<'r> WantedSession<'r> {
    fn new(text: &'r str) -> Self {
        WantedSession {
            text,
            number: text.parse().ok(),
            seen: 0,
            names: Vec::new(),
            found: false,
        }
    }

    /// Whether the next session with this id and key is the requested one; if it does not count, only by name.
    fn is(&mut self, names: &[Option<String>; 2], counts: bool) -> bool {
        self.seen += usize::from(counts);
        let mut known = names.iter().flatten();
        let is =
            !self.found && (counts && self.number == Some(self.seen) || known.any(|name| name == self.text));
        self.found |= is;
        if counts && !self.found && self.names.len() < NAMED {
            let name = names.iter().rev().flatten().find(|name| !name.is_empty());
            self.names
                .push(name.map_or_else(|| self.seen.to_string(), Clone::clone));
        }
        is
    }

    fn finish(&self, what: &str) -> convo::Result<()> {
        if self.found {
            return Ok(());
        }
        let message = format!("no {what} '{}'", self.text);
        let more = if self.seen > self.names.len() { ", ..." } else { "" };
        let error = Error::new(ErrorKind::NotFound, message);
        Err(match self.names.is_empty() {
            true => error,
            false if self.seen == 1 => error.hint(format!("the only one is: {}", self.names[0])),
            false => error.hint(format!(
                "choose 1 to {}, or an id: {}{more}",
                self.seen,
                self.names.join(", ")
            )),
        })
    }
}

pub enum Selected {
    Wanted(Session),
    /// Not selected.
    Other(Session),
    /// Kept, because a branch of it may be selected.
    Waits,
}

pub struct SessionSelection<'r> {
    session: Option<WantedSession<'r>>,
    branch: Option<WantedSession<'r>>,
    /// Whether branches and sidechains are distinguished from their session, and whether they are skipped.
    knows_branches: bool,
    leaves_out: bool,
    counts_all: bool,
    /// Whether branches of the current session may be selected.
    chosen: bool,
    /// The ids of the current session and its branches.
    family: HashSet<String>,
    /// The same sessions, kept for a branch that may be selected.
    before: Vec<Session>,
    left: BTreeMap<SideBranch, u64>,
}

impl<'r> SessionSelection<'r> {
    /// The selection for an input of this format. In a record stream each session is independent.
    pub fn new(reading: impl Into<InputSettings<'r>>, format: Format) -> SessionSelection<'r> {
        let InputSettings {
            args,
            include_branches,
            ..
        } = reading.into();
        let session = args.session.as_deref().map(WantedSession::new);
        let knows_branches = args.branch.is_some() || !format.is_lines();
        SessionSelection {
            branch: args.branch.as_deref().map(WantedSession::new),
            knows_branches,
            leaves_out: knows_branches && session.is_none() && !args.all_branches && !include_branches,
            counts_all: args.all_branches,
            chosen: false,
            session,
            family: HashSet::new(),
            before: Vec::new(),
            left: BTreeMap::new(),
        }
    }

    /// Fails if the only session of an input is not the requested one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn only(reading: InputSettings<'r>, session: &Session) -> convo::Result<()> {
        let mut selection = SessionSelection::new(reading, Format::Native);
        selection.is_wanted(names_of(session), Lineage::of(session));
        selection.finish()
    }

    /// Decides about the next session.
    pub fn take(&mut self, session: Session) -> Selected {
        if self.session.is_none() && !self.knows_branches {
            return Selected::Wanted(session);
        }
        let wanted = self.is_wanted(names_of(&session), Lineage::of(&session));
        if self.branch.is_none() {
            return match wanted {
                true => Selected::Wanted(session),
                false => Selected::Other(session),
            };
        }
        match wanted {
            true => Selected::Wanted(branch::complete_branch(
                &std::mem::take(&mut self.before),
                session,
            )),
            false => {
                self.before.extend(self.chosen.then_some(session));
                Selected::Waits
            }
        }
    }

    /// Whether the next session, which has this header, is selected.
    pub fn selects_header(&mut self, header: &[u8]) -> bool {
        let names = ["id", "key"].map(|name| {
            let text = json::member_text(header, name);
            text.map(|text| text.into_owned())
        });
        self.is_wanted(names, Lineage::of_header(header))
    }

    fn is_wanted(&mut self, names: [Option<String>; 2], lineage: Option<Lineage>) -> bool {
        let side_branch = self.side_branch(lineage, names[0].as_deref());
        if let Some(branch) = &mut self.branch {
            return match side_branch {
                None => {
                    let session = self.session.as_mut();
                    self.chosen = session.is_none_or(|session| session.is(&names, true));
                    false
                }
                Some(_) => self.chosen && branch.is(&names, true),
            };
        }
        if let Some(session) = &mut self.session {
            return session.is(&names, self.counts_all || side_branch.is_none());
        }
        match side_branch.filter(|_| self.leaves_out) {
            Some(side_branch) => {
                *self.left.entry(side_branch).or_default() += 1;
                false
            }
            None => true,
        }
    }

    /// How a session relates to an earlier one; none if it is independent.
    fn side_branch(&mut self, lineage: Option<Lineage>, id: Option<&str>) -> Option<SideBranch> {
        if !self.knows_branches {
            return None;
        }
        let of = |lineage: Lineage| {
            let side_branch = lineage.side_branch()?;
            let known = |parent: &String| self.family.contains(parent);
            let extra = lineage.parent.as_ref().map_or(!self.family.is_empty(), known);
            extra.then_some(side_branch)
        };
        let side_branch = lineage.and_then(of);
        if side_branch.is_none() {
            self.family.clear();
            self.before.clear();
        }
        self.family.insert(id.unwrap_or_default().to_string());
        side_branch
    }

    /// Whether no further session can be selected.
    pub fn is_done(&self) -> bool {
        let last = self.branch.as_ref().or(self.session.as_ref());
        last.is_some_and(|wanted| wanted.found)
    }

    /// The number of skipped sessions, by kind.
    pub fn skipped_counts(&self) -> &BTreeMap<SideBranch, u64> {
        &self.left
    }

    /// Checks after the last session that the requested one was found.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], listing existing sessions.
    pub fn finish(&self) -> convo::Result<()> {
        let session = self.session.as_ref();
        session.map_or(Ok(()), |wanted| wanted.finish("session"))?;
        self.branch
            .as_ref()
            .map_or(Ok(()), |wanted| wanted.finish("branch"))
    }
}

/// The current id and key of a session.
fn names_of(session: &Session) -> [Option<String>; 2] {
    ["id", "key"].map(|name| session.header_text(name))
}
