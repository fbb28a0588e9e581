//! Joins messages of the same role into turns, for APIs that require alternating roles.

use super::request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use super::{ProviderRequest, RequestElement};
use crate::format::WritePurpose;
use crate::format::report::Loss;
use crate::model::json::quoted;
use crate::model::message::Role;
use crate::model::summary;

/// An API in which the roles alternate.
pub trait TurnEncoder {
    /// The role of the model.
    const MODEL: &'static str;
    /// The role of turns with results.
    const RESULTS: &'static str;

    /// Adds a text, a JSON string, to a turn.
    fn add_text(text: &[u8], turn: &mut RequestTurn);
    fn add_content(annotated: &AnnotatedMessage<'_>, turn: &mut RequestTurn, writing: &mut WriteSettings<'_>);
    /// Adds the reasoning, content and calls of a model message to a turn.
    fn add_reply(
        &self,
        annotated: &AnnotatedMessage<'_>,
        turn: &mut RequestTurn,
        writing: &mut WriteSettings<'_>,
    );
    /// Encodes a result.
    fn result(&self, annotated: &AnnotatedMessage<'_>, writing: &mut WriteSettings<'_>) -> Vec<u8>;
    /// Encodes a turn; `None` if it has no content.
    fn close(turn: &RequestTurn) -> Option<Vec<u8>>;
    /// Encodes the instructions at the start; `None` if there are none.
    fn instructions(turn: RequestTurn) -> Option<Vec<u8>>;

    /// Encodes the pieces as elements of a request.
    fn request(&self, pieces: &[RequestPart<'_>], writing: &mut WriteSettings<'_>) -> ProviderRequest {
        let mut turns = RequestTurns::new(Self::close);
        let mut system = RequestTurn::default();
        let mut request = ProviderRequest::default();
        let mut head = true;
        for piece in pieces {
            let annotated = match piece {
                RequestPart::Message(..) => match piece.annotated(writing.api) {
                    Some(annotated) => &{ annotated },
                    None => continue,
                },
                RequestPart::Summary(item, text, _) => {
                    head = false;
                    let text = quoted(&summary::quoted(text));
                    Self::add_text(&text, turns.turn("user", *item, false));
                    continue;
                }
                RequestPart::Kept(items, elements) => {
                    head = false;
                    turns.keep(items, elements);
                    continue;
                }
            };
            writing.report_bookkeeping_losses(annotated);
            let role = annotated.message.role();
            if head && matches!(role, Role::System | Role::Developer) {
                request.system_items.push(annotated.item);
                Self::add_content(annotated, &mut system, writing);
                system.members = system.members.or(annotated.noted("members").map(<[u8]>::to_vec));
                continue;
            }
            head = false;
            let (item, is_first) = (annotated.item, annotated.starts_element());
            let turn = match role {
                Role::Assistant => {
                    let turn = turns.turn(Self::MODEL, item, is_first);
                    self.add_reply(annotated, turn, writing);
                    turn
                }
                Role::Tool => {
                    let result = self.result(annotated, writing);
                    let turn = turns.turn(Self::RESULTS, item, is_first);
                    turn.results.push(result);
                    turn
                }
                _ => {
                    // A role that is only allowed at the start becomes user.
                    writing
                        .report
                        .count_loss(Loss::Part, u64::from(role != Role::User));
                    let turn = turns.turn("user", item, is_first);
                    Self::add_content(annotated, turn, writing);
                    turn
                }
            };
            turn.keep_members(annotated, writing);
        }
        request.system = Self::instructions(system);
        request.elements = turns.finish();
        request
    }
}

/// A turn under construction.
#[derive(Debug, Default)]
pub struct RequestTurn {
    /// The role in the API.
    pub role: &'static str,
    /// Tool results, which precede all other parts.
    pub results: Vec<Vec<u8>>,
    /// The other parts, encoded for the API.
    pub parts: Vec<Vec<u8>>,
    /// The content as a JSON string, as long as there is only one text.
    pub text: Option<Vec<u8>>,
    /// Members other than role and content of the source element.
    pub members: Option<Vec<u8>>,
    /// Indexes of the view items.
    pub items: Vec<usize>,
}

impl RequestTurn {
    /// Restores members of a message's source element other than role and content; not for a provider, which rejects
    /// them.
    fn keep_members(&mut self, annotated: &AnnotatedMessage<'_>, writing: &WriteSettings<'_>) {
        if writing.purpose != WritePurpose::Context && self.members.is_none() {
            self.members = annotated.noted("members").map(<[u8]>::to_vec);
        }
    }
}

/// A list of turns, the last of which is open.
#[derive(Debug)]
struct RequestTurns {
    done: Vec<RequestElement>,
    open: Option<RequestTurn>,
    close: fn(&RequestTurn) -> Option<Vec<u8>>,
}

impl RequestTurns {
    /// An empty list; `close` encodes a turn, or returns `None` if it has no content.
    fn new(close: fn(&RequestTurn) -> Option<Vec<u8>>) -> RequestTurns {
        RequestTurns {
            done: Vec::new(),
            open: None,
            close,
        }
    }

    /// The turn for an item: the open one if it has this role and `separate` is not set.
    fn turn(&mut self, role: &'static str, item: usize, separate: bool) -> &mut RequestTurn {
        if separate || self.open.as_ref().is_some_and(|open| open.role != role) {
            self.end();
        }
        let turn = self.open.get_or_insert_with(|| RequestTurn {
            role,
            ..RequestTurn::default()
        });
        turn.items.push(item);
        turn
    }

    /// Appends preserved elements, to which nothing is joined.
    fn keep(&mut self, items: &[usize], elements: &[&[u8]]) {
        self.end();
        self.done.extend(elements.iter().map(|element| RequestElement {
            raw: element.to_vec(),
            items: items.to_vec(),
        }));
    }

    fn end(&mut self) {
        if let Some(turn) = self.open.take()
            && let Some(raw) = (self.close)(&turn)
        {
            self.done.push(RequestElement {
                raw,
                items: turn.items,
            });
        }
    }

    /// The encoded elements.
    fn finish(mut self) -> Vec<RequestElement> {
        self.end();
        self.done
    }
}
