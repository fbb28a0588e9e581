use super::*;

const GITHUB: &str = "ghs_gd23eOp1ARVjVEeNJPXGyijpXUwIL81bDYjN";

fn redact(text: &str) -> (String, Vec<Kind>) {
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
fn what_is_no_secret_keeps_its_bytes() {
    for line in [
        r#"{"role":"user","content":"token budget: 52823 tokens left","id":"call_6zK8GbL5Cl7WtcyfHcxIA4uk"}"#,
        r#"{"usage":{"input_tokens": 867222,"cache_creation_input_tokens": 774922}}"#,
        "checksum = \"275376392825fc01ea6b29ea9a106865e2f74c7552861638398c762c252f5da7\"",
        "secretKeyProvider = config.get(\"thimble.canvas.orchard\")",
        "export TOKEN=\"${SECRET_331}\"",
        "AKIAIOSFODNN7EXAMPLE",
    ] {
        let outcome = Redactor::default().redact(line.as_bytes());
        assert_eq!(outcome, Outcome::default(), "{line}");
    }
}

#[test]
fn a_secret_is_found_in_every_layer() {
    let encoded = String::from_utf8(base64::encode(
        format!(
            "GITHUB_TOKEN={GITHUB}\nand a longer text behind it, which is no secret at all: twice as long\n"
        )
        .as_bytes(),
        &base64::Style::PLAIN,
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
        assert_eq!(redact(&after).1, Vec::<Kind>::new(), "{after}");
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
    let options = Options {
        personal: PERSONAL.to_vec(),
        names: vec!["ANN".to_string()],
        ..Options::default()
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
fn what_is_wanted_can_be_chosen() {
    let text = format!("{GITHUB} and password: \"Saddle59!ptkB\"");
    let kinds = |options: Options| -> Vec<Kind> {
        let outcome = Redactor::new(options).redact(text.as_bytes());
        outcome
            .findings
            .iter()
            .map(|finding| finding.secret.kind)
            .collect()
    };
    let default = Options::default;
    assert_eq!(kinds(default()), ["github-token", "password"]);
    assert_eq!(
        kinds(Options {
            only: vec!["password"],
            ..default()
        }),
        ["password"]
    );
    assert_eq!(
        kinds(Options {
            except: vec!["password"],
            ..default()
        }),
        ["github-token"]
    );
    let allowed = HashSet::from([sha256(GITHUB.as_bytes())]);
    assert_eq!(kinds(Options { allowed, ..default() }), ["password"]);
    let level = Level::Definite;
    assert_eq!(kinds(Options { level, ..default() }), ["github-token"]);
    let wrong = text.replace("jN and", "jM and");
    let outcome = Redactor::new(Options { level, ..default() }).redact(wrong.as_bytes());
    assert_eq!(outcome.findings, [], "its checksum is wrong");
}

#[test]
fn a_damaged_line_is_text_and_keeps_its_other_bytes() {
    let line = [b"{\"content\": \"\xff ", GITHUB.as_bytes(), b" \xfe"].concat();
    let outcome = Redactor::default().redact(&line);
    let after = outcome.bytes.unwrap();
    assert!(after.starts_with(b"{\"content\": \"\xff [REDACTED:github-token:") && after.ends_with(b"] \xfe"));
}
