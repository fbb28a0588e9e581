//! Installs a session in another program's directory: writes the file, then the index.

use super::handoff_session::HandoffSession;
use super::new_files::{write_index, write_new};
use super::undo;
use crate::context::Context;
use crate::errors::named;
use crate::homes::complete_changes;
use crate::output::path_name;
use crate::owner::refuse_other_owner;
use crate::programs::database::temporary;
use convo::error::{Error, ErrorKind};
use convo::home::AcceptMode;
use convo::store::{sync_file, temporary_dir};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Installs a session and prints the command that resumes it.
pub fn install(context: &Context, ready: HandoffSession<'_>, is_dry: bool, json: bool) -> anyhow::Result<()> {
    if !is_dry {
        complete_changes(context)?;
    }
    let mut ready = ready;
    let mut path = None;
    match std::mem::replace(&mut ready.takes, AcceptMode::Nothing("")) {
        AcceptMode::File(slot) => {
            refuse_other_owner(&slot.path)?;
            // A killed run may have written the same file.
            let there = std::fs::read(&slot.path).ok();
            let is_there = there.is_some_and(|there| there == ready.bytes);
            if !is_there && slot.path.symlink_metadata().is_ok() {
                return Err(named(
                    Error::new(ErrorKind::Exists, "already exists"),
                    &path_name(&slot.path),
                )
                .into());
            }
            path = Some(slot.path.clone());
            if !is_dry {
                // Record it first, so that it can be undone if anything below fails.
                undo::note(context, &ready, &slot)?;
                for (path, bytes) in slot.extra_files.iter().filter(|(path, _)| !path.exists()) {
                    write_new(context, path, bytes)?;
                }
                if !is_there {
                    write_new(context, &slot.path, &ready.bytes)?;
                }
                if let Some(index) = &slot.index {
                    write_index(context, index)?;
                }
                sync_file(&slot.path).map_err(|error| error.kind(ErrorKind::Unsure))?;
            }
        }
        AcceptMode::Import(command) if !is_dry => import(context, &mut ready, command)?,
        _ => {}
    }
    if let Some(path) = &path {
        let verb = if is_dry { "would write" } else { "written" };
        context
            .output
            .notice(ready.to.name, &format!("{verb}: {}", path_name(path)));
    }
    let resume = ready.resume.clone();
    if json {
        let losses: serde_json::Map<String, Value> = ready
            .losses
            .iter()
            .map(|(loss, count)| (loss.clone(), json!(count)))
            .collect();
        let object = json!({
            "schema": "convo.handoff/1", "from": ready.from.name(), "to": ready.to.name, "id": ready.id,
            "path": path.as_deref().map(path_name), "project": ready.project, "model": ready.model,
            "losses": losses, "resume": resume, "installed": !is_dry,
        });
        return context.output.print_done(&object.to_string());
    }
    match resume {
        Some(line) => context.output.print_done(&line),
        None => Ok(()),
    }
}

/// Runs the program's import command.
fn import(context: &Context, ready: &mut HandoffSession<'_>, command: &[&str]) -> anyhow::Result<()> {
    let dir = temporary_dir().map_err(temporary)?;
    let file = dir.path().join("session.json");
    let printed = write_new(context, &file, &ready.bytes).and_then(|()| {
        let ran = Command::new(command[0])
            .args(&command[1..])
            .arg(&file)
            .current_dir(&ready.project)
            .stdin(Stdio::null())
            .output();
        match ran {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let error = Error::new(
                    ErrorKind::Unavailable,
                    format!("{}: program not found", command[0]),
                );
                Err(error
                    .hint("write the file with -o FILE and import it later")
                    .into())
            }
            Err(error) => Err(Error::io(command[0], error).kind(ErrorKind::Unavailable).into()),
            Ok(output) if !output.status.success() => {
                let text = String::from_utf8_lossy(&output.stderr);
                let why = text.lines().next().unwrap_or_default().to_string();
                Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("{}: {}: {why}", command[0], output.status),
                )
                .into())
            }
            Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        }
    })?;
    // goose assigns its own session id.
    if ready.to.name == "goose" {
        let words = printed.split(|c: char| c.is_whitespace() || "()'\"".contains(c));
        let id = words
            .filter(|word| word.len() > 8 && word.starts_with(|c: char| c.is_ascii_digit()))
            .find(|word| word.contains('_'));
        ready.resume = id.and_then(|id| ready.to.resume_line(id, Some(&ready.project)));
        ready.id = id.unwrap_or(&ready.id).to_string();
    }
    Ok(())
}
