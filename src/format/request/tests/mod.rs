//! Round-trip tests: API histories are read and written back, native sessions are written and read.

mod arbitrary;
mod fixtures;
mod results;
mod small;
mod summaries;

use super::{Api, ProviderRequest, elements};
use crate::format::report::Report;
use crate::format::{DocumentSource, Format, WritePurpose, convert, write};
use crate::model::message::Message;
use crate::model::session::Session;
use crate::model::view::View;

const READ: [Api; 3] = [Api::OpenaiResponses, Api::Anthropic, Api::Gemini];

fn format(api: Api) -> Format {
    Format::from_name(api.name()).unwrap()
}

/// Content in these tests that no API has.
const MADE_UP: [&str; 1] = ["unknown item type 'x'"];

fn read(api: Api, text: &str) -> Session {
    let mut report = Report::default();
    let mut sessions = convert(format(api), &DocumentSource::alone(text.as_bytes()), &mut report).unwrap();
    assert_eq!(sessions.len(), 1, "{text}");
    // The tests include unknown kinds of parts and items.
    let damage = report.findings.iter().filter(|finding| finding.damage);
    let unrecognized: Vec<&str> = damage
        .map(|finding| finding.what.as_ref())
        .filter(|what| !MADE_UP.contains(what))
        .collect();
    assert_eq!(unrecognized, [] as [&str; 0], "{text}");
    sessions.remove(0)
}

/// A native session with these lines.
fn session(lines: &[String]) -> Session {
    let mut session = Session::default();
    for line in lines {
        session.push_new(line.as_bytes());
    }
    session
}

fn native(lines: &[&str]) -> Session {
    session(&lines.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn printed(api: Api, session: &Session, purpose: WritePurpose) -> (String, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    write(format(api), session, &view, purpose, &mut out, &mut report).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

fn request(api: Api, session: &Session) -> (ProviderRequest, Report) {
    let mut report = Report::default();
    let request = elements(api, session, &View::replay(session), &mut report).unwrap();
    (request, report)
}

fn same(one: &str, other: &str) {
    let equal = crate::model::json::same(one.trim().as_bytes(), other.trim().as_bytes());
    assert!(equal, "{one}\n{other}");
}

/// The content of a message, without differences between APIs.
#[derive(Debug, PartialEq, Eq)]
struct MessageContent {
    role: &'static str,
    text: String,
    calls: Vec<(String, String)>,
}

fn content_of(message: &Message<'_>) -> MessageContent {
    MessageContent {
        role: message.role().name(),
        text: message.text().into_owned(),
        calls: message
            .tool_calls()
            .into_iter()
            .map(|call| (call.name.into_owned(), call.arguments.into_owned()))
            .collect(),
    }
}

fn all_contents(session: &Session) -> Vec<MessageContent> {
    View::replay(session)
        .messages(session)
        .map(|m| content_of(&m))
        .collect()
}
