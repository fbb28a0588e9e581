//! A program that stores sessions: where its home is, and which files in it are sessions and their sidecars.

use crate::format::Format;

/// A program that stores sessions.
#[derive(Debug)]
pub struct HomeProgram {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// A short form of the name.
    pub short: Option<&'static str>,
    /// The format of its sessions; `None` if it cannot be read.
    pub format: Option<Format>,
    /// Formats of files with other name suffixes.
    pub(super) others: &'static [(&'static str, Format)],
    /// A member by which the first record of an older file is recognized, and the format of such files.
    pub(super) older: Option<(&'static str, Format)>,
    /// Possible locations of its home, in order of precedence.
    pub(super) places: &'static [HomePath],
    /// A pattern of the homes of profiles, relative to the parent of the home.
    pub(super) profiles: &'static str,
    /// The variable that names its database: a path, or a name in the home.
    pub(super) database: Option<&'static str>,
    /// Patterns of session files, relative to the home.
    pub(super) layout: &'static [(FileKind, &'static str)],
    /// The source of a session's id.
    pub(super) id: ProgramId,
    /// The sidecars of a session.
    pub(super) sidecars: &'static [CompanionFiles],
    /// Whether some session files are next to the home.
    pub(super) is_wide: bool,
    /// Histories, indexes and settings, relative to the base of the home.
    pub(super) shared: &'static [&'static str],
    /// The command that resumes a session, with `{id}`, and `{dir}` for its project.
    pub(super) resume: &'static str,
}

/// A path relative to a base directory.
#[derive(Debug)]
pub(super) struct HomePath(pub Base, pub &'static str);

/// A base directory, from the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The value of a variable. If it is set, later places do not apply.
    Variable(&'static str),
    /// The home directory of the user.
    Home,
    /// `XDG_DATA_HOME`.
    Data,
    /// `XDG_CONFIG_HOME`.
    Config,
    /// The storage directories of all editors based on Visual Studio Code.
    Editors,
    /// The storage directory of one of these editors.
    Editor(&'static str),
    /// The current directory.
    Here,
}

/// The kind of a file in a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A session.
    Session,
    /// A session that the program has archived.
    Archived,
    /// A session of a subagent.
    Subagent,
    /// A database with sessions.
    Database,
}

/// The source of a session's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramId {
    /// The name of the file without its extension.
    Stem,
    /// The part of the stem after the last underscore.
    AfterUnderscore,
    /// The last 36 characters of the stem.
    Uuid,
    /// The name of the directory.
    Directory,
    /// The name of the nth directory above the file, from 1; for a subagent, of the nearest one.
    Ancestor(usize),
    /// A member of the record.
    Record,
    /// The time at which the session begins, because a file contains many sessions.
    Time,
}

/// Files that belong to a session. `{id}` is its id.
#[derive(Debug)]
pub(super) enum CompanionFiles {
    /// A path relative to the directory of the session.
    Session(&'static str),
    /// A path relative to the parent of that directory.
    AboveSession(&'static str),
    /// A path relative to the home. Sessions in databases have such files, too.
    Home(&'static str),
    /// A path relative to the parent of the home.
    Parent(&'static str),
}

/// A program without locations, as a base for struct update syntax.
pub(super) const BLANK: HomeProgram = HomeProgram {
    name: "",
    short: None,
    format: None,
    others: &[],
    older: None,
    places: &[],
    profiles: "",
    database: None,
    layout: &[],
    id: ProgramId::Stem,
    sidecars: &[],
    is_wide: false,
    shared: &[],
    resume: "",
};
