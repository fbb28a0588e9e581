//! Tests that keys do not collide and match those of other systems.

mod fixtures;

use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

fn asked(object: &str) -> Result<KeyAnswer> {
    answer(object, KeyForm::Picoclaw)
}

fn answer(object: &str, form: KeyForm) -> Result<KeyAnswer> {
    Ok(KeyRequest::read(object.as_bytes())?
        .answer(form, &ScopeSettings::default())?
        .unwrap())
}

fn key(object: &str) -> String {
    answer(object, KeyForm::Convo).unwrap().key
}

#[test]
fn native_keys_distinguish_scopes_that_others_conflate() {
    let message = |chat: &str, sender: &str, dimensions: &str| {
        key(&format!(
            r#"{{"channel":"irc","chat_id":"{chat}","chat_type":"group","sender_id":"{sender}","dimensions":{dimensions}}}"#
        ))
    };
    let twins = [
        message("x|sender=u1", "zz", r#"["chat"]"#),
        message("x", "u1", r#"["chat","sender"]"#),
        message("X", "u1", r#"["chat","sender"]"#),
        message("x", "U1", r#"["chat","sender"]"#),
        message("x.sender-u1", "zz", r#"["chat"]"#),
        message("x", "u1", r#"["sender","chat"]"#),
    ];
    let different: std::collections::HashSet<_> = twins.iter().collect();
    assert_eq!(different.len(), twins.len(), "{twins:?}");
    assert_eq!(twins[1], "scope1.channel-irc.chat-group__x.sender-u1");
    // A person differs from a sender of that name, a topic from a part of a chat id, and a colon in a type is escaped.
    let links = r#""identity_links":{"alice":["u7"]},"dimensions":["sender"]"#;
    assert_ne!(
        key(&format!(r#"{{"channel":"irc","sender_id":"u7",{links}}}"#)),
        key(&format!(r#"{{"channel":"irc","sender_id":"alice",{links}}}"#))
    );
    assert_ne!(
        key(r#"{"channel":"telegram","chat_id":"-1/42"}"#),
        key(r#"{"channel":"telegram","chat_id":"-1","topic_id":42}"#)
    );
    assert_ne!(
        key(r#"{"channel":"x","chat_type":"a:b","chat_id":"c"}"#),
        key(r#"{"channel":"x","chat_type":"a","chat_id":"b:c"}"#)
    );
    let owner = |tenant: &str, user: &str, session: &str| {
        key(&format!(
            r#"{{"tenant":"{tenant}","user":"{user}","session":"{session}"}}"#
        ))
    };
    assert_ne!(owner("a:b", "c", "d"), owner("a", "b:c", "d"));
    assert_eq!(owner("a:b", "c", "d"), "scope1.tenant-a__b.user-c.session-d");
}

#[test]
fn a_key_is_decoded_to_its_scope() {
    let question = r#"{"agent_id":"Support Desk","channel":"Slack","account":"Workspace A","chat_id":"C001","chat_type":"channel"}"#;
    let answer = answer(question, KeyForm::Convo).unwrap();
    assert_eq!(
        answer.key,
        "scope1.agent-Support_20Desk.account-Workspace_20A.channel-slack.chat-channel__C001"
    );
    let scope = Scope::of_key(&answer.key).unwrap();
    assert_eq!(scope.write(), answer.scope.clone().unwrap());
    assert_eq!(
        key(std::str::from_utf8(&answer.scope.unwrap()).unwrap()),
        answer.key
    );
    assert!(
        answer.aliases.contains(&asked(question).unwrap().key),
        "the peer's key is an alias"
    );
    assert_eq!(main_key(" ", KeyForm::Convo).unwrap(), "scope1.main-session");
    assert_eq!(
        main_key("sales", KeyForm::Convo).unwrap(),
        "scope1.agent-sales.main-session"
    );
    assert_eq!(Scope::of_key("scope1.main-session"), None);
    let owner = tenant_scope::Owner::of_key("scope1.tenant-a__b.user-c.session-d").unwrap();
    assert_eq!(owner.tenant, "a:b");
}

#[test]
fn requests_are_classified_by_their_members() {
    assert!(matches!(
        KeyRequest::read(br#"{"session_key":" Agent:x ","channel":"cli"}"#),
        Ok(KeyRequest::Given(_))
    ));
    assert!(matches!(
        KeyRequest::read(br#"{"session_key":"mine","channel":"cli"}"#),
        Ok(KeyRequest::Inbound(_))
    ));
    assert!(matches!(
        KeyRequest::read(br#"{"type":"session","scope":{"agent_id":"a","channel":"cli","account":"x"}}"#),
        Ok(KeyRequest::Scope(_))
    ));
    assert!(matches!(
        KeyRequest::read(br#"{"scope":{"tenant":"a","user":"b","session":"c"}}"#),
        Ok(KeyRequest::Owner(_))
    ));
    for bad in [
        "[]",
        "{",
        "{}",
        r#"{"agent_id":"main"}"#,
        r#"{"channel":["x"]}"#,
        r#"{"channel":"x","dimensions":"chat"}"#,
        r#"{"channel":"x","dimensions":["Chat"]}"#,
        r#"{"values":{},"dimensions":["chat"]}"#,
    ] {
        assert!(KeyRequest::read(bad.as_bytes()).is_err(), "{bad}");
    }
    let two_lines = KeyRequest::read(br#"{"session_key":"agent:a\nb"}"#).unwrap();
    assert!(two_lines.key(KeyForm::Convo, &ScopeSettings::default()).is_err());
}

fn arbitrary() -> impl Strategy<Value = (Scope, bool)> {
    let text = "[a-zA-Z|=:./_ \\-%]{1,6}";
    let values = prop::collection::vec((text, text), 0..4);
    (text, text, text, values, any::<bool>()).prop_map(|(agent, channel, account, values, defaults)| {
        let mut known = std::collections::HashSet::new();
        let values = values
            .into_iter()
            .filter(|(name, _)| known.insert(name.clone()))
            .collect();
        let mut scope = Scope {
            agent,
            channel,
            account,
            values,
        };
        if defaults {
            (scope.agent, scope.account) = ("main".to_string(), "default".to_string());
        }
        (scope, defaults)
    })
}

proptest! {
    #[test]
    fn different_scopes_have_different_keys(all in prop::collection::vec(arbitrary(), 2..20)) {
        let mut keys: HashMap<String, Scope> = HashMap::new();
        for (scope, _) in all {
            let key = scope.key(KeyForm::Convo).unwrap();
            prop_assert!(crate::model::key::is_id(&key));
            if !is_hashed(&key) {
                prop_assert_eq!(Scope::of_key(&key), Some(scope.clone()));
            }
            if let Some(other) = keys.insert(key, scope.clone()) {
                prop_assert_eq!(other, scope);
            }
        }
    }

    #[test]
    fn arbitrary_requests_are_parsed_without_panic(object in "\\{(\"(channel|chat_id|dimensions|values|scope|context|session)\":(\"[a-z:|]{0,3}\"|\\[\\]|null|1|\\{\\}),?){0,3}\\}") {
        if let Ok(requested) = KeyRequest::read(object.as_bytes()) {
            for form in KeyForm::ALL {
                let _ = requested.answer(form, &ScopeSettings::default());
            }
        }
    }
}
