//! Names of sessions in homes: `PROGRAM:ID`, `PROGRAM:@last` and `PROGRAM:@last:DIR`.

use super::home_program::HomeProgram;
use super::table::{PROGRAMS, program};
use crate::error::{Error, ErrorKind, Result};

/// Prefix of a name that never selects a session of the store.
const HOME: &str = "home:";

/// Matches every program.
const ANY: &str = "any";

/// Minimum number of characters of an id prefix.
const MINIMUM: usize = 4;

/// A name of a session in a home.
#[derive(Clone, Debug)]
pub struct Name {
    /// The program; `None` matches any.
    pub program: Option<&'static HomeProgram>,
    /// The selected session.
    pub wanted: SelectedId,
    /// Whether the name has the prefix `home:`, so that sessions of the store do not take precedence.
    pub is_home: bool,
}

/// The session to select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectedId {
    /// The session whose id has this prefix.
    Id(String),
    /// The newest one.
    Last,
    /// The newest one of a project.
    LastOf(String),
}

impl Name {
    /// Parses a name; `None` if it is not the name of a session in a home.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the prefix of an id is too short, [`ErrorKind::Usage`] if `home:` precedes another name.
    pub fn read(text: &str) -> Result<Option<Name>> {
        let (rest, is_home) = match text.strip_prefix(HOME) {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let parts = rest
            .split_once(':')
            .filter(|(name, _)| *name == ANY || program(name).is_some());
        let Some((name, session)) = parts else {
            return match is_home {
                false => Ok(None),
                true => {
                    let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
                    let error = Error::usage("expected home:PROGRAM:ID");
                    Err(error.hint(format!("programs: {}", names.join(", "))))
                }
            };
        };
        let wanted = match session.strip_prefix("@last") {
            Some("") => SelectedId::Last,
            Some(project) if project.starts_with(':') && project.len() > 1 => {
                SelectedId::LastOf(project[1..].to_string())
            }
            _ if session.chars().count() < MINIMUM => {
                let error = Error::new(ErrorKind::NotFound, "no such session");
                return Err(error.hint(format!("give at least {MINIMUM} characters of the id")));
            }
            _ => SelectedId::Id(session.to_string()),
        };
        Ok(Some(Name {
            program: program(name),
            wanted,
            is_home,
        }))
    }

    /// Whether the name selects sessions of this program.
    pub fn is_of(&self, program: &HomeProgram) -> bool {
        self.program.is_none_or(|own| own.name == program.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_program() {
        let read = |text: &str| Name::read(text).unwrap();
        let name = read("claude:4c2d").unwrap();
        assert_eq!(
            (name.program.unwrap().name, name.wanted),
            ("claude-code", SelectedId::Id("4c2d".to_string()))
        );
        assert_eq!(read("any:@last").unwrap().wanted, SelectedId::Last);
        assert!(read("any:@last").unwrap().program.is_none());
        assert_eq!(
            read("pi:@last:/a:b").unwrap().wanted,
            SelectedId::LastOf("/a:b".to_string())
        );
        assert!(read("home:codex:019e").unwrap().is_home);
        for other in ["trip", "agent:main:main", "@last", "@id:x", "clause:4c2d"] {
            assert!(read(other).is_none(), "{other}");
        }
        assert_eq!(Name::read("claude:4").unwrap_err().kind, ErrorKind::NotFound);
        assert_eq!(Name::read("home:trip").unwrap_err().kind, ErrorKind::Usage);
    }
}
