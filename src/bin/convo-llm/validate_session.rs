//! Prepares a session for sending: it must need a reply and be valid for the API.

use crate::output::Output;
use convo::check::{self, Api, CheckOptions};
use convo::error::{Error, Result};
use convo::filter::repair::{self, RepairOptions, Repaired};
use convo::filter::{Plan, Stamp};
use convo::format::report::Report;
use convo::format::request;
use convo::model::event;
use convo::model::json::ObjectBuilder;
use convo::model::message::Role;
use convo::model::session::{Class, Session};
use convo::model::view::View;

/// Maximum number of repair passes; a change that messages cannot represent would be needed again.
const TRIES: usize = 3;

/// The rule of each API that every call needs a result.
const ANSWERED: [&str; 3] = ["OC02", "OR02", "AN04"];

/// Rejects a session that expects no reply; repairs for this request what the API would reject.
pub fn ready(mut session: Session, api: Api, output: &Output) -> Result<Session> {
    answerable(&session, api)?;
    let check = CheckOptions {
        stateless: api == Api::OpenaiResponses,
        ..CheckOptions::default()
    };
    let options = RepairOptions {
        api,
        check: &check,
        mode: None,
        warnings: false,
    };
    for nth in 0..TRIES {
        let stamp = |_: &str| {
            Ok(Stamp {
                id: format!("evt_llm{nth}"),
                at: event::EPOCH.to_string(),
            })
        };
        let Repaired { plan, fixed } = repair::plan(&session, &options, stamp)?;
        if let Some(left) = fixed.errors().next() {
            let what = format!("invalid for {}: {}: {}", api.name(), left.rule.id, left.message);
            return Err(Error::data(what).hint("locate the violations with: convo check"));
        }
        let Plan::Lines(lines, reported) = plan else {
            return Ok(session);
        };
        output.print_notice(&format!(
            "repaired for {} in this request only: {reported}",
            api.name()
        ));
        for line in lines {
            session.push_new(&line);
        }
    }
    let what = format!("invalid for {} and not repairable", api.name());
    Err(Error::data(what).hint("locate the violations with: convo check"))
}

fn answerable(session: &Session, api: Api) -> Result<()> {
    let view = View::replay(session);
    let request = request::elements(api, session, &view, &mut Report::default())?;
    let raws: Vec<&[u8]> = request.elements.iter().map(|element| &*element.raw).collect();
    let options = CheckOptions {
        open_end: true,
        ..CheckOptions::default()
    };
    let open = check::check(api, &raws, &options)
        .into_iter()
        .find(|finding| ANSWERED.contains(&finding.rule.id) && !finding.is_error());
    if let Some(open) = open {
        let error = Error::data(format!("tool call without result: {}", open.message));
        return Err(error.hint("append it with --role tool, or pass --tool"));
    }
    let last = view.items.iter().rev().find_map(|item| item.traits(session));
    match last.map(|traits| traits.role) {
        None if view.items.is_empty() => Err(Error::data("the session contains no message")),
        Some(Role::Assistant) => {
            let error = Error::data("the last message is from the assistant");
            Err(error.hint("append a user message first"))
        }
        _ => Ok(()),
    }
}

/// Inserts instructions before the session's own.
pub fn with_instructions(session: &Session, text: &str) -> Session {
    let mut message = ObjectBuilder::default();
    message.text("role", "system").text("content", text);
    let message = message.finish();
    let mut built = Session::default();
    let first = (0..session.len()).find(|index| matches!(session.class(*index), Class::Message(_)));
    for index in 0..session.len() {
        if first == Some(index) {
            built.push_new(&message);
        }
        built.push_from(session, index);
    }
    if first.is_none() {
        built.push_new(&message);
    }
    built
}
