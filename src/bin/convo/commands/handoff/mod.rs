//! `handoff`: continues a session in another program.

mod flatten;
mod handoff_session;
mod install;
mod new_files;
mod new_session;
mod undo;

use super::Run;
use crate::args::{InputArgs, InputLocation, unknown_program};
use crate::context::Context;
use crate::errors::named;
use crate::homes;
use crate::input::{each_session_and_format, operands};
use crate::output::path_name;
use clap::Args;
use convo::error::{Error, ErrorKind};
use convo::format::report::Report;
use convo::format::{self, Format, WritePurpose};
use convo::home::{AcceptMode, HomeProgram, NewSessionInfo, is_plain_id, split_model};
use convo::model::time;
use convo::model::view::View;
use handoff_session::HandoffSession;
use new_session::NewSessionValues;
use std::path::{Path, PathBuf};

/// Continue a session in another program
///
/// Converts a session to the format of another program, with a new id, its working directory and its branch. By default,
/// prints the file, and on standard error the path where it belongs and the command that resumes it. With --install, puts
/// the file there, adds it to the index of the program, and prints the command.
///
/// Nothing is ever replaced. The view of the session is sent; a summary goes along. Signatures and encrypted reasoning are
/// left out. opencode and goose import the file with their own command, which --install runs.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo handoff claude:@last:. --to codex              print the file
  convo handoff claude:@last:. --to codex --install    put it in place
  eval \"$(convo handoff trip --to claude --install)\"   and resume it
  convo handoff trip --to gemini --install -n          report what would be done
  convo handoff --undo 5d1f0a4e-...                    remove it again

Programs: claude-code, codex, gemini-cli, pi, qwen-code, aichat, continue, opencode, goose.")]
pub struct HandoffCommand {
    /// Session: name, PROGRAM:ID, file, or - for standard input
    #[arg(value_name = "SESSION", required_unless_present = "undo")]
    operand: Option<String>,
    /// Program that continues the session
    #[arg(long, value_name = "PROGRAM", value_parser = program, required_unless_present = "undo")]
    to: Option<&'static HomeProgram>,
    /// Put the session in place and print the command that resumes it
    #[arg(long, conflicts_with = "output")]
    install: bool,
    /// Working directory [default: that of the session]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Model, for opencode PROVIDER/MODEL [default: that of the program]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// With --to codex, provider of the model [default: as configured]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Turn reasoning, calls and results into text
    #[arg(long)]
    flatten: bool,
    /// Id of the new session [default: a new one]
    #[arg(long, value_name = "ID", value_parser = plain_id)]
    id: Option<String>,
    /// Remove a session that --install put in place, unless it has changed
    #[arg(long, value_name = "ID", conflicts_with_all = ["operand", "to", "install", "id", "output"])]
    undo: Option<String>,
    /// Write the session to FILE
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: InputArgs,
    /// Report what would be done; change nothing
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Print one object: id, path, losses, resume
    #[arg(long, requires = "install", help_heading = "Output")]
    json: bool,
}

/// Finds a program by its name.
fn program(name: &str) -> Result<&'static HomeProgram, String> {
    convo::home::program(name).ok_or_else(|| unknown_program(name, convo::home::program_names().collect()))
}

/// Checks an id, which becomes part of a path.
fn plain_id(id: &str) -> Result<String, String> {
    match is_plain_id(id) {
        true => Ok(id.to_string()),
        false => Err("expected at most 128 of A-Z a-z 0-9 . _ : -, and neither . nor - first".to_string()),
    }
}

impl Run for HandoffCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(id) = &self.undo {
            return undo::undo(context, id, self.dry_run);
        }
        let (Some(operand), Some(to)) = (&self.operand, self.to) else {
            return Ok(());
        };
        let input = operands::input(context, operand)?;
        let mut found = Vec::new();
        each_session_and_format(
            context,
            std::slice::from_ref(&input),
            &self.reading,
            |label, format, session| {
                found.push((label.to_string(), format, session));
                Ok(())
            },
        )?;
        let (label, from, session) = match found.len() {
            1 => found.remove(0),
            0 => return Err(named(Error::new(ErrorKind::NotFound, "no session"), operand).into()),
            several => {
                let error = Error::usage(format!("{several} sessions"));
                return Err(named(error.hint("select one with --session N"), operand).into());
            }
        };
        self.one(context, to, (&input, &label), from, &session)
    }
}

impl HandoffCommand {
    fn one(
        &self,
        context: &Context,
        to: &'static HomeProgram,
        (input, label): (&InputLocation, &str),
        from: Format,
        session: &convo::model::session::Session,
    ) -> anyhow::Result<()> {
        let view = View::replay(session);
        let project = self.project(input, label, session);
        let Some(target) = to.format.filter(|format| format.spec().is_written()) else {
            let project = project.unwrap_or_else(|_| "DIR".to_string());
            return Err(refused(to, "its sessions are not written", self.id.as_deref(), &project).into());
        };
        let project = project?;
        let built = NewSessionValues {
            project: &project,
            model: self.model.as_deref(),
            keeps_models: target == from,
            renames: target == Format::Opencode,
            flatten: self.flatten,
            id: match &self.id {
                Some(id) => id.clone(),
                None => new_session::new_id(context, target, label)?,
            },
        };
        let title = new_session::title(session);
        let now = context.clock.now();
        let local = time::local(&now).unwrap_or_else(|| now.clone());
        let environment = homes::environment(&|name| std::env::var_os(name));
        let new = NewSessionInfo {
            id: &built.id,
            project: &project,
            title: title.as_deref().unwrap_or("New session"),
            now: (&now, &local),
        };
        let takes = environment.accept_mode(to, new)?;
        let mut choice = match (&self.model, target) {
            (Some(model), Format::Opencode) => split_model(model).unwrap_or_default(),
            _ => environment.choice(to, Path::new(&project)),
        };
        if self.provider.is_some() {
            choice.provider.clone_from(&self.provider);
        }
        if let AcceptMode::Nothing(why) = takes {
            return Err(refused(to, why, None, &project).into());
        }
        if let Some(id) = &self.id {
            refuse_existing(context, to, id, &takes)?;
        }
        let mut session = built.session(session, &view, &now)?;
        let repaired =
            new_session::repair_orphans(&mut session, target, &now).map_err(|error| named(error, label))?;
        let view = View::replay(&session);
        let mut report = Report::to_format(target.name());
        let mut bytes = Vec::new();
        format::write(
            target,
            &session,
            &view,
            WritePurpose::Export,
            &mut bytes,
            &mut report,
        )
        .map_err(|error| named(error, label))?;
        if target == Format::GeminiCli && !new_session::has_question(&bytes) {
            let error = Error::data("no text of the user that Gemini CLI resumes");
            let error = error.hint("start one with a word instead of / or ?");
            return Err(named(error, label).into());
        }
        bytes = match (target, &choice.provider, &choice.model) {
            (Format::Codex, Some(provider), _) => new_session::with_provider(&bytes, provider),
            (Format::Opencode, Some(provider), Some(model)) => {
                new_session::with_model(&bytes, provider, model, from == target)
            }
            (Format::GeminiCli, ..) => new_session::with_last_update(&bytes, &now),
            _ => bytes,
        };
        let losses: Vec<(String, u64)> = report
            .losses
            .iter()
            .map(|(loss, count)| (loss.name().to_string(), *count))
            .collect();
        if self.reading.strict && !losses.is_empty() {
            context.output.report(label, &mut report);
            return Err(named(crate::writing::losses_refused(), label).into());
        }
        let id = new_session::id_in(target, &bytes).unwrap_or(built.id);
        let ready = HandoffSession {
            resume: to.resume_line(&id, Some(&project)),
            model: self.model.as_deref(),
            to,
            from,
            id,
            project,
            bytes,
            losses,
            takes,
        };
        if let Some(changes) = repaired {
            context.output.notice(label, &changes);
        }
        match self.install {
            true => install::install(context, ready, self.dry_run, self.json)?,
            false => self.print(context, &ready)?,
        }
        context.output.report(label, &mut report);
        Ok(())
    }

    /// Prints the file, and the path where it belongs.
    fn print(&self, context: &Context, ready: &HandoffSession<'_>) -> anyhow::Result<()> {
        match &self.output {
            _ if self.dry_run => {}
            Some(path) => new_files::write_new(context, path, &ready.bytes)?,
            None => context.output.stdout(|out| {
                let written = out.write_all(&ready.bytes);
                Ok(written.map_err(|error| Error::io("cannot write", error))?)
            })?,
        }
        let place = match &ready.takes {
            AcceptMode::File(slot) => format!("belongs to: {}", path_name(&slot.path)),
            AcceptMode::Import(command) => format!("import it with: {} FILE", command.join(" ")),
            AcceptMode::Nothing(why) => (*why).to_string(),
        };
        context.output.notice(ready.to.name, &place);
        if let Some(resume) = &ready.resume {
            context
                .output
                .notice(ready.to.name, &format!("resume it with: {resume}"));
        }
        Ok(())
    }

    /// Returns the working directory, which must exist.
    fn project(
        &self,
        input: &InputLocation,
        label: &str,
        session: &convo::model::session::Session,
    ) -> anyhow::Result<String> {
        let kept = || match input {
            InputLocation::Path(path) => homes::project_of(path),
            _ => None,
        };
        let project = match &self.project {
            Some(path) => absolute(path)?,
            None => new_session::project(session).or_else(kept).ok_or_else(|| {
                let error = Error::usage("the session names no working directory");
                named(error.hint("give it with --project DIR"), label)
            })?,
        };
        let project = match project.trim_end_matches('/') {
            "" => "/".to_string(),
            project => project.to_string(),
        };
        match std::fs::metadata(&project) {
            Ok(about) if about.is_dir() => Ok(project),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(project, error).kind(ErrorKind::InputOutput).into())
            }
            _ => {
                let error = Error::new(ErrorKind::NotFound, "no such directory");
                Err(named(error.hint("select another one with --project DIR"), &project).into())
            }
        }
    }
}

fn absolute(directory: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(directory)?;
    path.into_os_string().into_string().map_err(|path| {
        let error = Error::usage("not UTF-8");
        let error = error.hint("programs keep the path as text: rename the directory");
        named(error, &path_name(Path::new(&path))).into()
    })
}

/// Fails if the program has a session with this id elsewhere. A killed run may have written the file itself.
fn refuse_existing(context: &Context, to: &HomeProgram, id: &str, takes: &AcceptMode) -> anyhow::Result<()> {
    let is_own = |path: &Path| matches!(takes, AcceptMode::File(slot) if slot.path == path);
    match homes::names::path_of(context, to, id)?.filter(|path| !is_own(path)) {
        None => Ok(()),
        Some(path) => {
            let error = Error::new(ErrorKind::Exists, format!("already exists: {}", path_name(&path)));
            Err(named(error, &format!("{}:{id}", to.name)).into())
        }
    }
}

/// The error for a program that cannot import sessions, with the command that resumes its own.
fn refused(to: &HomeProgram, why: &str, id: Option<&str>, project: &str) -> Error {
    let error = Error::usage(format!("--to {}: {why}", to.name));
    match to.resume_line(id.unwrap_or("ID"), Some(project)) {
        Some(line) => error.hint(format!("it resumes its own sessions with: {line}")),
        None => error,
    }
}
