//! Round trip of JSON values through YAML.

use crate::format::aichat::{encode, yaml};
use crate::model::json;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(text: &str) -> Result<Value, (usize, &'static str)> {
    yaml::value(text)
        .map(|raw| serde_json::from_slice(&raw).unwrap())
        .map_err(|fault| (fault.line, fault.what))
}

#[test]
fn yaml_written_by_aichat_is_read() {
    let cases = [
        (
            "a: 1\nb:\n- x\n- y: z\n  w: 2\nc:\n  d: {}\n  e: []",
            json!({"a": 1, "b": ["x", {"y": "z", "w": 2}], "c": {"d": {}, "e": []}}),
        ),
        (
            "- role: user\n  content: |-\n    one\n\n      two\n    three\n- b",
            json!([{"role": "user", "content": "one\n\n  two\nthree"}, "b"]),
        ),
        (
            "a: |\n  x\nb: |+\n  y\n\nc: |2-\n    z",
            json!({"a": "x\n", "b": "y\n\n", "c": "  z"}),
        ),
        (
            "a: 'it''s'\nb: \"\\u00e9\\x41\\n\\t\\U0001F600\\ud83d\\ude00\"\n\"c d\": ~",
            json!({"a": "it's", "b": "éA\n\t😀😀", "c d": null}),
        ),
        (
            "a: no\nb: yes # said\nc: true\nd: 1.50\ne: -0\nf: 12:30\ng: a#b",
            json!({"a": "no", "b": "yes", "c": true, "d": 1.50, "e": -0.0, "f": "12:30", "g": "a#b"}),
        ),
        (
            "# said\na:\n# more\n  b:\n    - - 1\n      - 2\n    -\n      c: 3",
            json!({"a": {"b": [[1, 2], {"c": 3}]}}),
        ),
        ("a: {\"x\": [1, 2]}", json!({"a": {"x": [1, 2]}})),
        ("a:\nb:", json!({"a": null, "b": null})),
        ("", json!(null)),
    ];
    for (text, value) in cases {
        assert_eq!(
            read(text).map(|value| value.to_string()),
            Ok(value.to_string()),
            "{text}"
        );
        let windows = text.replace('\n', "\r\n");
        assert_eq!(
            read(&windows).map(|value| value.to_string()),
            Ok(value.to_string()),
            "{text}"
        );
    }
    assert_eq!(
        yaml::value("a: 9007199254740993").unwrap(),
        b"{\"a\":9007199254740993}"
    );
}

#[test]
fn unsupported_yaml_is_refused_with_its_line() {
    for (text, line) in [
        ("a: 1\nb: &x y", 1),
        ("a: *x", 0),
        ("a: !!str 1", 0),
        ("a: >\n  folded", 0),
        ("a: [x, y]", 0),
        ("a: \"open\n  end\"", 0),
        ("a: one\n  two", 1),
        ("a: x: y", 0),
        ("a: 1\na: 2", 1),
        ("a:\n\tb: 1", 1),
        ("a: 1\n b: 2", 1),
        ("a: |\n    x\n  y", 2),
        ("a: \"\\q\"", 0),
        ("a: \"x\" y", 0),
        ("? a\n: b", 0),
        ("a: \"\\ud83d\"", 0),
    ] {
        assert_eq!(read(text).map_err(|(line, _)| line), Err(line), "{text}");
    }
    let deep = "- ".repeat(100_000);
    assert!(read(&deep).is_err());
    let deep: String = (0..2000).map(|nth| format!("{}a:\n", " ".repeat(nth))).collect();
    assert!(read(&deep).is_err());
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~\n\t]{0,20}",
        "( |\n|a|#|:|-|\"|'|\\||>){0,8}",
        prop::sample::select(vec![
            "no", "~", "null", "1", "1e3", "-", "---", "0x1f", "12:30", ".5", "a: b", "a #b", "y"
        ])
        .prop_map(String::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn written_values_read_back_equal(value in value(), indent in 0usize..3) {
        let raw = value.to_string();
        let text = encode::element(raw.as_bytes(), indent);
        let again = yaml::value(&text);
        prop_assert!(again.is_ok(), "{text}\n{again:?}");
        prop_assert!(json::same(&again.unwrap(), format!("[{raw}]").as_bytes()), "{text}");
    }

    #[test]
    fn arbitrary_text_is_parsed_without_panic(text in "([ \n\t#:'\"|>a-c-]|- |: ){0,40}") {
        let _ = yaml::value(&text);
    }
}
