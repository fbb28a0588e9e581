//! Finds the homes that exist, by environment and file system.

use super::home_program::{Base, HomePath, HomeProgram};
use super::listing::{is_absent, matching};
use super::table::PROGRAMS;
use crate::error::reason;
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Editors based on Visual Studio Code.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// The process environment.
pub struct Environment<'e> {
    /// Returns the value of a variable.
    pub variable: &'e dyn Fn(&str) -> Option<OsString>,
    /// The current directory.
    pub directory: Option<PathBuf>,
}

/// A location where a program stores sessions.
#[derive(Clone, Debug)]
pub struct Home {
    /// The program.
    pub program: &'static HomeProgram,
    /// The directory, file or database.
    pub root: PathBuf,
    /// The database that a variable names; those in the root do not apply.
    pub database: Option<PathBuf>,
    /// The reason if the home cannot be read.
    pub problem: Option<String>,
}

/// Returns the homes that exist, in the order of the table.
pub fn homes(environment: &Environment<'_>) -> Vec<Home> {
    let mut found: Vec<Home> = Vec::new();
    let mut seen = Vec::new();
    for program in PROGRAMS {
        for root in environment.roots(program) {
            let database = environment.database(program, &root);
            let Some(home) = home(program, root, database) else {
                continue;
            };
            // The same directory under two names is one home.
            let place = std::fs::canonicalize(&home.root).unwrap_or_else(|_| home.root.clone());
            if !seen.contains(&(program.name, place.clone())) {
                seen.push((program.name, place));
                found.push(home);
            }
        }
    }
    found
}

/// Returns the home at a location; `None` if nothing exists there.
fn home(program: &'static HomeProgram, root: PathBuf, database: Option<PathBuf>) -> Option<Home> {
    let is_file = program.layout.iter().all(|(_, path)| path.is_empty());
    let problem = match std::fs::metadata(&root) {
        Err(error) if is_absent(&error) => match &database {
            Some(database) if database.exists() => None,
            _ => Some(blocked(program, &root)?),
        },
        Err(error) => Some(reason(&error)),
        Ok(about) => wrong(&about, is_file),
    };
    Some(Home {
        program,
        root,
        database,
        problem,
    })
}

/// Returns why the directories of a program cannot contain its home, although one of their names exists: a file, or a
/// link to nothing. `None` if the program was not used here.
fn blocked(program: &HomeProgram, root: &Path) -> Option<String> {
    let is_at = |HomePath(_, below): &&HomePath| root.ends_with(below);
    let depth = |HomePath(base, below): &HomePath| {
        // The value of a variable is a directory of the program, too.
        Path::new(below).components().count() + usize::from(matches!(base, Base::Variable(_)))
    };
    let depth = program.places.iter().filter(is_at).map(depth).max()?;
    let (path, about) = root
        .ancestors()
        .take(depth)
        .find_map(|path| Some((path, path.symlink_metadata().ok()?)))?;
    let what = match about.is_symlink() {
        true if !path.exists() => "a link to a missing file",
        _ if !path.is_dir() => "not a directory",
        _ => return None,
    };
    Some(match path == root {
        true => what.to_string(),
        false => format!("{} is {what}", path.file_name()?.to_string_lossy()),
    })
}

fn wrong(about: &Metadata, is_file: bool) -> Option<String> {
    match is_file {
        true if !about.is_file() => Some("not a regular file".to_string()),
        false if !about.is_dir() => Some("not a directory".to_string()),
        _ => None,
    }
}

impl Environment<'_> {
    /// Returns the directory that a variable names; empty and relative values count as unset.
    pub(super) fn directory(&self, name: &str) -> Option<PathBuf> {
        let value = (self.variable)(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    }

    /// Returns the home directory of the user.
    pub fn home(&self) -> Option<PathBuf> {
        self.directory("HOME").or_else(|| self.directory("USERPROFILE"))
    }

    fn bases(&self, base: Base) -> Vec<PathBuf> {
        let home = |below: &str| self.home().map(|home| home.join(below));
        let one = |path: Option<PathBuf>| path.into_iter().collect();
        match base {
            Base::Variable(name) => one(self.directory(name)),
            Base::Home => one(self.home()),
            Base::Data => one(self.directory("XDG_DATA_HOME").or_else(|| home(".local/share"))),
            Base::Config => one(self.directory("XDG_CONFIG_HOME").or_else(|| home(".config"))),
            Base::Here => one(self.directory.clone()),
            Base::Editors => {
                let editors = EDITORS.into_iter().flat_map(|editor| self.editor(editor));
                let server = home(".vscode-server/data/User/globalStorage");
                editors.chain(server).collect()
            }
            Base::Editor(name) => self.editor(name),
        }
    }

    /// Returns the directories in which an editor may store data of all projects.
    fn editor(&self, name: &str) -> Vec<PathBuf> {
        let mac = self.home().map(|home| home.join("Library/Application Support"));
        let bases = self.bases(Base::Config).into_iter().chain(mac);
        bases
            .chain(self.directory("APPDATA"))
            .map(|base| base.join(name).join("User/globalStorage"))
            .collect()
    }

    /// Returns the database that a variable names.
    fn database(&self, program: &HomeProgram, root: &Path) -> Option<PathBuf> {
        let value = (self.variable)(program.database?).filter(|value| !value.is_empty())?;
        Some(root.join(value))
    }

    /// Returns the possible locations of a program's home.
    pub(super) fn roots(&self, program: &HomeProgram) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        for HomePath(base, below) in program.places {
            let bases = self.bases(*base);
            let is_moved = matches!(base, Base::Variable(_)) && !bases.is_empty();
            roots.extend(bases.iter().map(|base| joined(base, below)));
            if is_moved {
                break;
            }
        }
        let mut problems = Vec::new();
        let bases = roots.iter().filter_map(|root| root.parent());
        let profiles: Vec<PathBuf> = bases
            .filter(|_| !program.profiles.is_empty())
            .flat_map(|base| matching(base, program.profiles, &mut problems))
            .collect();
        roots.extend(profiles);
        // A directory that cannot be read is reported as a home that cannot be read.
        roots.extend(problems.into_iter().map(|(path, _)| path));
        roots
    }
}

fn joined(base: &Path, below: &str) -> PathBuf {
    match below {
        "" => base.to_path_buf(),
        below => base.join(below),
    }
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    fn roots(variables: &[(&str, &str)], name: &str) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let environment = Environment {
            variable: &variable,
            directory: Some("/src".into()),
        };
        let roots = environment.roots(program(name).unwrap());
        roots.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn variables_move_homes() {
        let home = ("HOME", "/home/ann");
        assert_eq!(roots(&[home], "claude"), ["/home/ann/.claude/projects"]);
        assert_eq!(
            roots(&[home, ("CLAUDE_CONFIG_DIR", "/c")], "claude"),
            ["/c/projects"]
        );
        assert_eq!(
            roots(&[home, ("CLAUDE_CONFIG_DIR", "")], "claude"),
            ["/home/ann/.claude/projects"]
        );
        assert_eq!(roots(&[home, ("CODEX_HOME", "x")], "codex"), ["/home/ann/.codex"]);
        assert_eq!(
            roots(&[home, ("GEMINI_CLI_HOME", "/g")], "gemini"),
            ["/g/.gemini/tmp"]
        );
        assert_eq!(
            roots(
                &[
                    home,
                    ("PI_CODING_AGENT_DIR", "/p"),
                    ("PI_CODING_AGENT_SESSION_DIR", "/s")
                ],
                "pi"
            ),
            ["/s"]
        );
        assert_eq!(
            roots(&[home, ("XDG_DATA_HOME", "/d")], "goose"),
            ["/d/goose/sessions"]
        );
        assert_eq!(roots(&[("USERPROFILE", "/u")], "qwen"), ["/u/.qwen/projects"]);
        assert_eq!(
            roots(&[home], "aider"),
            ["/src/.aider.chat.history.md", "/home/ann/.aider.chat.history.md"]
        );
        let editors = roots(&[home], "roo");
        assert!(
            editors.len() == 11
                && editors[0].ends_with("/Code/User/globalStorage/rooveterinaryinc.roo-cline")
        );
        assert_eq!(roots(&[], "claude"), [""; 0]);
    }
}
