//! The cases of `validate_rules.json`, if available.

use super::*;

/// The options of a case.
fn options(of: &Value) -> CheckOptions {
    let mut options = CheckOptions::default();
    for (name, value) in of.as_object().unwrap() {
        match (name.as_str(), value) {
            ("thinking", Value::Bool(on)) => options.thinking = *on,
            ("store", Value::Bool(store)) => options.stateless = !store,
            ("tools", Value::Bool(tools)) => options.no_tools = !tools,
            other => panic!("{other:?}"),
        }
    }
    options
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_rule_finds_its_violating_history_and_not_the_fixed_one() {
    let path = crate::sample_data::path("validate/validate_rules.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = file["rules"].as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let rule = HistoryRule::of(id).unwrap();
        let api = Api::from_name(case["api"].as_str().unwrap()).unwrap();
        assert_eq!(
            (rule.api, rule.level.name()),
            (Some(api), case["level"].as_str().unwrap()),
            "{id}"
        );
        let options = options(&case["options"]);
        let found = check(api, &elements(&case["violating"].to_string()), &options);
        assert!(rules(&found).contains(&id), "{id}: {found:?}");
        let found = check(api, &elements(&case["fixed"].to_string()), &options);
        assert!(!found.iter().any(ApiViolation::is_error), "{id} fixed: {found:?}");
        assert!(!rules(&found).contains(&id), "{id} fixed: {found:?}");
        for mode in MODES {
            let fixed = fix(
                api,
                &elements(&case["violating"].to_string()),
                &options,
                &repair(mode),
            );
            assert_eq!(
                fixed.errors().count(),
                usize::from(id == "OC11"),
                "{id} {mode:?}: {:?}",
                fixed.left
            );
            let whole = elements(&case["fixed"].to_string());
            let fixed = fix(api, &whole, &options, &repair(mode));
            let same = fixed.elements.iter().map(|element| &element.raw).eq(&whole);
            assert!(
                same && fixed.changes.is_empty(),
                "{id} fixed {mode:?}: {:?}",
                fixed.changes
            );
        }
    }
    eprintln!("{} rules, {} histories", cases.len(), 2 * cases.len());
    assert_eq!(cases.len(), RULES.len());
}
