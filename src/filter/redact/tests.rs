use super::*;
use crate::format::base64;
use crate::model::key::sha256;
use std::collections::HashSet;

const GITHUB: &str = "ghs_gd23eOp1ARVjVEeNJPXGyijpXUwIL81bDYjN";

fn redact(text: &str) -> (String, Vec<SecretKind>) {
    let outcome = Redactor::default().redact(text.as_bytes());
    let text = outcome
        .bytes
        .map_or(text.to_string(), |bytes| String::from_utf8(bytes).unwrap());
    let kinds = outcome
        .findings
        .iter()
        .map(|finding| finding.secret.kind)
        .collect();
    (text, kinds)
}

#[test]
fn text_without_secrets_keeps_its_bytes() {
    for line in [
        r#"{"role":"user","content":"token budget: 52823 tokens left","id":"call_6zK8GbL5Cl7WtcyfHcxIA4uk"}"#,
        r#"{"usage":{"input_tokens": 867222,"cache_creation_input_tokens": 774922}}"#,
        "checksum = \"275376392825fc01ea6b29ea9a106865e2f74c7552861638398c762c252f5da7\"",
        "secretKeyProvider = config.get(\"thimble.canvas.orchard\")",
        "export TOKEN=\"${SECRET_331}\"",
        "AKIAIOSFODNN7EXAMPLE",
    ] {
        let outcome = Redactor::default().redact(line.as_bytes());
        assert_eq!((outcome.bytes, outcome.findings), (None, Vec::new()), "{line}");
    }
}

#[test]
fn a_secret_is_found_in_every_layer() {
    let encoded = String::from_utf8(base64::encode(
        format!(
            "GITHUB_TOKEN={GITHUB}\nand a longer text behind it, which is no secret at all: twice as long\n"
        )
        .as_bytes(),
        &base64::Base64Style::PLAIN,
    ))
    .unwrap();
    let percent = GITHUB.replace('_', "%5F");
    for text in [
        format!("take {GITHUB}."),
        format!("\u{1b}[1mGITHUB_TOKEN\u{1b}[0m=\u{1b}[33m{GITHUB}\u{1b}[0m"),
        format!("https://x.example/cb?token={percent}&next=1"),
        format!("data: {encoded}"),
        serde_json::json!({"role": "user", "content": format!("take {GITHUB}")}).to_string(),
        serde_json::json!({"arguments": serde_json::json!({"command": GITHUB}).to_string()}).to_string(),
        serde_json::json!({ GITHUB: 1 }).to_string(),
        format!("{{\"content\":\"{}\"}}", GITHUB.replace('g', "\\u0067")),
    ] {
        let (after, kinds) = redact(&text);
        assert_eq!(kinds, ["github-token"], "{text}");
        assert!(
            !after.contains(&GITHUB[10..30]) && !after.contains(&percent[10..30]),
            "{after}"
        );
        // Redacted values are not found again.
        assert_eq!(redact(&after).1, Vec::<SecretKind>::new(), "{after}");
        if text.starts_with('{') {
            serde_json::from_str::<serde_json::Value>(&after).unwrap();
        }
    }
}

#[test]
fn a_signed_part_that_would_change_is_removed() {
    let part =
        |text: &str| format!("{{\"type\":\"thinking\",\"thinking\":\"{text}\",\"signature\":\"c2lnbmVk\"}}");
    let line = |parts: &[String]| format!("{{\"reasoning\":[{}],\"content\":\"x\"}}", parts.join(","));
    let (signed, plain) = (part(GITHUB), part("nothing"));
    for (before, after) in [
        (vec![signed.clone()], vec![]),
        (vec![signed.clone(), plain.clone()], vec![plain.clone()]),
        (vec![plain.clone(), signed.clone()], vec![plain.clone()]),
        (
            vec![plain.clone(), signed.clone(), signed.clone()],
            vec![plain.clone()],
        ),
        (
            vec![signed.clone(), plain.clone(), signed.clone()],
            vec![plain.clone()],
        ),
    ] {
        assert_eq!(redact(&line(&before)).0, line(&after));
    }
    let (after, _) = redact(&format!("{{\"reasoning\":{signed}}}"));
    assert!(
        after.contains("\"signature\":\"\"") && !after.contains("ghs_"),
        "{after}"
    );
}

#[test]
fn personal_data_and_names_are_found_on_request() {
    let text = "Ask Ann or ann.lee@orchard.io, +49 172 55947680, 203.0.113.9, /home/annlee/x, 4111 1111 1111 1111; not git@github.com:x/y, 10.0.0.1, annual.";
    assert_eq!(redact(text).0, text);
    let options = RedactorOptions {
        personal: PERSONAL.to_vec(),
        names: vec!["ANN".to_string()],
        ..RedactorOptions::default()
    };
    let outcome = Redactor::new(options).redact(text.as_bytes());
    let after = String::from_utf8(outcome.bytes.unwrap()).unwrap();
    assert_eq!(
        after,
        "Ask [REDACTED:name:1] or [REDACTED:email:1], [REDACTED:phone:1], [REDACTED:ip-address:1], /home/[REDACTED:home-path:1]/x, \
         [REDACTED:card-number:1]; not git@github.com:x/y, 10.0.0.1, annual."
    );
}

#[test]
fn kinds_of_secrets_can_be_selected() {
    let text = format!("{GITHUB} and password: \"Saddle59!ptkB\"");
    let kinds = |options: RedactorOptions| -> Vec<SecretKind> {
        let outcome = Redactor::new(options).redact(text.as_bytes());
        outcome
            .findings
            .iter()
            .map(|finding| finding.secret.kind)
            .collect()
    };
    let default = RedactorOptions::default;
    assert_eq!(kinds(default()), ["github-token", "password"]);
    assert_eq!(
        kinds(RedactorOptions {
            only: vec!["password"],
            ..default()
        }),
        ["password"]
    );
    assert_eq!(
        kinds(RedactorOptions {
            except: vec!["password"],
            ..default()
        }),
        ["github-token"]
    );
    let allowed = HashSet::from([sha256(GITHUB.as_bytes())]);
    assert_eq!(kinds(RedactorOptions { allowed, ..default() }), ["password"]);
    let level = Certainty::Definite;
    assert_eq!(kinds(RedactorOptions { level, ..default() }), ["github-token"]);
    let wrong = text.replace("jN and", "jM and");
    let outcome = Redactor::new(RedactorOptions { level, ..default() }).redact(wrong.as_bytes());
    assert_eq!(outcome.findings, [], "its checksum is wrong");
}

#[test]
fn a_damaged_line_is_text_and_keeps_its_other_bytes() {
    let line = [b"{\"content\": \"\xff ", GITHUB.as_bytes(), b" \xfe"].concat();
    let outcome = Redactor::default().redact(&line);
    let after = outcome.bytes.unwrap();
    assert!(after.starts_with(b"{\"content\": \"\xff [REDACTED:github-token:") && after.ends_with(b"] \xfe"));
}

/// Redacts one line with these options.
fn by(options: RedactorOptions, line: &str) -> (String, Redactor) {
    let mut redactor = Redactor::new(options);
    let outcome = redactor.redact(line.as_bytes());
    let bytes = outcome.bytes.unwrap_or(line.into());
    (String::from_utf8(bytes).unwrap(), redactor)
}

#[test]
fn images_and_files_are_replaced_on_request() {
    let data = "iVBORw0KGgo".to_string() + &"A".repeat(80);
    let options = || RedactorOptions {
        drop_media: true,
        ..RedactorOptions::default()
    };
    let text = |line: &str| {
        assert_eq!(redact(line).0, line, "kept by default");
        let after = by(options(), line).0;
        assert!(!after.contains(&data), "{after}");
        assert_eq!(by(options(), &after).0, after);
        let start = after.find("[REDACTED:image:").unwrap();
        after.replace(&after[start..start + 25], "MARK")
    };
    for (part, expected) in [
        (
            format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}"#),
            r#"{"type":"text","text":"MARK"}"#,
        ),
        (
            format!(
                r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
            ),
            r#"{"type":"text","text":"MARK"}"#,
        ),
        (
            format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{data}"}}"#),
            r#"{"type":"input_text","text":"MARK"}"#,
        ),
        (
            format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}"#),
            r#"{"text":"MARK"}"#,
        ),
        // Kept because other parts refer to it.
        (
            format!(r#"{{"id":"prt_1","type":"file","url":"data:image/png;base64,{data}"}}"#),
            r#"{"id":"prt_1","type":"file","url":"MARK"}"#,
        ),
    ] {
        let line = |part: &str| format!(r#"{{"content":[{{"type":"text","text":"a"}},{part}]}}"#);
        assert_eq!(text(&line(&part)), line(expected));
    }
}

#[test]
fn encrypted_parts_are_counted_or_dropped() {
    let parts = r#"{"content":[{"type":"redacted_thinking","data":"RW1wdHk"},{"type":"text","text":"a"}]}"#;
    let member = r#"{"payload":{"type":"reasoning","summary":[],"encrypted_content":"gAAAA"}}"#;
    for (line, expected) in [
        (parts, r#"{"content":[{"type":"text","text":"a"}]}"#),
        (
            member,
            r#"{"payload":{"type":"reasoning","summary":[],"encrypted_content":null}}"#,
        ),
    ] {
        let (after, kept) = by(RedactorOptions::default(), line);
        assert_eq!((after.as_str(), kept.opaque()), (line, 1));
        let drop_opaque = RedactorOptions {
            drop_opaque: true,
            ..RedactorOptions::default()
        };
        let (after, dropped) = by(drop_opaque, line);
        assert_eq!((after.as_str(), dropped.opaque()), (expected, 1));
    }
}

#[test]
fn a_signed_call_loses_only_its_signature() {
    let line = format!(
        r#"{{"parts":[{{"functionCall":{{"id":"c1","args":{{"q":"{GITHUB}"}}}},"thoughtSignature":"c2lnbmVk"}}]}}"#
    );
    let (after, redactor) = by(RedactorOptions::default(), &line);
    assert_eq!(redactor.signed(), 1);
    assert!(
        after.contains(r#""id":"c1""#) && after.ends_with(r#""thoughtSignature":""}]}"#),
        "{after}"
    );
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    let line = format!("\u{feff}{{\"id\":\"{GITHUB}\",\"content\":\"{GITHUB}\"}}");
    let outcome = Redactor::default().redact(line.as_bytes());
    assert_eq!(outcome.findings.len(), 1, "ids are kept");
    assert!(
        !outcome.is_text
            && outcome
                .bytes
                .unwrap()
                .starts_with("\u{feff}{\"id\":\"ghs".as_bytes())
    );
}

#[test]
fn placeholders_of_an_earlier_run_keep_their_numbers() {
    let text = "password: \"[REDACTED:password:1]\" password: \"Saddle59!ptkB\"";
    let mut redactor = Redactor::default();
    redactor.reserve(text.as_bytes());
    let after = redactor.redact(text.as_bytes()).bytes.unwrap();
    assert!(after.ends_with(b"\"[REDACTED:password:2]\""));
}

#[test]
fn a_value_that_matches_an_allowed_pattern_is_kept() {
    let options = RedactorOptions {
        allowed_patterns: vec![regex::Regex::new("^ghs_gd").unwrap()],
        ..RedactorOptions::default()
    };
    assert_eq!(by(options, GITHUB).0, GITHUB);
    let options = RedactorOptions {
        mark: Template::read("<%k>").unwrap(),
        ..RedactorOptions::default()
    };
    assert_eq!(by(options, GITHUB).0, "<github-token>");
}

/// The lines of the shared fixtures, if present, and values in different contexts.
fn samples() -> Vec<String> {
    let mut samples: Vec<String> = [
        "password: \"Saddle59!ptkB\"",
        "contrase\u{f1}a = 'Saddle59!ptkB'",
        "mysql -u root --password Saddle59!ptkB",
        "postgres://ann:Saddle59!ptkB@db.example/x",
        "curl -H 'Authorization: Basic YW5uOlNhZGRsZTU5IXB0a0I='",
        "{\"api_key\": \"4e608fd77793f950c85cec2e1795a310\"}",
        "{\"tokenvalue\":\"4e608fd77793f950c85cec2e1795a310\"}",
    ]
    .map(str::to_string)
    .to_vec();
    samples.push(format!("a {GITHUB} b"));
    samples.push(samples.join("\n"));
    for text in samples.clone() {
        let string = serde_json::Value::from(text.as_str()).to_string();
        let mut ascii = String::new();
        for c in string.chars() {
            match c.is_ascii() {
                true => ascii.push(c),
                false => ascii.push_str(&format!("\\u{:04x}", u32::from(c))),
            }
        }
        samples.push(format!("{{\"content\":{ascii}}}"));
        samples.push(serde_json::json!({"arguments": format!("{{\"content\":{ascii}}}")}).to_string());
        samples
            .push(String::from_utf8(base64::encode(text.as_bytes(), &base64::Base64Style::PLAIN)).unwrap());
    }
    samples
}

/// The lines of the sample data.
fn sample_lines() -> Vec<String> {
    let files = std::fs::read_dir(crate::sample_data::path("redact")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default());
    texts
        .filter(|text| text.starts_with('{'))
        .flat_map(|text| text.lines().map(str::to_string).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_prefilter_hides_no_secret() {
    assert!(found_without_loss(samples()) > 30);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_prefilter_hides_no_secret_of_the_sample_data() {
    assert!(found_without_loss(sample_lines()) > 30);
}

/// The number of secrets found in lines, each with and without the prefilter.
fn found_without_loss(lines: Vec<String>) -> usize {
    let slow = RedactorOptions {
        names: vec!["a name of nobody".to_string()],
        ..RedactorOptions::default()
    };
    let mut found = 0;
    for line in lines {
        let expected = Redactor::new(slow.clone()).redact(line.as_bytes());
        found += expected.findings.len();
        assert_eq!(Redactor::default().redact(line.as_bytes()), expected, "{line}");
    }
    found
}
