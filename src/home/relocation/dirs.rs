//! Directories that are named after a project.

use super::plan::{HomePlan, Problems};
use crate::error::{Error, ErrorKind, Result};
use crate::home::files::Transcript;
use crate::home::gemini_cli::sha256;
use crate::home::listing::{is_absent, names};
use crate::home::places::Home;
use crate::model::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The names of project directories.
#[derive(Clone, Copy, Debug)]
pub enum ProjectDirs {
    /// Not derived from the project.
    None,
    /// Derived from the path.
    Slug(Slug),
    /// The SHA-256 of the path, below these directories.
    Hash(&'static [&'static str]),
}

/// Project directories whose names are derived from the path.
#[derive(Clone, Copy, Debug)]
pub struct Slug {
    /// Their parent directory, relative to the base of the home.
    pub parent: &'static str,
    /// The directory of sessions, relative to the project directory.
    pub below: &'static str,
    /// Returns the directory name of a project.
    pub name: fn(&str) -> String,
}

/// Programs shorten longer names in an unknown way.
const LONGEST: usize = 200;

/// A session in a project directory, and its project.
struct FoundProject<'t> {
    transcript: &'t Transcript,
    project: Option<String>,
}

impl Slug {
    /// Plans the moves of directories in this home.
    pub fn plan(&self, home: &Home, plan: &mut HomePlan, problems: &mut Problems) -> Result<()> {
        let parent = home.base().join(self.parent);
        let files = home.files();
        problems.extend(files.problems);
        let mut dirs: BTreeMap<PathBuf, Vec<FoundProject<'_>>> = BTreeMap::new();
        for transcript in &files.transcripts {
            let dir = self.dir_of(&transcript.path);
            let Some(dir) = dir.filter(|dir| dir.parent() == Some(&parent)) else {
                continue;
            };
            let directory = project(&transcript.path)?;
            let own = directory
                .as_deref()
                .and_then(|directory| self.project(dir, directory));
            let found = FoundProject {
                transcript,
                project: own.map(str::to_string).or(directory),
            };
            dirs.entry(dir.to_path_buf()).or_default().push(found);
        }
        for (dir, found) in dirs {
            self.dir(&parent, &dir, &found, plan, problems)?;
        }
        Ok(())
    }

    /// Returns the project directory of a session file.
    pub(super) fn dir_of<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let dir = path.parent()?;
        match self.below {
            "" => Some(dir),
            below => dir.parent().filter(|_| dir.ends_with(below)),
        }
    }

    /// Returns the nearest ancestor of a working directory that has this project directory: a session may begin in a
    /// subdirectory of its project.
    pub(super) fn project<'d>(&self, dir: &Path, directory: &'d str) -> Option<&'d str> {
        let mut above = Path::new(directory).ancestors().filter_map(Path::to_str);
        above.find(|project| dir.ends_with((self.name)(project)))
    }

    fn dir(
        &self,
        parent: &Path,
        dir: &Path,
        found: &[FoundProject<'_>],
        plan: &mut HomePlan,
        problems: &mut Problems,
    ) -> Result<()> {
        let own = dir.file_name().unwrap_or_default();
        // The new directory of each session; `None` if the session does not move or does not belong to this directory.
        let mut targets: Vec<Option<PathBuf>> = Vec::new();
        for FoundProject { project, transcript } in found {
            let new = project
                .as_deref()
                .and_then(|project| Some((project, plan.renames.path(project)?)));
            let target = new.as_ref().filter(|(old, _)| own == (self.name)(old).as_str());
            if let Some((old, _)) = &new
                && (self.name)(old).len() > LONGEST
            {
                let why = "the name of the directory of such a long project is not known".to_string();
                plan.left.push((dir.to_path_buf(), why));
                return Ok(());
            }
            if new.is_some() && target.is_none() {
                let why = "its directory has the name of another project".to_string();
                plan.left.push((transcript.path.clone(), why));
            }
            let name = target.map(|(_, new)| (self.name)(new));
            if let Some(name) = name.as_ref().filter(|name| name.len() > LONGEST) {
                let why = format!("the name of the new directory is not known: {name}");
                plan.left.push((dir.to_path_buf(), why));
                return Ok(());
            }
            targets.push(name.map(|name| parent.join(name)));
        }
        let Some(first) = targets.iter().flatten().next() else {
            return Ok(());
        };
        let mut known = targets.iter().zip(found);
        let is_whole = known.all(|(target, found)| match &found.project {
            None => true,
            Some(_) => target.as_ref() == Some(first),
        });
        if first == dir {
            return Ok(());
        }
        let part = |path: &Path| {
            let below = path.strip_prefix(parent.parent().unwrap_or(parent));
            format!("/{}", below.unwrap_or(path).display())
        };
        if is_whole && !exists(first)? {
            plan.renames.add_part(part(dir), part(first));
            plan.moves.push((dir.to_path_buf(), first.clone()));
            return Ok(());
        }
        let mut moved: Vec<PathBuf> = Vec::new();
        for (target, found) in targets.iter().zip(found) {
            let Some(target) = target else { continue };
            let place = target.join(self.below);
            for dir in [target, &place] {
                if !plan.makes.contains(dir) && !exists(dir)? {
                    plan.makes.push(dir.clone());
                }
            }
            let path = &found.transcript.path;
            let own = with_sidecars(path, problems).into_iter();
            let own = own.map(|path| (place.join(path.file_name().unwrap_or_default()), path));
            // Subagents are in the directory of the project, in one that is named after the session.
            let below = Path::new("subagents").join(path.file_stem().unwrap_or_default());
            let subagents = (target.join(&below), dir.join(&below));
            let has_subagents = !self.below.is_empty() && exists(&subagents.1)?;
            let (made, emptied) = (target.join("subagents"), dir.join("subagents"));
            if has_subagents && !plan.makes.contains(&made) && !exists(&made)? {
                plan.makes.push(made);
            }
            if has_subagents && !plan.removes.contains(&emptied) {
                plan.removes.push(emptied);
            }
            for (to, path) in own.chain(has_subagents.then_some(subagents)) {
                if exists(&to)? {
                    let error = Error::new(ErrorKind::Exists, format!("{}: already exists", to.display()));
                    return Err(error.hint("nothing was changed; move one of the two away first"));
                }
                plan.renames.add_part(part(&path), part(&to));
                plan.moves.push((path.clone(), to));
                moved.push(path);
            }
        }
        let mut rest = names(dir, problems);
        rest.retain(|name| !moved.contains(&dir.join(name)));
        for name in rest.iter().filter(|name| *name == "memory") {
            let why = "other sessions have it, too, or the new directory is there already".to_string();
            plan.left.push((dir.join(name), why));
        }
        if self.below.is_empty() {
            plan.removes.push(dir.to_path_buf());
        } else {
            plan.removes.extend([dir.join(self.below), dir.to_path_buf()]);
        }
        Ok(())
    }
}

/// Returns the file of a session and the files next to it that share its name.
fn with_sidecars(path: &Path, problems: &mut Problems) -> Vec<PathBuf> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut found = names(dir, problems);
    found.retain(|name| {
        let rest = name.to_str().and_then(|name| name.strip_prefix(stem.as_ref()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    found.into_iter().map(|name| dir.join(name)).collect()
}

/// Returns the first working directory in a log.
fn project(path: &Path) -> Result<Option<String>> {
    let failed = |error| Error::io(path.display(), error).kind(ErrorKind::InputOutput);
    let mut file = BufReader::with_capacity(64 << 10, File::open(path).map_err(failed)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        if let Some(project) = json::member_text(&line, "cwd") {
            return Ok(Some(project.into_owned()));
        }
        line.clear();
    }
    Ok(None)
}

/// Plans the moves of directories named by a hash, and the changes of the hashes.
pub fn hashed(base: &Path, parents: &[&str], plan: &mut HomePlan) -> Result<()> {
    let mut projects = vec![plan.renames.old().to_string()];
    let registry = match std::fs::read(base.join("projects.json")) {
        Err(error) if !is_absent(&error) => {
            return Err(Error::io("projects.json", error).kind(ErrorKind::InputOutput));
        }
        read => read.unwrap_or_default(),
    };
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(&registry) {
        let known = value["projects"].as_object().into_iter().flatten();
        projects.extend(known.map(|(project, _)| project.clone()));
    }
    projects.sort();
    projects.dedup();
    for old in projects {
        let Some(new) = plan.renames.path(&old) else {
            continue;
        };
        let (old, new) = (sha256(&old), sha256(&new));
        for parent in parents {
            let (from, to) = (base.join(parent).join(&old), base.join(parent).join(&new));
            if !exists(&from)? {
                continue;
            }
            if exists(&to)? {
                let error = Error::new(ErrorKind::Exists, format!("{}: already exists", to.display()));
                return Err(error.hint("nothing was changed; move one of the two away first"));
            }
            plan.moves.push((from, to));
        }
        plan.renames.add_whole(old, new);
    }
    Ok(())
}

/// Whether a path exists.
///
/// # Errors
/// [`ErrorKind::InputOutput`] if the path cannot be examined.
fn exists(path: &Path) -> Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(Error::io(path.display(), error).kind(ErrorKind::InputOutput)),
    }
}
