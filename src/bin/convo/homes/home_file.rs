//! Finds the home that contains a file.

use super::listing::unread_path;
use super::{all, clock};
use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use crate::owner::refuse_other_owner;
use convo::error::{Error, ErrorKind, Result};
use convo::home::{Home, HomeFiles, HomeIndex, RunningMarkers, RunningSign, Transcript};
use convo::model::json;
use std::fs::Metadata;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A session of a home, found by its file.
pub struct HomeFile {
    pub home: Home,
    pub transcript: Transcript,
    subagents: Vec<Transcript>,
    project: Option<String>,
}

impl HomeFile {
    /// Returns the session of this file; `None` if the file is not in a home.
    ///
    /// # Errors
    /// [`ErrorKind::InputOutput`] if the file is in a home that cannot be read.
    pub fn of(path: &Path) -> Result<Option<HomeFile>> {
        let failed = |error| {
            named(
                Error::io("cannot read", error).kind(ErrorKind::InputOutput),
                &path_name(path),
            )
        };
        let about = std::fs::metadata(path).map_err(failed)?;
        let is_it = |other: Metadata| (other.dev(), other.ino()) == (about.dev(), about.ino());
        let real = std::fs::canonicalize(path).map_err(failed)?;
        for home in all() {
            if let Ok(root) = std::fs::canonicalize(&home.root)
                && !real.starts_with(root)
            {
                continue;
            }
            if let Some(why) = &home.problem {
                if real.starts_with(&home.root) {
                    return Err(unread_path(&home.root, why));
                }
                continue;
            }
            let HomeFiles {
                transcripts,
                problems,
            } = home.files();
            for transcript in &transcripts {
                if std::fs::metadata(&transcript.path).map(is_it).map_err(failed)? {
                    let is_below = |file: &Transcript| file.parent.is_some() && file.parent == transcript.id;
                    return Ok(Some(HomeFile {
                        project: project(path),
                        home,
                        subagents: transcripts
                            .iter()
                            .filter(|file| is_below(file))
                            .cloned()
                            .collect(),
                        transcript: transcript.clone(),
                    }));
                }
            }
            // The file may be one of the unreadable ones.
            if let Some((path, why)) = problems.first() {
                return Err(unread_path(path, why));
            }
        }
        Ok(None)
    }

    /// Returns the path of its file relative to the base of its home.
    pub fn path(&self) -> &Path {
        let path = &self.transcript.path;
        path.strip_prefix(self.home.base()).unwrap_or(path)
    }

    /// Fails if a program is writing the session; `force` accepts a session that only changed recently.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] with the reason to consider it running.
    pub fn refuse_running(&self, context: &Context, force: bool) -> Result<()> {
        refuse_other_owner(&self.transcript.path)?;
        let running = RunningMarkers::of(&self.home, clock(context));
        let ids = [self.transcript.id.as_deref(), self.transcript.parent.as_deref()];
        let mut ids: Vec<&str> = ids.into_iter().flatten().collect();
        if ids.is_empty() {
            ids.push("");
        }
        let marks = ids.into_iter().filter_map(|id| {
            running.mark_with_subagents(&self.transcript, id, self.project.as_deref(), &self.subagents)
        });
        match marks
            .into_iter()
            .find(|mark| *mark != RunningSign::Recent || !force)
        {
            None => Ok(()),
            Some(mark) => {
                let error = Error::new(ErrorKind::Locked, format!("session is running: {}", mark.name()));
                let error = error.hint("end the program, or print the result without -i");
                Err(named(error, &path_name(&self.transcript.path)))
            }
        }
    }
}

/// Number of bytes at the beginning of a file that are searched for its project.
const HEAD: u64 = 1 << 20;

/// Returns the project of a session in a home from its index, for sessions whose records do not name it.
pub fn project_of(path: &Path) -> Option<String> {
    let HomeFile { home, transcript, .. } = HomeFile::of(path).ok()??;
    let id = transcript.id.as_deref().unwrap_or_default();
    HomeIndex::of(&home).project(&home, &transcript.path, id, &Vec::new)
}

/// Returns the first working directory in a log.
pub fn project(path: &Path) -> Option<String> {
    let file = BufReader::new(std::fs::File::open(path).ok()?.take(HEAD));
    let mut lines = file.split(b'\n').map_while(std::io::Result::ok);
    lines.find_map(|line| {
        let own = json::member(&line, "cwd").or_else(|| json::member(json::member(&line, "payload")?, "cwd"));
        Some(json::text(own?)?.into_owned())
    })
}
