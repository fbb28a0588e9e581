//! `key`: derives session keys from chats, users and tenants.

mod json_objects;
mod options;

use super::Run;
use crate::context::Context;
use crate::errors::named;
use crate::key_args::key_settings;
use crate::output::{in_line, path_name};
use clap::Args;
use convo::error::{Error, ErrorKind, Position};
use convo::model::json::{self, ObjectBuilder};
use convo::model::scope::tenant_scope::{Owner, OwnerParts, Paths};
use convo::model::scope::{
    InboundMessage, KeyAnswer, KeyForm, KeyRequest, Scope, ScopeSettings, main_key, signature,
};
use json_objects::Objects;
use options::{ConversationArgs as Whence, OwnerArgs};
use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Refusals and warnings that are printed; the others are counted.
const MAX_LISTED: u64 = 10;

/// Derive a session key from a chat, user or tenant
///
/// Derives a stable session name from agent, channel, chat and sender, or from tenant, user and session:
/// `convo append "$(convo key ...)"`. Equal identities give equal keys, different ones different keys. Without identity
/// options, reads JSON objects and prints one key per object (an empty line if there is none). An object is a scope
/// (agent_id, channel, account, dimensions, values), a message (channel, chat_id, sender_id, ...), or has tenant_id,
/// user_id and session_id.
///
/// The default form is readable, `scope1.channel-telegram.chat-direct__123`, or a hash if longer than 128 bytes. --form
/// derives keys of PicoClaw or PenguiFlow, in which identities can collide; --explain reports collisions.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  key=$(convo key --channel telegram --chat 123 --sender 456)
  convo new --key \"$key\" --if-missing && convo append \"$key\" 'Hello'
  convo key --dm-scope per-peer --channel slack --chat D1 --sender U1 --explain
  convo key --tenant acme --user ann --session web-7
  convo key --tool-context tool.json --user-path auth.user --require-explicit
  convo key --form picoclaw < contexts.jsonl > keys
  convo key --json --channel cli | convo new --scope @- --if-missing
  convo key --parse scope1.channel-telegram.chat-direct__123")]
pub struct KeyCommand {
    /// JSON objects [default: -]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    #[command(flatten)]
    whence: Whence,
    #[command(flatten)]
    whose: OwnerArgs,
    /// Use the main session of the agent
    #[arg(long, conflicts_with_all = ["file", "tool_context", "channel", "chat", "sender", "session"], help_heading = "Conversation")]
    main: bool,
    /// Key syntax: convo, picoclaw, penguiflow [default: convo]
    #[arg(long, value_name = "FORM", default_value = "convo", value_parser = ["convo", "picoclaw", "penguiflow"])]
    #[arg(
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    form: String,
    /// Print key, scope, signature and aliases as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Report identities that could share the key
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Stop at the first object without key
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    strict: bool,
    /// Print the identity in a key as JSON
    #[arg(long, value_name = "KEY", exclusive = true, help_heading = "Output")]
    parse: Option<String>,
}

impl Run for KeyCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        if let Some(key) = &self.parse {
            return context.output.print(&parsed(key)?);
        }
        let form = KeyForm::from_name(&self.form).unwrap_or_default();
        if self.main {
            let agent = self.whence.agent.as_deref().unwrap_or_default();
            let answer = KeyAnswer {
                key: main_key(agent, form)?,
                aliases: vec![signature::main_alias(
                    &convo::model::scope::picoclaw_normalize::agent(agent),
                )],
                ..KeyAnswer::default()
            };
            return self.print(context, &answer, form);
        }
        let settings = ScopeSettings {
            inbound: self.whence.inbound(),
            dimensions: self.whence.dimensions()?,
            links: self.whence.links()?,
            owner: self.whose.given(),
            default_owner: self.whose.defaults(),
            ..key_settings(context)?
        };
        if self.whence.is_given() && (self.whose.is_given() || self.whose.tool_context.is_some()) {
            let error =
                Error::usage("options of a conversation conflict with --tenant, --user and --session");
            return Err(error.hint("identify the session by one of the two").into());
        }
        let mut requests = KeyRequests {
            key: &self,
            context,
            form,
            settings,
            warned: HashSet::new(),
            without: 0,
        };
        if let (Some(path), file) = (&self.whose.tool_context, &self.file) {
            if file.is_some() {
                return Err(Error::usage("--tool-context conflicts with FILE").into());
            }
            let paths = self.whose.paths();
            return requests.each(path, |object| tool_context(object, &paths));
        }
        if let Some(path) = &self.file {
            return requests.each(path, |object| KeyRequest::read(object));
        }
        if self.whence.is_given() {
            return requests.one(&KeyRequest::Inbound(Box::<InboundMessage<'_>>::default()));
        }
        if self.whose.is_given() {
            return requests.one(&KeyRequest::Owner(OwnerParts::default()));
        }
        requests.each(&PathBuf::from("-"), |object| KeyRequest::read(object))
    }
}

/// Reads the owner of a session from the context of a tool call.
fn tool_context<'o>(object: &'o [u8], paths: &Paths) -> convo::Result<KeyRequest<'o>> {
    if let Err(fault) = json::value_end(object, 0, json::Dialect::Strict) {
        return Err(Error::data(format!("not a JSON object: {}", fault.what)));
    }
    if object.first() != Some(&b'{') {
        return Err(Error::data("not a JSON object"));
    }
    paths.find(object).map(KeyRequest::Owner)
}

/// Decodes a key into JSON; [`ErrorKind::No`] if it contains no identity.
fn parsed(key: &str) -> convo::Result<String> {
    let bytes = if let Some(scope) = Scope::of_key(key) {
        scope.write()
    } else if let Some(owner) = Owner::of_key(key) {
        owner.write()
    } else if let Some((agent, rest)) = signature::legacy(key) {
        let mut object = ObjectBuilder::default();
        object.text("agent_id", agent).text("rest", rest);
        object.finish()
    } else {
        let error = Error::new(ErrorKind::No, format!("{key}: contains no identity"));
        return Err(
            match convo::model::scope::is_hashed(key) || signature::is_opaque(key) {
                true => error.hint("the key is a hash"),
                false => error,
            },
        );
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct KeyRequests<'k> {
    key: &'k KeyCommand,
    context: &'k Context,
    form: KeyForm,
    settings: ScopeSettings,
    /// Warnings that were already printed.
    warned: HashSet<String>,
    /// The number of requests without a key.
    without: u64,
}

impl KeyRequests<'_> {
    /// Answers a request from command-line options.
    fn one(&mut self, requested: &KeyRequest<'_>) -> anyhow::Result<()> {
        self.warn(requested, "");
        match requested.answer(self.form, &self.settings)? {
            Some(answer) => self.key.print(self.context, &answer, self.form),
            None => Err(self.no_session().into()),
        }
    }

    /// Answers each request of a file with one line.
    fn each(
        &mut self,
        path: &PathBuf,
        read: impl for<'o> Fn(&'o [u8]) -> convo::Result<KeyRequest<'o>>,
    ) -> anyhow::Result<()> {
        let label = if path.as_os_str() == "-" {
            "-".to_string()
        } else {
            path_name(path)
        };
        let input: Box<dyn std::io::Read> = if path.as_os_str() == "-" {
            if std::io::stdin().is_terminal() {
                let error = Error::usage("no session given: standard input is a terminal");
                return Err(error.hint("see: convo key --help").into());
            }
            Box::new(std::io::stdin())
        } else {
            let file = std::fs::File::open(path).map_err(Error::open);
            Box::new(file.map_err(|error| named(error, &label))?)
        };
        let mut objects = Objects::new(input);
        let output = &self.context.output;
        output.stdout(|out| {
            let mut number = 0_u64;
            loop {
                if !objects.has_more() {
                    out.flush().map_err(|error| Error::io("cannot write", error))?;
                }
                let next = objects.next().map_err(|error| named(error, &label))?;
                let Some((object, place)) = next else { break };
                number += 1;
                if let Err(error) = self.line(out, object, place, &label, &read) {
                    match error.downcast::<Error>() {
                        Ok(error) if !self.key.strict && error.at.is_some() => self.refuse(out, &error)?,
                        Ok(error) => return Err(error.into()),
                        Err(error) => return Err(error),
                    }
                }
            }
            if self.without > MAX_LISTED {
                output.notice(&label, &format!("{} of {number} have no key", self.without));
            }
            Ok(())
        })
    }

    /// Answers one object.
    fn line(
        &mut self,
        out: &mut dyn Write,
        object: &[u8],
        place: Position,
        label: &str,
        read: &impl for<'o> Fn(&'o [u8]) -> convo::Result<KeyRequest<'o>>,
    ) -> anyhow::Result<()> {
        let at = |error: Error| error.at(label, place);
        let requested = read(object).map_err(at)?;
        if !matches!(requested, KeyRequest::Scope(_) | KeyRequest::Owner(_)) {
            self.warn(&requested, label);
        }
        if self.key.json || self.key.explain {
            let answer = requested.answer(self.form, &self.settings).map_err(at)?;
            let answer = answer.ok_or_else(|| at(self.no_session()))?;
            if self.key.explain && !self.key.json {
                for note in &answer.notes {
                    self.context.output.explain(&format!("{}: {note}", answer.key));
                }
            }
            self.key.write(out, &answer, self.form)?;
            return Ok(());
        }
        let key = requested.key(self.form, &self.settings).map_err(at)?;
        let key = key.ok_or_else(|| at(self.no_session()))?;
        out.write_all(key.as_bytes())
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|error| Error::io("cannot write", error).into())
    }

    /// Reports a request without a key and writes an empty line, or an object with `--json`, so that line N of the
    /// output answers request N.
    fn refuse(&mut self, out: &mut dyn Write, error: &Error) -> anyhow::Result<()> {
        self.without += 1;
        match self.without > MAX_LISTED {
            true => self.context.output.note_status(error.kind),
            false => self.context.output.error(error),
        }
        let mut line = Vec::new();
        if self.key.json {
            let mut object = ObjectBuilder::default();
            object
                .text("schema", "convo.key/1")
                .raw("key", b"null")
                .text("why", &error.message);
            line = object.finish();
        }
        line.push(b'\n');
        out.write_all(&line)
            .map_err(|error| Error::io("cannot write", error).into())
    }

    /// Prints each warning once.
    fn warn(&mut self, requested: &KeyRequest<'_>, label: &str) {
        if self.key.explain {
            return; // it is among the notes
        }
        for warning in requested.warnings(self.form, &self.settings) {
            if self.warned.insert(warning.clone()) && self.warned.len() as u64 <= MAX_LISTED {
                self.context.output.notice(label, &warning);
            }
        }
    }

    fn no_session(&self) -> Error {
        if self.key.whose.require_explicit {
            return Error::new(ErrorKind::No, "no session given: no key");
        }
        Error::usage("no session given")
            .hint("use --session; --require-explicit turns this error into status 1")
    }
}

impl KeyCommand {
    /// Prints the only answer.
    fn print(&self, context: &Context, answer: &KeyAnswer, form: KeyForm) -> anyhow::Result<()> {
        if self.explain && !self.json {
            answer
                .notes
                .iter()
                .for_each(|note| context.output.explain(&in_line(note)));
        }
        context.output.stdout(|out| self.write(out, answer, form))
    }

    fn write(&self, out: &mut dyn Write, answer: &KeyAnswer, form: KeyForm) -> anyhow::Result<()> {
        let mut line = if self.json {
            self.object(answer, form)
        } else {
            answer.key.clone().into_bytes()
        };
        line.push(b'\n');
        out.write_all(&line)
            .map_err(|error| Error::io("cannot write", error).into())
    }

    fn object(&self, answer: &KeyAnswer, form: KeyForm) -> Vec<u8> {
        let mut object = ObjectBuilder::default();
        object
            .text("schema", "convo.key/1")
            .text("key", &answer.key)
            .text("form", form.name());
        if let Some(signature) = &answer.signature {
            object.text("signature", signature);
        }
        if let Some(scope) = &answer.scope {
            object.raw("scope", scope);
        }
        object
            .raw("aliases", json::texts(&answer.aliases))
            .raw("shared", json::texts(&answer.shared));
        if self.explain {
            object.raw("notes", json::texts(&answer.notes));
        }
        object.finish()
    }
}
