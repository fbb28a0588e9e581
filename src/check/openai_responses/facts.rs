//! The parts of an item that rules depend on.

use super::parts::{self, ItemKind, PartFault};
use crate::check::raw::{each, elements, is_filled, string};

/// The API.
pub(in crate::check) struct ResponsesRules;

/// Types of calls with results in separate items, whose type is that of the call and `_output`.
pub(super) const CALLS: [&str; 6] = [
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "apply_patch_call",
    "shell_call",
];

#[derive(Debug)]
pub(in crate::check) struct ResponsesFacts {
    pub(super) kind: ItemKind,
    /// `call_id`.
    pub(super) call: String,
    pub(super) id: Option<String>,
    pub(super) encrypted: bool,
    /// Whether its reasoning was removed.
    pub(super) bereft: bool,
    /// Invalid parts of the content or of a result's output.
    pub(super) faults: Vec<(usize, PartFault)>,
}

impl ResponsesFacts {
    /// Whether the model created it, so that reasoning can belong to it.
    pub(super) fn is_from_model(&self) -> bool {
        matches!(
            self.kind,
            ItemKind::Assistant | ItemKind::Call(_) | ItemKind::Other | ItemKind::Reference
        )
    }
}

/// Reads an item.
pub(super) fn read(raw: &[u8]) -> ResponsesFacts {
    let mut facts = ResponsesFacts {
        kind: ItemKind::Other,
        call: String::new(),
        id: None,
        encrypted: false,
        bereft: false,
        faults: Vec::new(),
    };
    let (mut kind, mut role) = (None, None);
    let (mut content, mut output): (&[u8], &[u8]) = (b"", b"");
    each(raw, |name, value| match name {
        "type" => kind = Some(string(value)),
        "role" => role = Some(string(value)),
        "call_id" => facts.call = string(value),
        "id" => facts.id = Some(string(value)).filter(|id| !id.is_empty()),
        "encrypted_content" => facts.encrypted = is_filled(Some(value)),
        "_had_reasoning" => facts.bereft = value == b"true",
        "content" => content = value,
        "output" => output = value,
        _ => {}
    });
    facts.kind = kind_of(kind.as_deref(), role.as_deref());
    // The result of a shell call has the id of its call.
    if let (ItemKind::Output(_), true) = (facts.kind, facts.call.is_empty()) {
        facts.call = facts.id.take().unwrap_or_default();
    }
    let parts = match facts.kind {
        ItemKind::Output(_) => output,
        _ => content,
    };
    let faults = elements(parts)
        .into_iter()
        .map(|part| parts::fault(facts.kind, part));
    facts.faults = faults
        .enumerate()
        .filter_map(|(part, fault)| Some((part, fault?)))
        .collect();
    facts
}

fn kind_of(kind: Option<&str>, role: Option<&str>) -> ItemKind {
    match kind {
        None | Some("message") => match role {
            Some("assistant") => ItemKind::Assistant,
            Some(role) => ItemKind::Message(role.bytes().next().unwrap_or_default()),
            None => ItemKind::Other,
        },
        Some("reasoning") => ItemKind::Reasoning,
        Some("compaction") => ItemKind::Compaction,
        Some("item_reference") => ItemKind::Reference,
        Some(kind) => {
            let call = |name: &str| CALLS.iter().position(|call| *call == name);
            let output = kind.strip_suffix("_output").and_then(call).map(ItemKind::Output);
            call(kind)
                .map(ItemKind::Call)
                .or(output)
                .unwrap_or(ItemKind::Other)
        }
    }
}
