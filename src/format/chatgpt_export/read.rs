//! Converts a conversation to a session, and its branches to further sessions.

use super::content::{self, NodeContent};
use super::node::{ConversationTree, NodeKind, TreeNode, moment};
use super::{KINDS, NAME};
use crate::format::branches::Path;
use crate::format::conversation_list::InputValue;
use crate::format::kit::records::passthrough;
use crate::format::native::{self, HeaderBuilder};
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use crate::model::key;
use crate::model::session::Session;
use std::borrow::Cow;

/// Members of a conversation that are converted.
const CONVERSATION: [&str; 3] = ["mapping", "title", "create_time"];

/// Members of a message that are converted.
const MESSAGE: [&str; 3] = ["author", "content", "metadata"];

/// The sessions of a conversation; `None` if the value is not one.
pub fn sessions(item: &InputValue<'_>, report: &mut Report) -> Option<Vec<Session>> {
    let conversation = Object::of(item.bytes)?;
    let current = conversation.text("current_node");
    let tree = ConversationTree::of(conversation.get("mapping")?, current.as_deref())?;
    let own = ["id", "conversation_id"].into_iter().find_map(|name| {
        let id = conversation.filled(name)?;
        Some((name, id))
    });
    let name = own.as_ref().map_or_else(|| item.name(), |(_, id)| id.to_string());
    let mut converter = TreeConverter {
        item,
        nodes: &tree.nodes,
        calls: vec![None; tree.nodes.len()],
        reported_at: vec![None; tree.nodes.len()],
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
            metadata.optional(NAME, conversation.extra_members(&known));
            item.header(&name, header, metadata)
        } else {
            let at = path.joint.and_then(|joint| converter.reported_at[joint]);
            let at = at.map(|at| tree.nodes[at].id.as_ref());
            metadata.raw("lineage", native::lineage("branch", &key::id_for_key(&name), at));
            item.header(&format!("{name}.{number}"), header, metadata)
        };
        let session = converter.path(path, &header);
        if number == 0 || session.len() > 1 {
            sessions.push(session);
        }
    }
    Some(sessions)
}

/// The latest call on the path to a node, and whether it was answered there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LatestCall {
    node: usize,
    answered: bool,
}

/// The nodes of a tool result so far.
struct ResultNodes<'a> {
    call: Option<usize>,
    node: usize,
    content: NodeContent<'a>,
    /// Additional members of the further nodes.
    more: Vec<Vec<u8>>,
}

/// Converts the nodes of a conversation to sessions.
struct TreeConverter<'a, 'r> {
    item: &'r InputValue<'r>,
    nodes: &'r [TreeNode<'a>],
    /// For each node, the call that a following result would answer.
    calls: Vec<Option<LatestCall>>,
    /// For each node, the node of the latest message at or before it.
    reported_at: Vec<Option<usize>>,
    session: Session,
    /// Reasoning nodes waiting for their answer.
    thoughts: Vec<usize>,
    recaps: Vec<usize>,
    answer: Option<ResultNodes<'a>>,
    report: &'r mut Report,
}

impl<'a> TreeConverter<'a, '_> {
    fn path(&mut self, path: &Path, header: &[u8]) -> Session {
        self.session = Session::default();
        self.session.push_new(header);
        let mut call = path.joint.and_then(|joint| self.calls[joint]);
        let mut reported = path.joint.and_then(|joint| self.reported_at[joint]);
        for &nth in &path.entries {
            let node = &self.nodes[nth];
            match node.kind {
                NodeKind::Nothing => {}
                NodeKind::Thoughts => self.thoughts.push(nth),
                NodeKind::Recap => self.recaps.push(nth),
                NodeKind::Unrecognized => {
                    self.end();
                    let what = format!("node '{}' is not a message; kept unchanged", node.id);
                    self.report.damage(self.item.place, what);
                    self.add_passthrough(node);
                }
                NodeKind::Tool => {
                    if self.result(nth, call.map(|call| call.node)) {
                        reported = Some(nth);
                    }
                    call = call.map(|call| LatestCall {
                        answered: true,
                        ..call
                    });
                }
                NodeKind::Message => {
                    self.end_answer();
                    if let Some(fault) = content::fault(node.message.get("content")) {
                        let what = format!("node '{}': {fault}", node.id);
                        self.report.damage(self.item.place, what);
                    }
                    if node.author.get("role") != Some(b"\"assistant\"") {
                        self.end();
                    }
                    call = match node.tool() {
                        Some(_) => Some(LatestCall {
                            node: nth,
                            answered: false,
                        }),
                        None => call.filter(|call| !call.answered),
                    };
                    self.add_message(nth);
                    reported = Some(nth);
                }
            }
            self.calls[nth] = call;
            self.reported_at[nth] = reported;
        }
        self.end();
        std::mem::take(&mut self.session)
    }

    /// Adds a separate message.
    fn add_message(&mut self, nth: usize) {
        let node = &self.nodes[nth];
        let raw = node.message.get("content");
        let content = NodeContent::of(raw);
        let mut draft = AnnotatedDraft::new(&node.author.text("role").unwrap_or_default());
        match node.tool() {
            Some(tool) => {
                let id = quoted(&call_id(node));
                let call = draft::call(&id, tool, &content.arguments(raw));
                draft.raw("content", "null").raw("tool_calls", array([call]));
            }
            None => drop(draft.raw("content", content.value())),
        }
        let mut own = self.extra_metadata(node, &content);
        self.add_pending_reasoning(&mut draft, &mut own);
        if content.is_context {
            draft.raw("category", "\"context\"");
        }
        self.finish(node, draft, own);
    }

    /// Adds a tool result; `false` if it continues the previous one.
    fn result(&mut self, nth: usize, call: Option<usize>) -> bool {
        let node = &self.nodes[nth];
        let content = NodeContent::of(node.message.get("content"));
        if let Some(answer) = self.answer.as_mut().filter(|_| call.is_some())
            && answer.call == call
        {
            let mut more = ObjectBuilder::default();
            more.text("node", &node.id);
            more.optional("create_time", node.message.get("create_time"));
            more.optional("message", extra_members(node));
            more.optional("content", content.rest.as_ref());
            answer.more.push(more.finish());
            answer.content.append(content);
            self.attachments(node);
            return false;
        }
        self.end_answer();
        self.answer = Some(ResultNodes {
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
        let mut draft = AnnotatedDraft::new("tool");
        draft.raw("content", answer.content.value());
        if let Some(call) = answer.call {
            draft.raw("tool_call_id", quoted(&call_id(&self.nodes[call])));
        }
        let mut own = self.extra_metadata(node, &answer.content);
        own.list("nodes", &answer.more);
        self.finish(node, draft, own);
    }

    /// Adds the waiting reasoning nodes to a message.
    fn add_pending_reasoning(&mut self, draft: &mut AnnotatedDraft, own: &mut ObjectBuilder) {
        let reasoning_parts = std::mem::take(&mut self.thoughts);
        let noted = |nth: &usize, known: &[&str], content: Option<Vec<u8>>| {
            let node = &self.nodes[*nth];
            let mut note = ObjectBuilder::default();
            note.text("node", &node.id);
            let members = node.message.members();
            for (name, value) in members.filter(|(name, value)| !known.contains(name) && *value != b"null") {
                note.raw(name, value);
            }
            note.optional("content", content);
            note.finish()
        };
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        for nth in &reasoning_parts {
            let (reasoning, rest) = content::reasoning_parts(self.nodes[*nth].message.get("content"));
            parts.extend(reasoning);
            notes.push(noted(nth, &["author", "content"], rest));
        }
        draft.list("reasoning", &parts);
        own.list("thoughts", &notes);
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
            let mut draft = AnnotatedDraft::new("assistant");
            draft.raw("content", "null");
            let mut own = ObjectBuilder::default();
            self.add_pending_reasoning(&mut draft, &mut own);
            self.finish(first, draft, own);
        }
        for nth in std::mem::take(&mut self.recaps) {
            self.add_passthrough(&nodes[nth]);
        }
    }

    /// Adds a passthrough record for a node that is not a message.
    fn add_passthrough(&mut self, node: &TreeNode<'_>) {
        self.item
            .push(&mut self.session, passthrough(KINDS.format.name(), node.raw));
    }

    /// The message data without a native member.
    fn extra_metadata(&mut self, node: &TreeNode<'_>, content: &NodeContent<'_>) -> ObjectBuilder {
        self.attachments(node);
        let mut own = ObjectBuilder::default();
        own.optional("message", extra_members(node));
        own.optional("content", content.rest.as_ref());
        own.optional("parts", content.notes());
        own
    }

    /// Attached files are separate from the export: their description is kept, their content is lost.
    fn attachments(&mut self, node: &TreeNode<'_>) {
        let files = node.message.object("metadata").and_then(|reported| {
            let files = json::elements(reported.get("attachments")?, Dialect::Strict)?;
            Some(files.len() as u64)
        });
        self.report.count_loss(Loss::Attachment, files.unwrap_or(0));
    }

    /// Completes a message and adds it to the session.
    fn finish(&mut self, node: &TreeNode<'_>, mut draft: AnnotatedDraft, own: ObjectBuilder) {
        draft.optional("name", node.author.string("name"));
        if node.is_first {
            draft.raw("id", quoted(&node.id));
        }
        if let Some(time) = node.time() {
            draft.raw("timestamp", quoted(&time));
        }
        let model = node.message.object("metadata");
        if let Some(model) = model.as_ref().and_then(|reported| reported.string("model_slug"))
            && node.author.get("role") == Some(b"\"assistant\"")
        {
            draft.raw("model", model);
        }
        draft.metadata(NAME, (!own.is_empty()).then(|| own.finish()));
        self.item.push(&mut self.session, draft.body(Api::OpenaiChat));
    }
}

fn call_id(node: &TreeNode<'_>) -> String {
    format!("call_{}", node.id)
}

/// The members of a message without a native equivalent.
fn extra_members(node: &TreeNode<'_>) -> Option<Vec<u8>> {
    let mut known: Vec<&str> = MESSAGE.to_vec();
    if node.time().is_some() {
        known.push("create_time");
    }
    if node.message.text("id").is_some_and(|id| id == node.id) {
        known.push("id");
    }
    let mut built = ObjectBuilder::default();
    let kept = node.message.extra_members(&known);
    let own = kept.as_deref().and_then(Object::of).unwrap_or_default();
    for (name, value) in own.members() {
        built.raw(name, value);
    }
    let reported: Option<Cow<'_, [u8]>> = node.message.get("metadata").map(|raw| {
        let rest = Object::of(raw).map(|reported| reported.extra_members(&["model_slug"]));
        rest.map_or(raw.into(), |rest| rest.unwrap_or_default().into())
    });
    built.optional("metadata", reported.filter(|reported| !reported.is_empty()));
    built.optional("author", node.author.extra_members(&["role", "name"]));
    (!built.is_empty()).then(|| built.finish())
}
