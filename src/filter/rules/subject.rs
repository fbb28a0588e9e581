//! A session prepared for rules: its texts, calls and results.

use crate::error::Position;
use crate::model::message::{Message, Role};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{calls, time};
use std::borrow::Cow;
use std::collections::HashMap;

/// A message of the view.
pub struct SubjectMessage<'s> {
    pub item: usize,
    pub role: String,
    pub text: Cow<'s, str>,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
}

/// A tool call of the view.
pub struct SubjectCall<'s> {
    pub item: usize,
    pub tool: Cow<'s, str>,
    pub arguments: Cow<'s, str>,
    /// Whether it failed; none of a call without result.
    pub failed: Option<bool>,
}

/// The messages and calls of a session, in order.
pub struct Subject<'s> {
    pub session: &'s Session,
    pub view: &'s View,
    pub messages: Vec<SubjectMessage<'s>>,
    pub calls: Vec<SubjectCall<'s>>,
}

impl<'s> Subject<'s> {
    pub fn of(session: &'s Session, view: &'s View) -> Subject<'s> {
        let mut subject = Subject {
            session,
            view,
            messages: Vec::new(),
            calls: Vec::new(),
        };
        // Calls without result: by id, and those of the message that called last.
        let mut open: HashMap<String, Vec<usize>> = HashMap::new();
        let mut newest = 0;
        for (item, own) in view.items.iter().enumerate() {
            if let Some(line) = own.summary_message(session) {
                let record = Record::parse(&line, Position { line: 1, offset: 1 });
                let summary = record.message().map(|message| SubjectMessage {
                    text: message.text().into_owned().into(),
                    role: message.role_name().into_owned(),
                    item,
                    time: None,
                });
                subject.messages.extend(summary);
                continue;
            }
            let Some(message) = own.message(session) else {
                continue;
            };
            if message.calls_tools() {
                newest = subject.calls.len();
                for call in message.tool_calls() {
                    open.entry(call.id.into_owned())
                        .or_default()
                        .push(subject.calls.len());
                    subject.calls.push(SubjectCall {
                        item,
                        tool: call.name,
                        arguments: call.arguments,
                        failed: None,
                    });
                }
            }
            if message.role() == Role::Tool {
                subject.answer(&message, &mut open, newest);
            }
            subject.messages.push(SubjectMessage {
                item,
                role: message.role_name().into_owned(),
                time: message.timestamp().and_then(|text| time::milliseconds(&text)),
                text: message.text(),
            });
        }
        subject
    }

    /// A result belongs to the nearest open call with its id; without an id, to the next of the newest calls.
    fn answer(&mut self, result: &Message<'_>, open: &mut HashMap<String, Vec<usize>>, newest: usize) {
        let id = result.tool_call_id().filter(|id| !id.is_empty());
        let call = match id {
            Some(id) => open.get_mut(id.as_ref()).and_then(Vec::pop),
            None => (newest..self.calls.len()).find(|call| self.calls[*call].failed.is_none()),
        };
        if let Some(call) = call {
            self.calls[call].failed = Some(calls::has_failed(result));
        }
    }
}
