//! Checks a directory of another system.

use crate::context::Context;
use crate::errors::named;
use crate::output::{count_of, in_line, path_name};
use convo::error::{Error, ErrorKind, Position};
use convo::format::Format;
use convo::store::foreign::{
    DirectoryCheckOptions, DirectoryProblem, SYSTEMS, check, system_of, system_of_format,
};
use convo::store::sync_directory_names;
use std::path::Path;

/// The options of a check.
pub struct DirectoryCheck<'f> {
    pub context: &'f Context,
    pub from: Option<Format>,
    pub repair: bool,
    pub force: bool,
    pub json: bool,
}

impl DirectoryCheck<'_> {
    /// Checks the directory; returns the number of remaining problems.
    pub fn check(&self, path: &Path) -> anyhow::Result<u64> {
        let label = path_name(path);
        let checked = self.run(path, &label);
        checked.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => named(error, &label).into(),
            Err(error) => error,
        })
    }

    fn run(&self, path: &Path, label: &str) -> anyhow::Result<u64> {
        let context = self.context;
        let system = match self.from {
            Some(format) => {
                system_of_format(format).ok_or_else(|| unknown("this format has no directories"))?
            }
            None => system_of(path)?
                .ok_or_else(|| unknown("not a directory of a known system: contains no session"))?,
        };
        let options = DirectoryCheckOptions {
            repair: self.repair.then(|| context.clock.now()),
            lock_timeout: context.lock_timeout(),
            force: self.force,
        };
        let (mut found, mut mendable, mut failed) = (0, false, None);
        // Repairs are reported after they are done.
        let mut repaired = Vec::new();
        let checked = check(path, system, &options, &mut |finding| {
            found += 1;
            mendable |= finding.remedy.is_some();
            match self.repair {
                true => repaired.push(finding),
                false => failed = failed.take().or(self.print(label, &finding).err()),
            }
        });
        // Also syncs the repairs of a run that died before its sync.
        let synced = if self.repair {
            sync_directory_names(path)
        } else {
            Ok(())
        };
        for finding in &repaired {
            failed = failed.take().or(self.print(label, finding).err());
        }
        let checked = checked?;
        synced.map_err(|error| error.kind(ErrorKind::Unsure))?;
        if let Some(error) = failed {
            return match self.repair {
                true => context.output.done(Err(error)),
                false => Err(error),
            };
        }
        let mut left = found;
        if self.repair && mendable {
            left = 0;
            let again = DirectoryCheckOptions {
                repair: None,
                ..options
            };
            check(path, system, &again, &mut |_| left += 1).map_err(|error| error.kind(ErrorKind::Unsure))?;
        }
        let mut words = format!(
            "{}, {}: ",
            count_of(checked.sessions, "session"),
            count_of(checked.bytes, "byte")
        );
        words.push_str(&match (found, left) {
            (0, _) => "no problems".to_string(),
            (_, 0) => format!("{}, all repaired", count_of(found, "problem")),
            _ if self.repair => format!("{}, {left} left", count_of(found, "problem")),
            _ => count_of(found, "problem"),
        });
        if mendable && !self.repair {
            words.push_str("; repair them with: convo fsck --repair");
        }
        context.output.notice(label, &words);
        Ok(left)
    }

    fn print(&self, label: &str, found: &DirectoryProblem) -> anyhow::Result<()> {
        let Position { line, offset } = found.place;
        let file = match found.file.as_str() {
            "" => label.to_string(),
            file => path_name(&Path::new(label).join(file)),
        };
        if self.json {
            let mut row = serde_json::json!({
                "schema": "convo.fsck/1", "trouble": found.problem.name(), "file": file, "what": found.what,
            });
            if line > 0 {
                row["line"] = line.into();
                row["offset"] = offset.into();
            }
            if let Some(remedy) = found.remedy {
                row["remedy"] = remedy.into();
                row["mended"] = self.repair.into();
            }
            return self.context.output.print(&row.to_string());
        }
        let place = match line {
            0 => " ".to_string(),
            _ => format!("{line}: byte {offset}: "),
        };
        let remedy = match found.remedy {
            Some(remedy) if self.repair => format!("; {remedy}"),
            None if self.repair => "; not repaired".to_string(),
            _ => String::new(),
        };
        let text = format!("{file}:{place}{}: {}{remedy}", found.problem.name(), found.what);
        self.context.output.print(&in_line(&text))
    }
}

fn unknown(what: &str) -> Error {
    let options = SYSTEMS.map(|system| format!("--from {}", system.format().name()));
    Error::usage(what).hint(format!("give the system with {}", options.join(" or ")))
}
