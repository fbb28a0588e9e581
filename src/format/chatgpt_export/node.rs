//! The nodes of a conversation, and the paths through them.

use crate::format::branches::{self, Path};
use crate::format::object::Object;
use crate::model::json::{self, Dialect, Members};
use crate::model::time;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// No content: the root, or an empty preamble.
    Nothing,
    /// Reasoning for the following answer.
    Thoughts,
    /// The duration of the reasoning.
    Recap,
    /// A tool result.
    Tool,
    /// Any other message.
    Message,
    /// Not a node, or a message without a role.
    Unrecognized,
}

#[derive(Debug)]
pub struct TreeNode<'a> {
    pub id: Cow<'a, str>,
    pub raw: &'a [u8],
    pub kind: NodeKind,
    pub message: Object<'a>,
    pub author: Object<'a>,
    /// The metadata of the message.
    pub metadata: Option<Object<'a>>,
    /// Whether it is the first with its id.
    pub is_first: bool,
    /// Its time; 0 if unknown.
    seconds: f64,
}

#[derive(Debug, Default)]
pub struct ConversationTree<'a> {
    /// The nodes in file order.
    pub nodes: Vec<TreeNode<'a>>,
    /// The active path first, then the branches.
    pub paths: Vec<Path>,
}

impl<'a> ConversationTree<'a> {
    /// From a `mapping`; `None` if it is not an object.
    pub fn of(mapping: &'a [u8], current: Option<&str>) -> Option<ConversationTree<'a>> {
        let mut scan = Members::new(mapping, Dialect::Strict).ok()?;
        let mut nodes = Vec::new();
        let mut named = Vec::new();
        let mut by_id: HashMap<Cow<'a, str>, usize> = HashMap::new();
        while let Some(member) = scan.next().ok()? {
            let id = json::unescape(member.key);
            let nth = nodes.len();
            let is_first = *by_id.entry(id.clone()).or_insert(nth) == nth;
            let object = Object::of(member.value);
            named.push(object.as_ref().and_then(|node| node.text("parent")));
            nodes.push(TreeNode::of(id, member.value, object, is_first));
        }
        let parents = branches::parents(&by_id, named);
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|one, other| {
            let (one, other) = (&nodes[*one], &nodes[*other]);
            let time = one.seconds.total_cmp(&other.seconds);
            time.then_with(|| one.id.cmp(&other.id))
        });
        let active = current.and_then(|id| by_id.get(id).copied());
        let paths = branches::paths(&parents, active, &order);
        Some(ConversationTree { nodes, paths })
    }
}

impl<'a> TreeNode<'a> {
    fn of(id: Cow<'a, str>, raw: &'a [u8], object: Option<Object<'a>>, is_first: bool) -> TreeNode<'a> {
        let raw_message = object.as_ref().and_then(|node| node.get("message"));
        let message = raw_message.and_then(Object::of).unwrap_or_default();
        let author = message.object("author").unwrap_or_default();
        let kind = match (&object, raw_message) {
            (Some(_), None | Some(b"null")) => NodeKind::Nothing,
            _ => kind(&message, &author),
        };
        TreeNode {
            id,
            raw,
            kind,
            seconds: message.get("create_time").and_then(json::number).unwrap_or(0.0),
            metadata: message.object("metadata"),
            message,
            author,
            is_first,
        }
    }

    /// Whether the model wrote the message.
    pub fn is_reply(&self) -> bool {
        self.author.get("role") == Some(b"\"assistant\"")
    }

    /// The recipient of the message, if it is a tool.
    pub fn tool(&self) -> Option<&'a [u8]> {
        let recipient = self.message.string("recipient")?;
        let is_tool = !matches!(recipient, b"\"all\"" | b"\"\"");
        (is_tool && self.is_reply()).then_some(recipient)
    }

    /// Its time in RFC 3339.
    pub fn time(&self) -> Option<String> {
        self.message.get("create_time").and_then(moment)
    }
}

fn kind(message: &Object<'_>, author: &Object<'_>) -> NodeKind {
    let content = message.get("content");
    let kind = content.and_then(|raw| json::member(raw, "content_type"));
    match (author.filled("role").as_deref(), kind) {
        (None, _) => NodeKind::Unrecognized,
        (_, Some(b"\"thoughts\"")) => NodeKind::Thoughts,
        (_, Some(b"\"reasoning_recap\"")) => NodeKind::Recap,
        (Some("tool"), _) => NodeKind::Tool,
        (Some("system"), Some(b"\"text\"")) if super::content::NodeContent::of(content).is_empty() => {
            NodeKind::Nothing
        }
        _ => NodeKind::Message,
    }
}

/// Converts a time of an export, which is in seconds since 1970, keeping its digits.
pub fn moment(raw: &[u8]) -> Option<String> {
    match json::text(raw) {
        Some(text) => time::read(&text).map(|read| read.time),
        None => time::from_digits(std::str::from_utf8(raw).ok()?),
    }
}
