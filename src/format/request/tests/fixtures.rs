//! Tests with the sample files, if available: `CONVO_FIXTURES` names the directory; the default is
//! `../shared/fixtures`, next to this crate.

use super::*;
use crate::model::json::{self, Dialect};
use crate::sample_data;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn real_world_files_are_restored() {
    let root = sample_data::path("wild");
    let mut files = 0;
    for api in READ {
        let dir = root.join(api.name());
        let truth = std::fs::read(dir.join("truth.json")).unwrap();
        let truth: serde_json::Value = serde_json::from_slice(&truth).unwrap();
        for (name, facts) in truth["files"].as_object().unwrap() {
            let text = std::fs::read_to_string(dir.join(name)).unwrap();
            let session = read(api, &text);
            for purpose in [WritePurpose::Return, WritePurpose::Export] {
                same(&printed(api, &session, purpose).0, &text);
            }
            let view = View::replay(&session);
            let messages: Vec<_> = view.messages(&session).collect();
            let calls: usize = messages.iter().map(|m| m.tool_calls().len()).sum();
            let results = messages.iter().filter(|m| m.role().name() == "tool").count();
            let reasoning = messages
                .iter()
                .filter_map(|m| json::elements(m.reasoning?, Dialect::Strict));
            let count = |name: &str| facts[name].as_u64().unwrap() as usize;
            assert_eq!(calls, count("tool_calls"), "{name}");
            assert_eq!(results, count("tool_results"), "{name}");
            assert_eq!(
                reasoning.map(|parts| parts.len()).sum::<usize>(),
                count("reasoning"),
                "{name}"
            );
            let halves = request(api, &session).1.losses;
            let orphans = halves
                .get(&crate::format::report::Loss::Orphan)
                .copied()
                .unwrap_or(0);
            assert_eq!(
                orphans as usize,
                count("orphan_calls") + count("orphan_results"),
                "{name}"
            );
            files += 1;
        }
    }
    eprintln!("{files} files come back as they were");
    assert!(files > 10);
}

/// Readers do not repair: the violated rules are the same before and after.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn histories_that_violate_rules_are_restored() {
    let path = sample_data::path("validate/validate_rules.json");
    let rules: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut histories = 0;
    for rule in rules["rules"].as_array().unwrap() {
        let api = Api::from_name(rule["api"].as_str().unwrap()).unwrap();
        for side in ["violating", "fixed"] {
            let text = rule[side].to_string();
            if text == "[]" {
                continue;
            }
            let session = read(api, &text);
            let request = request(api, &session).0;
            let elements = request.elements.iter().map(|element| element.raw.clone());
            let back = json::array(elements);
            same(&String::from_utf8(back).unwrap(), &text);
            histories += 1;
        }
    }
    eprintln!("{histories} histories break and keep the rules as before");
    assert!(histories > 80);
}
