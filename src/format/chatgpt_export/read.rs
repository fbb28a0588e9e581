//! Converts a conversation to a session, and its branches to further sessions.

use super::content::{self, Content};
use super::node::{Kind, Node, Tree, moment};
use super::{KINDS, NAME};
use crate::format::branches::Path;
use crate::format::collection::Item;
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::object::{Object, set};
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::draft::{self, Draft};
use crate::format::request::piece::{array, quoted};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key;
use crate::model::session::Session;
use std::borrow::Cow;

/// Members of a conversation that are converted.
const CONVERSATION: [&str; 3] = ["mapping", "title", "create_time"];

/// Members of a message that are converted.
const MESSAGE: [&str; 3] = ["author", "content", "metadata"];

/// The sessions of a conversation; `None` if the value is not one.
pub fn sessions(item: &Item<'_>, report: &mut Report) -> Option<Vec<Session>> {
    let conversation = Object::of(item.bytes)?;
    let current = conversation.text("current_node");
    let tree = Tree::of(conversation.get("mapping")?, current.as_deref())?;
    let own = ["id", "conversation_id"].into_iter().find_map(|name| {
        let id = conversation.filled(name)?;
        Some((name, id))
    });
    let name = own.as_ref().map_or_else(|| item.name(), |(_, id)| id.to_string());
    let mut telling = Telling {
        item,
        nodes: &tree.nodes,
        calls: vec![None; tree.nodes.len()],
        told: vec![None; tree.nodes.len()],
        session: Session::default(),
        thoughts: Vec::new(),
        recaps: Vec::new(),
        answer: None,
        report,
    };
    let mut sessions = Vec::new();
    for path in &tree.paths {
        let number = sessions.len();
        let mut header = HeaderBuilder::default();
        let mut metadata = ObjectBuilder::default();
        let time = conversation.get("create_time").and_then(moment);
        header.text("title", conversation.filled("title").as_deref());
        let header = if number == 0 {
            header.text("created_at", time.as_deref());
            let mut known = CONVERSATION.to_vec();
            known.extend(own.as_ref().map(|(name, _)| *name));
            // Usually both ids are equal.
            let again = own.as_ref().and_then(|_| conversation.get("conversation_id"));
            if again == conversation.get("id") {
                known.push("conversation_id");
            }
            if let Some(rest) = conversation.rest(&known) {
                metadata.raw(NAME, rest);
            }
            item.header(&name, header, metadata)
        } else {
            let mut lineage = ObjectBuilder::default();
            lineage
                .text("kind", "branch")
                .text("parent", &key::id_for_key(&name));
            if let Some(at) = path.joint.and_then(|joint| telling.told[joint]) {
                lineage.text("at", &tree.nodes[at].id);
            }
            metadata.raw("lineage", lineage.finish());
            item.header(&format!("{name}.{number}"), header, metadata)
        };
        let session = telling.path(path, &header);
        if number == 0 || session.len() > 1 {
            sessions.push(session);
        }
    }
    Some(sessions)
}

/// The latest call on the path to a node, and whether it was answered there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    node: usize,
    answered: bool,
}

/// The nodes of a tool result so far.
struct Answer<'a> {
    call: Option<usize>,
    node: usize,
    content: Content<'a>,
    /// Additional members of the further nodes.
    more: Vec<Vec<u8>>,
}

/// Converts the nodes of a conversation to sessions.
struct Telling<'a, 'r> {
    item: &'r Item<'r>,
    nodes: &'r [Node<'a>],
    /// For each node, the call that a following result would answer.
    calls: Vec<Option<Call>>,
    /// For each node, the node of the latest message at or before it.
    told: Vec<Option<usize>>,
    session: Session,
    /// Reasoning nodes waiting for their answer.
    thoughts: Vec<usize>,
    recaps: Vec<usize>,
    answer: Option<Answer<'a>>,
    report: &'r mut Report,
}

impl<'a> Telling<'a, '_> {
    fn path(&mut self, path: &Path, header: &[u8]) -> Session {
        self.session = Session::default();
        self.session.push_new(header);
        let mut call = path.joint.and_then(|joint| self.calls[joint]);
        let mut told = path.joint.and_then(|joint| self.told[joint]);
        for &nth in &path.entries {
            let node = &self.nodes[nth];
            match node.kind {
                Kind::Nothing => {}
                Kind::Thoughts => self.thoughts.push(nth),
                Kind::Recap => self.recaps.push(nth),
                Kind::Strange => {
                    self.end();
                    let what = format!("node '{}' is not a message; kept unchanged", node.id);
                    self.report.damage(self.item.place, what);
                    self.carry(node);
                }
                Kind::Tool => {
                    if self.result(nth, call.map(|call| call.node)) {
                        told = Some(nth);
                    }
                    call = call.map(|call| Call {
                        answered: true,
                        ..call
                    });
                }
                Kind::Said => {
                    self.end_answer();
                    if let Some(fault) = content::fault(node.message.get("content")) {
                        let what = format!("node '{}': {fault}", node.id);
                        self.report.damage(self.item.place, what);
                    }
                    if node.author.get("role") != Some(b"\"assistant\"") {
                        self.end();
                    }
                    call = match node.tool() {
                        Some(_) => Some(Call {
                            node: nth,
                            answered: false,
                        }),
                        None => call.filter(|call| !call.answered),
                    };
                    self.said(nth);
                    told = Some(nth);
                }
            }
            self.calls[nth] = call;
            self.told[nth] = told;
        }
        self.end();
        std::mem::take(&mut self.session)
    }

    /// Adds a separate message.
    fn said(&mut self, nth: usize) {
        let node = &self.nodes[nth];
        let raw = node.message.get("content");
        let content = Content::of(raw);
        let mut draft = Draft::new(&node.author.text("role").unwrap_or_default());
        match node.tool() {
            Some(tool) => {
                let id = quoted(&call_id(node));
                let call = draft::call(&id, tool, &content.arguments(raw));
                draft.raw("content", "null").raw("tool_calls", array([call]));
            }
            None => drop(draft.raw("content", content.value())),
        }
        let mut own = self.own(node, &content);
        self.thought(&mut draft, &mut own);
        if content.is_context {
            draft.raw("category", "\"context\"");
        }
        self.finish(node, draft, own);
    }

    /// Adds a tool result; `false` if it continues the previous one.
    fn result(&mut self, nth: usize, call: Option<usize>) -> bool {
        let node = &self.nodes[nth];
        let content = Content::of(node.message.get("content"));
        if let Some(answer) = self.answer.as_mut().filter(|_| call.is_some())
            && answer.call == call
        {
            let mut more = ObjectBuilder::default();
            more.text("node", &node.id);
            set(&mut more, "create_time", node.message.get("create_time"));
            set(&mut more, "message", beside(node));
            set(&mut more, "content", content.rest.as_ref());
            answer.more.push(more.finish());
            answer.content.append(content);
            self.attachments(node);
            return false;
        }
        self.end_answer();
        self.answer = Some(Answer {
            call,
            node: nth,
            content,
            more: Vec::new(),
        });
        true
    }

    fn end_answer(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        let node = &self.nodes[answer.node];
        let mut draft = Draft::new("tool");
        draft.raw("content", answer.content.value());
        if let Some(call) = answer.call {
            draft.raw("tool_call_id", quoted(&call_id(&self.nodes[call])));
        }
        let mut own = self.own(node, &answer.content);
        if !answer.more.is_empty() {
            own.raw("nodes", array(answer.more));
        }
        self.finish(node, draft, own);
    }

    /// Adds the waiting reasoning nodes to a message.
    fn thought(&mut self, draft: &mut Draft, own: &mut ObjectBuilder) {
        let thoughts = std::mem::take(&mut self.thoughts);
        let noted = |nth: &usize, known: &[&str], content: Option<Vec<u8>>| {
            let node = &self.nodes[*nth];
            let mut note = ObjectBuilder::default();
            note.text("node", &node.id);
            let members = node.message.members();
            for (name, value) in members.filter(|(name, value)| !known.contains(name) && *value != b"null") {
                note.raw(name, value);
            }
            set(&mut note, "content", content);
            note.finish()
        };
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        for nth in &thoughts {
            let (thought, rest) = content::thoughts(self.nodes[*nth].message.get("content"));
            parts.extend(thought);
            notes.push(noted(nth, &["author", "content"], rest));
        }
        if !parts.is_empty() {
            draft.raw("reasoning", array(parts));
        }
        if !notes.is_empty() {
            own.raw("thoughts", array(notes));
        }
        let recaps = std::mem::take(&mut self.recaps);
        if !recaps.is_empty() {
            own.raw(
                "recaps",
                array(recaps.iter().map(|nth| noted(nth, &["author"], None))),
            );
        }
    }

    /// Adds the waiting nodes that no answer followed.
    fn end(&mut self) {
        self.end_answer();
        let nodes = self.nodes;
        if let Some(first) = self.thoughts.first().map(|nth| &nodes[*nth]) {
            let mut draft = Draft::new("assistant");
            draft.raw("content", "null");
            let mut own = ObjectBuilder::default();
            self.thought(&mut draft, &mut own);
            self.finish(first, draft, own);
        }
        for nth in std::mem::take(&mut self.recaps) {
            self.carry(&nodes[nth]);
        }
    }

    /// Adds a passthrough record for a node that is not a message.
    fn carry(&mut self, node: &Node<'_>) {
        self.item
            .push(&mut self.session, passthrough(KINDS.format.name(), node.raw));
    }

    /// The message data without a native member.
    fn own(&mut self, node: &Node<'_>, content: &Content<'_>) -> ObjectBuilder {
        self.attachments(node);
        let mut own = ObjectBuilder::default();
        set(&mut own, "message", beside(node));
        set(&mut own, "content", content.rest.as_ref());
        set(&mut own, "parts", content.notes());
        own
    }

    /// Attached files are separate from the export: their description is kept, their content is lost.
    fn attachments(&mut self, node: &Node<'_>) {
        let files = node.message.object("metadata").and_then(|told| {
            let files = json::elements(told.get("attachments")?, Dialect::Strict)?;
            Some(files.len() as u64)
        });
        self.report.lose(Loss::Attachment, files.unwrap_or(0));
    }

    /// Completes a message and adds it to the session.
    fn finish(&mut self, node: &Node<'_>, mut draft: Draft, own: ObjectBuilder) {
        if let Some(name) = node.author.string("name") {
            draft.raw("name", name);
        }
        if node.is_first {
            draft.raw("id", quoted(&node.id));
        }
        if let Some(time) = node.time() {
            draft.raw("timestamp", quoted(&time));
        }
        let model = node.message.object("metadata");
        if let Some(model) = model.as_ref().and_then(|told| told.string("model_slug"))
            && node.author.get("role") == Some(b"\"assistant\"")
        {
            draft.raw("model", model);
        }
        draft.metadata(NAME, (!own.is_empty()).then(|| own.finish()));
        self.item.push(&mut self.session, draft.body(Api::OpenaiChat));
    }
}

fn call_id(node: &Node<'_>) -> String {
    format!("call_{}", node.id)
}

/// The members of a message without a native equivalent.
fn beside(node: &Node<'_>) -> Option<Vec<u8>> {
    let mut known: Vec<&str> = MESSAGE.to_vec();
    if node.time().is_some() {
        known.push("create_time");
    }
    if node.message.text("id").is_some_and(|id| id == node.id) {
        known.push("id");
    }
    let mut built = ObjectBuilder::default();
    let kept = node.message.rest(&known);
    let own = kept.as_deref().and_then(Object::of).unwrap_or_default();
    for (name, value) in own.members() {
        built.raw(name, value);
    }
    let told: Option<Cow<'_, [u8]>> = node.message.get("metadata").map(|raw| {
        let rest = Object::of(raw).map(|told| told.rest(&["model_slug"]));
        rest.map_or(raw.into(), |rest| rest.unwrap_or_default().into())
    });
    set(&mut built, "metadata", told.filter(|told| !told.is_empty()));
    set(&mut built, "author", node.author.rest(&["role", "name"]));
    (!built.is_empty()).then(|| built.finish())
}
