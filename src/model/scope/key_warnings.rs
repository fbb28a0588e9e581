//! Notes and warnings about ambiguous keys: sessions that could have the same key, and values that were normalized.

use super::inbound_message::{InboundMessage, ScopeSettings};
use super::inbound_scope::Dimension;
use super::picoclaw_normalize::{self, folded};
use super::tenant_scope::Owner;
use super::{KeyForm, Scope, signature};

const NO_DIMENSION: &str =
    "no dimension applies: all sessions of this agent, channel and account share the key";

pub(super) fn notes_on_given_key(key: &str) -> Vec<String> {
    let mut notes = vec!["the key is used as given, not derived".to_string()];
    if !signature::is_opaque(key) && signature::legacy(key).is_none() {
        notes.push("starts like agent:NAME:REST, but has another form".to_string());
    }
    notes
}

/// Notes on the key of a scope.
pub(super) fn of_scope(scope: &Scope, form: KeyForm) -> Vec<String> {
    let mut notes = Vec::new();
    if scope.values.is_empty() {
        notes.push(NO_DIMENSION.to_string());
    }
    if form != KeyForm::Picoclaw {
        return notes;
    }
    let values = scope
        .values
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let own = [
        ("agent", scope.agent.as_str()),
        ("channel", &scope.channel),
        ("account", &scope.account),
    ];
    for (name, value) in own.into_iter().chain(values) {
        if value.contains('|') {
            notes.push(format!(
                "{name} '{value}' contains an unescaped '|': other scopes can have the same key"
            ));
        }
        case(&mut notes, name, value);
    }
    notes
}

fn case(notes: &mut Vec<String>, name: &str, value: &str) {
    let lower = folded(value);
    if lower != value.trim() {
        notes.push(format!(
            "{name} '{value}' is '{lower}' in the key: ids that differ only in case share the key"
        ));
    }
}

/// Notes on the key of an incoming message.
pub(super) fn of_arrival(
    arrival: &InboundMessage<'_>,
    scope: &Scope,
    form: KeyForm,
    settings: &ScopeSettings,
) -> Vec<String> {
    let inbound = arrival.inbound(settings);
    let dimensions = arrival.dimensions(settings);
    let mut notes = warnings(arrival, form, settings);
    if form == KeyForm::Picoclaw {
        for (name, value, id) in [
            ("agent", &inbound.agent, &scope.agent),
            ("account", &inbound.account, &scope.account),
        ] {
            if picoclaw_normalize::is_emptied(value) {
                continue; // reported as a warning
            }
            if !value.trim().is_empty() && folded(value) != id.as_str() {
                notes.push(format!(
                    "{name} '{value}' is '{id}' in the key: similar ids share the key"
                ));
            } else {
                case(&mut notes, name, value);
            }
        }
        for (dimension, value) in [
            (Dimension::Space, &inbound.space),
            (Dimension::Chat, &inbound.chat),
            (Dimension::Topic, &inbound.topic),
            (Dimension::Sender, &inbound.sender),
        ] {
            if dimensions.contains(&dimension) {
                case(&mut notes, dimension.name(), value);
            }
        }
        for (name, kind) in [
            ("space_type", &inbound.space_type),
            ("chat_type", &inbound.chat_type),
        ] {
            if kind.contains(':') {
                notes.push(format!("{name} '{kind}' contains an unescaped colon"));
            }
        }
        if inbound.is_forum(dimensions) && dimensions.contains(&Dimension::Chat) && inbound.chat.contains('/')
        {
            notes.push(format!(
                "chat '{}' contains a slash, which separates the topic of a forum",
                inbound.chat
            ));
        }
    }
    let topic = !inbound.topic.trim().is_empty();
    let in_chat = inbound.is_forum(dimensions) && dimensions.contains(&Dimension::Chat);
    if topic && !in_chat && !dimensions.contains(&Dimension::Topic) {
        notes.push(
            "the topic is not part of the key: all topics share one session; separate them with --dimension topic".to_string(),
        );
    }
    if inbound.chat_type.trim().is_empty() && !inbound.chat.trim().is_empty() {
        notes.push("without chat_type, the scope has direct and the alias unknown".to_string());
    }
    if dimensions.contains(&Dimension::Sender) {
        notes.extend(of_sender(arrival, form, settings));
    }
    notes.extend(of_scope(scope, form));
    let mut seen = std::collections::HashSet::new();
    notes.retain(|note| seen.insert(note.clone()));
    notes
}

/// Warnings: no channel or dimension given, an id that normalizes to nothing, or an ambiguous sender.
pub(super) fn warnings(arrival: &InboundMessage<'_>, form: KeyForm, settings: &ScopeSettings) -> Vec<String> {
    let mut warnings = Vec::new();
    if form == KeyForm::Penguiflow {
        return warnings; // this form encodes owners only
    }
    let inbound = &*arrival.inbound(settings);
    if inbound.channel.trim().is_empty() {
        warnings.push("no channel given: messages without channel share 'unknown'".to_string());
    }
    let dimensions = arrival.dimensions(settings);
    let is_absent = |dimension: &&Dimension| {
        let value = match dimension {
            Dimension::Space => &inbound.space,
            Dimension::Chat => &inbound.chat,
            Dimension::Topic => &inbound.topic,
            Dimension::Sender => &inbound.sender,
        };
        value.trim().is_empty()
    };
    // Absent topics and spaces are normal, so warn only if all dimensions are absent.
    if !dimensions.is_empty() && dimensions.iter().all(|dimension| is_absent(&dimension)) {
        warnings.push(NO_DIMENSION.to_string());
    }
    if form == KeyForm::Picoclaw {
        for (name, value, default) in [
            ("agent", &inbound.agent, picoclaw_normalize::AGENT),
            ("account", &inbound.account, picoclaw_normalize::ACCOUNT),
        ] {
            if picoclaw_normalize::is_emptied(value) {
                warnings.push(format!(
                    "{name} '{value}' contains no character of an id: replaced by '{default}', which others share"
                ));
            }
        }
    }
    if arrival.dimensions(settings).contains(&Dimension::Sender)
        && let Some(found) =
            arrival
                .links(settings)
                .find(&inbound.channel, &inbound.sender, form == KeyForm::Picoclaw)
        && !found.others.is_empty()
    {
        let (name, others) = (found.name, found.others.join(", "));
        warnings.push(format!(
            "sender '{}' is listed under {name} and {others}; using {name}, the first in byte order",
            inbound.sender.trim()
        ));
    }
    warnings
}

/// Notes on the identity of the sender.
fn of_sender(arrival: &InboundMessage<'_>, form: KeyForm, settings: &ScopeSettings) -> Vec<String> {
    let inbound = &*arrival.inbound(settings);
    let found = arrival
        .links(settings)
        .find(&inbound.channel, &inbound.sender, form == KeyForm::Picoclaw);
    let Some(found) = found else { return Vec::new() };
    let mut notes = Vec::new();
    let sender = folded(&inbound.sender);
    let channel = folded(&inbound.channel);
    if sender.ends_with(&format!(":{}", found.id)) && sender != format!("{channel}:{}", found.id) {
        let bare = &found.id;
        notes.push(format!(
            "sender '{sender}' is {} because of the id '{bare}' after the colon, which may belong to another network",
            found.name
        ));
    }
    notes.push(format!(
        "the channel is part of the key: {} has a separate session on every channel",
        found.name
    ));
    notes
}

/// Notes on the key of an owner's session.
pub(super) fn of_owner(owner: &Owner, form: KeyForm) -> Vec<String> {
    match owner.ambiguity() {
        Some(why) if form == KeyForm::Convo => {
            vec![format!(
                "{why}: no alias '{}', which others could share",
                owner.joined()
            )]
        }
        _ => Vec::new(),
    }
}
