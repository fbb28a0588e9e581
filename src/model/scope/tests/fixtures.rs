//! Compares keys with the test vectors of other systems, if available.

use super::asked;
use crate::error::{Error, ErrorKind};
use crate::model::scope::tenant_scope::{OwnerParts, Paths};
use crate::model::scope::{KeyForm, main_key, picoclaw_normalize, signature};
use serde_json::Value;

/// Vectors with a different result, and the reason.
const DIFFERENT: [(&str, &str); 4] = [
    ("unknown-dimension", "a dimension that there is not is refused"),
    (
        "uppercase-dim-ignored",
        "a dimension spelled otherwise is refused, and its right spelling told",
    ),
    (
        "dims-with-spaces-ignored",
        "a dimension spelled otherwise is refused, and its right spelling told",
    ),
    (
        "forum-topic-dim-uppercase",
        "a dimension spelled otherwise is refused, instead of putting all topics together",
    ),
];

fn collection(name: &str) -> Value {
    let text = std::fs::read_to_string(crate::sample_data::path(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn same_json(bytes: &[u8], expected: &Value) -> bool {
    serde_json::from_slice::<Value>(bytes).unwrap() == *expected
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn allocations_agree_with_picoclaw() {
    let all = collection("picoclaw/key-vectors.json");
    let (mut agree, mut different) = (0, Vec::new());
    for case in all["allocations"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let mut question = serde_json::Map::new();
        for member in ["agent_id", "context", "dimensions", "identity_links"] {
            question.insert(member.to_string(), case[member].clone());
        }
        let answer = match asked(&Value::Object(question).to_string()) {
            Ok(answer) => answer,
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Usage, "{name}: {error}");
                different.push(name);
                continue;
            }
        };
        assert_eq!(answer.key, case["session_key"], "{name}");
        assert_eq!(answer.signature.as_deref(), case["signature"].as_str(), "{name}");
        assert!(
            same_json(answer.scope.as_deref().unwrap(), &case["scope"]),
            "{name}"
        );
        assert_eq!(Value::from(answer.aliases), case["session_aliases"], "{name}");
        assert_eq!(Value::from(answer.shared), case["main_aliases"], "{name}");
        let agent = case["agent_id"].as_str().unwrap();
        assert_eq!(
            main_key(agent, KeyForm::Picoclaw).unwrap(),
            case["main_session_key"],
            "{name}"
        );
        // The scope of a sidecar suffices for the key.
        assert_eq!(
            asked(&case["scope"].to_string()).unwrap().key,
            case["session_key"],
            "{name}"
        );
        agree += 1;
    }
    let known: Vec<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
    different.sort_unstable();
    let mut expected = known.clone();
    expected.sort_unstable();
    assert_eq!(different, expected);
    eprintln!(
        "picoclaw allocations: {agree} agree, {} deliberately different: {DIFFERENT:?}",
        different.len()
    );
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn ids_and_explicit_keys_agree_with_picoclaw() {
    let all = collection("picoclaw/key-vectors.json");
    let (ids, opaque, given) = (&all["normalize_id"], &all["opaque"], &all["explicit"]);
    for case in ids.as_array().unwrap() {
        let id = case["in"].as_str().unwrap();
        assert_eq!(
            picoclaw_normalize::agent(id),
            case["agent"].as_str().unwrap(),
            "{id:?}"
        );
        assert_eq!(
            picoclaw_normalize::account(id),
            case["account"].as_str().unwrap(),
            "{id:?}"
        );
    }
    for case in opaque.as_array().unwrap() {
        let input = case["input"].as_str().unwrap();
        assert_eq!(signature::opaque(input), case["key"], "{input:?}");
        assert_eq!(signature::is_explicit(input), case["is_explicit"], "{input:?}");
    }
    for case in given.as_array().unwrap() {
        let key = case["key"].as_str().unwrap();
        assert_eq!(signature::is_explicit(key), case["explicit"], "{key:?}");
        assert_eq!(signature::is_opaque(key), case["opaque"], "{key:?}");
        assert_eq!(
            key.trim().to_lowercase().starts_with("agent:"),
            case["legacy"],
            "{key:?}"
        );
        let parsed =
            signature::legacy(key).map(|(agent, rest)| serde_json::json!({"agent": agent, "rest": rest}));
        assert_eq!(Value::from(parsed), case["parsed"], "{key:?}");
    }
    let [ids, opaque, given] = [ids, opaque, given].map(|all| all.as_array().unwrap().len());
    eprintln!("picoclaw: {ids} ids, {opaque} hashed keys, {given} given keys agree, none differs");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn memory_keys_agree_with_penguiflow() {
    let all = collection("penguiflow/tables/memory_keys.json");
    let (mut agree, mut refused) = (0, Vec::new());
    for case in all["resolution"].as_array().unwrap() {
        if case["strategy"] == "none" {
            // Without a retention policy, neither system needs a key.
            agree += 1;
            continue;
        }
        let path =
            |name: &str, default: &str| case["isolation"][name].as_str().unwrap_or(default).to_string();
        let paths = Paths {
            tenant: path("tenant_key", "tenant_id"),
            user: path("user_key", "user_id"),
            session: path("session_key", "session_id"),
        };
        let found = match case["explicit"].as_array() {
            Some(parts) => {
                let part = |nth: usize| parts[nth].as_str().map(str::to_string);
                Ok(OwnerParts {
                    tenant: part(0),
                    user: part(1),
                    session: part(2),
                })
            }
            None => paths.find(case["tool_context"].to_string().as_bytes()),
        };
        let key = found.and_then(|parts| match parts.owner()? {
            Some(owner) => owner.key(KeyForm::Penguiflow).map(Some),
            None => Ok(None),
        });
        match (key, case["mark"].as_str().unwrap()) {
            (Ok(key), "match") => {
                assert_eq!(Value::from(key), case["composite"], "{case}");
                agree += 1;
            }
            // Without a session there is no key.
            (
                Ok(None)
                | Err(Error {
                    kind: ErrorKind::Usage,
                    ..
                }),
                "differ",
            ) => {
                refused.push(case["convo"].to_string());
            }
            (other, _) => panic!("{other:?}: {case}"),
        }
        // Default tenant and user replace missing ones.
        if case["convo"]
            .as_str()
            .is_some_and(|convo| convo.starts_with("same key only with"))
        {
            let defaults = OwnerParts {
                tenant: Some("default".to_string()),
                user: Some("anonymous".to_string()),
                session: None,
            };
            let parts = paths.find(case["tool_context"].to_string().as_bytes()).unwrap();
            let owner = parts.or(defaults).owner().unwrap().unwrap();
            assert_eq!(
                owner.key(KeyForm::Penguiflow).unwrap(),
                case["composite"],
                "{case}"
            );
        }
    }
    for case in all["composite"].as_array().unwrap() {
        let part = |name: &str| case[name].as_str().map(str::to_string);
        let parts = OwnerParts {
            tenant: part("tenant_id"),
            user: part("user_id"),
            session: part("session_id"),
        };
        let owner = parts.owner();
        match case["mark"].as_str().unwrap() {
            "match" => {
                let key = owner.unwrap().unwrap().key(KeyForm::Penguiflow).unwrap();
                assert_eq!(key, case["composite"], "{case}");
                agree += 1;
            }
            _ => {
                let key = owner.map(|owner| owner.map(|owner| owner.key(KeyForm::Penguiflow)));
                assert!(!matches!(key, Ok(Some(Ok(_)))), "{case}");
                refused.push(case["convo"].to_string());
            }
        }
    }
    eprintln!(
        "penguiflow memory keys: {agree} agree, {} deliberately different:",
        refused.len()
    );
    refused.iter().for_each(|why| eprintln!("  {why}"));
    assert_eq!((agree, refused.len()), (11, 13));
}
