//! Converts a conversation to a session, and its branches to further sessions.

use super::content::{self, NodeContent};
use super::node::{ConversationTree, NodeKind, TreeNode, moment};
use crate::format::branches::Path;
use crate::format::conversation_list::InputValue;
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::format::request::draft::{self, AnnotatedDraft};
use crate::model::json::{ObjectBuilder, array, quoted};
use crate::model::session::Session;

/// The name of the format, and of its annotations.
pub const NAME: &str = "chatgpt-export";

/// Members of a conversation that are converted.
const CONVERSATION: [&str; 3] = ["mapping", "title", "create_time"];

/// Members of a message that are converted.
const MESSAGE: [&str; 3] = ["author", "content", "metadata"];

/// The sessions of a conversation; `None` if the value is not one.
pub fn sessions(item: &InputValue<'_>, report: &mut Report) -> Option<Vec<Session>> {
    let conversation = Object::of(item.bytes)?;
    let current = conversation.text("current_node");
    let tree = ConversationTree::of(conversation.get("mapping")?, current.as_deref())?;
    let mut ids = ["id", "conversation_id"].into_iter();
    let own = ids.find_map(|name| Some((name, conversation.filled(name)?)));
    let name = own.as_ref().map_or_else(|| item.name(), |(_, id)| id.to_string());
    let title = conversation.filled("title");
    let mut converter = TreeConverter {
        item,
        nodes: &tree.nodes,
        states: vec![NodeState::default(); tree.nodes.len()],
        session: Session::default(),
        thoughts: Vec::new(),
        recaps: Vec::new(),
        answer: None,
        report,
    };
    let mut sessions = Vec::new();
    for path in &tree.paths {
        let header = match sessions.len() {
            0 => {
                let time = conversation.get("create_time").and_then(moment);
                let mut header = HeaderBuilder::default();
                header.text("title", title.as_deref());
                header.text("created_at", time.as_deref());
                let mut metadata = ObjectBuilder::default();
                metadata.optional(
                    NAME,
                    extra_data(&conversation, own.as_ref().map(|(name, _)| *name)),
                );
                item.header(&name, header, metadata)
            }
            nth => {
                let at = path.joint.and_then(|joint| converter.states[joint].message);
                let at = at.map(|at| tree.nodes[at].id.as_ref());
                item.branch_header((&name, nth), title.as_deref(), at)
            }
        };
        let session = converter.path(path, &header);
        if sessions.is_empty() || session.len() > 1 {
            sessions.push(session);
        }
    }
    Some(sessions)
}

/// The members of a conversation without a native equivalent; `id` has its id.
fn extra_data(conversation: &Object<'_>, id: Option<&str>) -> Option<Vec<u8>> {
    let mut known = CONVERSATION.to_vec();
    known.extend(id);
    // Usually both ids are equal.
    let other = id.and_then(|_| conversation.get("conversation_id"));
    if other == conversation.get("id") {
        known.push("conversation_id");
    }
    conversation.extra_members(&known)
}

/// The state after a node.
#[derive(Clone, Copy, Default)]
struct NodeState {
    /// The call that a following result would answer.
    call: Option<usize>,
    is_answered: bool,
    /// The node of the latest message.
    message: Option<usize>,
}

/// Converts the nodes of a conversation to sessions.
struct TreeConverter<'a, 'r> {
    item: &'r InputValue<'r>,
    nodes: &'r [TreeNode<'a>],
    states: Vec<NodeState>,
    session: Session,
    /// Reasoning nodes waiting for their answer.
    thoughts: Vec<usize>,
    recaps: Vec<usize>,
    /// The call of a tool result, and its nodes so far.
    answer: Option<(Option<usize>, Vec<usize>)>,
    report: &'r mut Report,
}

impl<'a> TreeConverter<'a, '_> {
    fn path(&mut self, path: &Path, header: &[u8]) -> Session {
        self.session = Session::default();
        self.session.push_new(header);
        let mut state = path.joint.map(|joint| self.states[joint]).unwrap_or_default();
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
                    if self.add_result(nth, state.call) {
                        state.message = Some(nth);
                    }
                    state.is_answered = true;
                }
                NodeKind::Message => {
                    self.end_answer();
                    if let Some(fault) = content::fault(node.message.get("content")) {
                        let what = format!("node '{}': {fault}", node.id);
                        self.report.damage(self.item.place, what);
                    }
                    if !node.is_reply() {
                        self.end();
                    }
                    match node.tool() {
                        Some(_) => state.call = Some(nth),
                        None => state.call = state.call.filter(|_| !state.is_answered),
                    }
                    state.is_answered = false;
                    self.add_message(nth);
                    state.message = Some(nth);
                }
            }
            self.states[nth] = state;
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
        self.annotate(&mut draft, node, &content);
        self.add_pending_reasoning(&mut draft);
        if content.is_context {
            draft.raw("category", "\"context\"");
        }
        self.finish(node, draft);
    }

    /// Adds a node to a tool result; `false` if it continues the previous one.
    fn add_result(&mut self, nth: usize, call: Option<usize>) -> bool {
        if let Some((open, nodes)) = &mut self.answer
            && call.is_some()
            && *open == call
        {
            nodes.push(nth);
            return false;
        }
        self.end_answer();
        self.answer = Some((call, vec![nth]));
        true
    }

    fn end_answer(&mut self) {
        let Some((call, nodes)) = self.answer.take() else {
            return;
        };
        let mut nodes = nodes.into_iter().map(|nth| &self.nodes[nth]);
        let Some(node) = nodes.next() else { return };
        let mut content = NodeContent::of(node.message.get("content"));
        let mut further = Vec::new();
        for node in nodes {
            let more = NodeContent::of(node.message.get("content"));
            let mut note = ObjectBuilder::default();
            note.text("node", &node.id);
            note.optional("create_time", node.message.get("create_time"));
            note.optional("message", extra_members(node));
            note.optional("content", more.rest.as_ref());
            further.push(note.finish());
            content.append(more);
            count_attachments(node, self.report);
        }
        let mut draft = AnnotatedDraft::with_content("tool", content.value());
        if let Some(call) = call {
            draft.raw("tool_call_id", quoted(&call_id(&self.nodes[call])));
        }
        self.annotate(&mut draft, node, &content);
        draft.note("nodes", listed(&further));
        self.finish(node, draft);
    }

    /// Adds the waiting reasoning nodes to a message.
    fn add_pending_reasoning(&mut self, draft: &mut AnnotatedDraft) {
        let noted = |nth: usize, known: &[&str], content: Option<Vec<u8>>| {
            let node = &self.nodes[nth];
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
        for nth in std::mem::take(&mut self.thoughts) {
            let (reasoning, rest) = content::reasoning_parts(self.nodes[nth].message.get("content"));
            parts.extend(reasoning);
            notes.push(noted(nth, &["author", "content"], rest));
        }
        let recaps = std::mem::take(&mut self.recaps).into_iter();
        let recaps: Vec<_> = recaps.map(|nth| noted(nth, &["author"], None)).collect();
        draft
            .list("reasoning", &parts)
            .note("thoughts", listed(&notes))
            .note("recaps", listed(&recaps));
    }

    /// Adds the waiting nodes that no answer followed.
    fn end(&mut self) {
        self.end_answer();
        if let Some(first) = self.thoughts.first().map(|nth| &self.nodes[*nth]) {
            let mut draft = AnnotatedDraft::with_content("assistant", "null");
            self.add_pending_reasoning(&mut draft);
            self.finish(first, draft);
        }
        for nth in std::mem::take(&mut self.recaps) {
            self.add_passthrough(&self.nodes[nth]);
        }
    }

    /// Adds a passthrough record for a node that is not a message.
    fn add_passthrough(&mut self, node: &TreeNode<'_>) {
        self.item.push(&mut self.session, passthrough(NAME, node.raw));
    }

    /// Adds the data of a message without a native member.
    fn annotate(&mut self, draft: &mut AnnotatedDraft, node: &TreeNode<'_>, content: &NodeContent<'_>) {
        count_attachments(node, self.report);
        draft
            .note("message", extra_members(node))
            .note("content", content.rest.clone())
            .note("parts", content.notes());
    }

    /// Completes a message and adds it to the session.
    fn finish(&mut self, node: &TreeNode<'_>, mut draft: AnnotatedDraft) {
        draft.optional("name", node.author.string("name"));
        if node.is_first {
            draft.raw("id", quoted(&node.id));
        }
        draft.optional("timestamp", node.time().map(|time| quoted(&time)));
        if node.is_reply() {
            let model = node.metadata.as_ref().and_then(|own| own.string("model_slug"));
            draft.optional("model", model);
        }
        self.item.push(&mut self.session, draft.body_of(NAME));
    }
}

fn call_id(node: &TreeNode<'_>) -> String {
    format!("call_{}", node.id)
}

/// Counts attached files, which are separate from the export: their description is kept, their content is lost.
fn count_attachments(node: &TreeNode<'_>, report: &mut Report) {
    let files = node.metadata.as_ref().and_then(|own| own.list("attachments"));
    report.count_loss(Loss::Attachment, files.map_or(0, |files| files.len() as u64));
}

/// An array of annotations, unless it is empty.
fn listed(notes: &[Vec<u8>]) -> Option<Vec<u8>> {
    (!notes.is_empty()).then(|| array(notes))
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
    node.message.add_extra_members(&mut built, &known);
    match &node.metadata {
        Some(own) => built.optional("metadata", own.extra_members(&["model_slug"])),
        None => built.optional("metadata", node.message.get("metadata")),
    };
    built.optional("author", node.author.extra_members(&["role", "name"]));
    (!built.is_empty()).then(|| built.finish())
}
