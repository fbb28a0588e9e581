//! Options that select sessions, shared by commands over many sessions.

use super::times::{TimePoint, when};
use clap::Args;
use convo::format::{Format, native};
use convo::home;
use convo::model::session::Session;

/// Which sessions are selected.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filter")]
pub struct SessionScope {
    /// Only sessions of this project: directory or last part
    ///
    /// The working directory that a session recorded has this last part, or is this directory or one below. A directory
    /// contains a slash; `.` is the current one.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub project: Option<String>,
    /// Only sessions of these programs, e.g. codex,pi
    ///
    /// Names are those of `convo agents` and of formats. Short forms: claude, gemini, roo, copilot, qwen.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = named_program)]
    pub program: Vec<String>,
    /// Only sessions changed since WHEN: 7d, 2w, 2026-11-01
    ///
    /// A duration before now, a date (its start in the local time zone) or an RFC 3339 time. The time of a session is
    /// that of its newest record; sessions without a time are not selected.
    #[arg(long, alias = "newer-than", value_name = "WHEN", value_parser = when)]
    pub since: Option<TimePoint>,
    /// Only sessions last changed before WHEN
    #[arg(long, alias = "older-than", value_name = "WHEN", value_parser = when)]
    pub until: Option<TimePoint>,
}

/// Expands the name of a program; an unknown name is an error with suggestions.
pub fn named_program(name: &str) -> Result<String, String> {
    if let Some(program) = home::program(name) {
        return Ok(program.name.to_string());
    }
    let formats = Format::ALL.into_iter().map(Format::name).map(of_format);
    let known: Vec<&str> = home::program_names().chain(formats).collect();
    match known.contains(&name) {
        true => Ok(name.to_string()),
        false => Err(unknown_program(name, known)),
    }
}

/// The message for an unknown program, with the similar ones of these names.
pub fn unknown_program(name: &str, known: Vec<&str>) -> String {
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| {
            *distance <= 1 + known.len() / 4 || (name.len() > 2 && known.contains(name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().take(3).map(|(_, known)| known).collect();
    match near.as_slice() {
        [] => "unknown program; list programs with: convo agents --help".to_string(),
        near => format!("unknown program; did you mean '{}'?", near.join("' or '")),
    }
}

/// Returns the program of a format.
pub fn of_format(format: &str) -> &str {
    format.strip_suffix("-export").unwrap_or(format)
}

/// Returns the program that wrote a session: the one its header names, else that of its format.
pub fn program_of(session: &Session, format: Format) -> String {
    let program = native::program(session).map(str::to_string);
    let program = program.or_else(|| native::source_format(session));
    of_format(&program.unwrap_or_else(|| format.name().to_string())).to_string()
}

impl SessionScope {
    /// Makes the project absolute if it is a path; a name without a slash is unchanged.
    pub fn make_absolute(&mut self) {
        let Some(project) = &mut self.project else { return };
        if !project.contains('/') && !matches!(project.as_str(), "." | "..") {
            return;
        }
        let absolute = std::fs::canonicalize(&*project).or_else(|_| std::path::absolute(&*project));
        if let Ok(absolute) = absolute {
            *project = crate::output::path_name(&absolute);
        }
    }

    /// Whether sessions of this program are selected. Several programs can share a format.
    pub fn has_program(&self, program: Option<&str>) -> bool {
        let is_of = |wanted: &String| {
            let format = home::program(wanted).and_then(|program| program.format);
            program.is_some_and(|own| own == wanted || format.is_some_and(|format| format.name() == own))
        };
        self.program.is_empty() || self.program.iter().any(is_of)
    }

    /// Whether a session in this working directory is selected, by its last component or a parent directory.
    pub fn has_project(&self, cwd: Option<&str>) -> bool {
        let Some(project) = self.project.as_deref() else {
            return true;
        };
        if !project.contains('/') {
            return project_of(cwd) == Some(project);
        }
        let below = cwd.and_then(|cwd| cwd.strip_prefix(project.trim_end_matches('/')));
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Whether a session of this time is selected; both in seconds since 1970. With a condition, a session without a
    /// time is not selected.
    pub fn has_time(&self, updated: Option<i64>, now: Option<i64>) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        now.zip(updated).is_some_and(|(now, time)| {
            self.until.is_none_or(|until| until.is_after(time, now))
                && self.since.is_none_or(|since| !since.is_after(time, now))
        })
    }
}

/// The last component of a working directory.
pub fn project_of(cwd: Option<&str>) -> Option<&str> {
    let cwd = cwd?.trim_end_matches(['/', '\\']);
    cwd.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_short_forms_and_near_names() {
        assert_eq!(named_program("claude").as_deref(), Ok("claude-code"));
        assert_eq!(named_program("chatgpt").as_deref(), Ok("chatgpt"));
        assert!(
            named_program("clause").unwrap_err().contains("'claude'"),
            "{:?}",
            named_program("clause")
        );
        assert!(named_program("zzzz").unwrap_err().contains("convo agents --help"));
        let scope = SessionScope {
            program: vec!["roo-code".to_string()],
            ..SessionScope::default()
        };
        assert!(scope.has_program(Some("cline-roo")) && scope.has_program(Some("roo-code")));
        assert!(!scope.has_program(Some("cline")) && !scope.has_program(None));
    }

    #[test]
    fn a_project_is_a_directory_or_its_last_part() {
        let of = |project: &str| SessionScope {
            project: Some(project.to_string()),
            ..SessionScope::default()
        };
        assert!(of("/src/api").has_project(Some("/src/api/x")) && of("api").has_project(Some("/src/api/")));
        for (project, cwd) in [
            ("/src/api", "/src/api-docs"),
            ("api", "/api/src"),
            ("/src/api", "/src"),
        ] {
            assert!(!of(project).has_project(Some(cwd)), "{project} {cwd}");
        }
        assert!(!of("api").has_project(None) && SessionScope::default().has_project(None));
    }
}
