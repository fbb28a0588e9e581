use super::super::penguin::{CategoryLimits, PenguinTrim, trim};
use super::super::{CompatHistory, Precedence};
use super::{Tally, json, json_lines, kept, lines, list, lost, session};
use crate::model::message::{Message, MessagePart};
use crate::model::view::View;
use crate::sample_data;
use serde_json::{Value, json as value};

/// Converts a Penguin message as the reader does, with the members that trimming uses.
fn native(message: &Value, content: Value) -> Value {
    let mut line = value!({"role": message["role"], "content": content, "id": message["id"], "timestamp": message["timestamp"]});
    match message["category"].as_str().unwrap() {
        other @ ("ERROR" | "INTERNAL" | "UNKNOWN") => {
            line["metadata"] = value!({"penguin": {"category": other}})
        }
        known => line["category"] = value!(known.to_lowercase()),
    }
    if let Some(calls) = message["tool_calls"].as_array() {
        let function = value!({"name": "f", "arguments": "{}"});
        let calls = calls
            .iter()
            .map(|id| value!({"id": id, "type": "function", "function": function}));
        line["tool_calls"] = calls.collect();
    }
    if !message["tool_call_id"].is_null() {
        line["tool_call_id"] = message["tool_call_id"].clone();
    }
    line
}

/// Reads a message's text as its count.
fn tokens_of(message: &Message<'_>) -> u64 {
    message.text().parse().unwrap()
}

/// Penguin's counter: a quarter of the characters; an image counts 4,000.
fn quarter(message: &Message<'_>) -> u64 {
    let part = |part: MessagePart<'_>| match part {
        MessagePart::Text(text) => text.chars().count() as u64 / 4,
        MessagePart::Other(..) => 4000,
    };
    message.parts().into_iter().map(part).sum()
}

const DIFFERENT: [(&str, &str); 4] = [
    (
        "tool-exchanges-split random-00 random-02 random-03 random-05 random-09 random-12 random-14 random-15 random-17 \
         random-18 random-20 random-21 random-23 random-24 random-27 random-32 random-33 random-35 random-38 random-39 \
         random-44 random-45 random-47",
        "Penguin's parts a call from its result: the atom goes whole",
    ),
    (
        "all-categories-over one-huge-newest-dialog tiny-window",
        "the newest message of the user goes: it stays",
    ),
    (
        "system-alone-over-window total-over-but-no-category-over one-token-over-window-category-at-max",
        "Penguin stays over the window without a word: told as not fitting",
    ),
    (
        "duplicate-ids",
        "what shares its id with a message that stays, stays too: messages are told apart",
    ),
];

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn category_trimming_agrees_with_penguin() {
    let path = sample_data::path("penguin/trim-cases.jsonl");
    let mut tally = Tally::of("penguin trim");
    let mut exact = 0;
    for case in json_lines(&path) {
        let name = case["name"].as_str().unwrap();
        let own = list(&case["messages"]);
        let messages: Vec<Value> = own
            .iter()
            .map(|one| native(one, value!(one["tokens"].to_string())))
            .collect();
        let session = session(&messages);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let names = [
            "SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT", "ERROR", "INTERNAL", "UNKNOWN",
        ];
        let window = case["window"].as_u64().unwrap();
        let shares = CategoryLimits::of(window);
        let budgets = names.map(|name| case["budgets"][name]["max"].as_u64().unwrap());
        assert_eq!(shares.most, budgets, "{name}");
        let options = PenguinTrim {
            always: case["mode"] == "trim",
            ..PenguinTrim::of(window)
        };
        let expected = &case["expected"];
        let (choice, after) = trim(&history, &options, Precedence::Theirs, &tokens_of);
        let ids = |kept: &[usize]| kept.iter().map(|at| own[*at]["id"].clone()).collect::<Vec<_>>();
        let total = |kept: &[usize]| {
            kept.iter()
                .map(|at| own[*at]["tokens"].as_u64().unwrap())
                .sum::<u64>()
        };
        let theirs = kept(&history, &choice);
        assert_eq!(ids(&theirs), *list(&expected["kept"]), "{name}");
        assert_eq!(Some(total(&theirs)), expected["total_after"].as_u64(), "{name}");
        assert_eq!(!choice.fits, expected["over_window_after"] == true, "{name}");
        for (nth, shelf) in names.iter().enumerate() {
            let expected = expected["max_after"][shelf].as_u64().unwrap_or(budgets[nth]);
            assert_eq!(after.most[nth], expected, "{name} {shelf}");
        }
        exact += 1;

        let (choice, _) = trim(&history, &options, Precedence::Convo, &tokens_of);
        let ours = kept(&history, &choice);
        lines(&session, &view, &choice);
        let stays = |at: usize| own[at]["category"] == "SYSTEM" || history.newest_user() == Some(at);
        assert!(
            (0..own.len())
                .filter(|at| stays(*at))
                .all(|at| ours.contains(&at)),
            "{name}"
        );
        let before = lost(messages.iter());
        assert!(
            lost(ours.iter().map(|at| &messages[*at])).is_subset(&before),
            "{name}"
        );
        assert_eq!(choice.fits, total(&ours) <= window, "{name}");
        let broken = !lost(theirs.iter().map(|at| &messages[*at])).is_subset(&before);
        let loses = expected["newest_user_kept"] == false || !choice.fits;
        match () {
            () if ours == theirs && choice.fits => tally.agree(),
            // For random cases, check the reason.
            () if name.starts_with("random") => {
                assert!(
                    broken || loses || parts(&history, &theirs),
                    "{name}: {ours:?} {theirs:?}"
                );
                tally.differ(name);
            }
            () => tally.differ(name),
        }
    }
    eprintln!("penguin trim: {exact} cases exactly as Penguin has them");
    tally.close(&DIFFERENT);
}

/// Whether a message group is split or a pending call is dropped.
fn parts(history: &CompatHistory<'_>, kept: &[usize]) -> bool {
    let removed = |at: &usize| !kept.contains(at);
    let pending = history.pending();
    (0..history.len()).filter(removed).any(|removed| {
        pending[removed]
            || history.atom(removed).is_some()
                && kept.iter().any(|at| history.atom(*at) == history.atom(removed))
    })
}

fn of_file(path: &std::path::Path) -> Vec<Value> {
    let messages = json(path)["messages"].as_array().unwrap().clone();
    messages
        .iter()
        .map(|message| native(message, message["content"].clone()))
        .collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn trimming_of_session_files_agrees_with_penguin() {
    let dir = sample_data::path("penguin/20_trim");
    let mut tally = Tally::of("penguin session files");
    for file in list(&json(&dir.join("expected.json"))["files"]) {
        let messages = of_file(&dir.join("conversations").join(file["file"].as_str().unwrap()));
        let session = session(&messages);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let options = PenguinTrim::of(file["window"].as_u64().unwrap());
        let (choice, _) = trim(&history, &options, Precedence::Theirs, &quarter);
        let ids: Vec<Value> = kept(&history, &choice)
            .iter()
            .map(|at| messages[*at]["id"].clone())
            .collect();
        assert_eq!(ids, *list(&file["kept"]), "{file}");
        assert_eq!(!choice.fits, file["over_window_after"] == true, "{file}");
        tally.agree();
    }
    tally.close(&[]);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn image_replacement_agrees_with_penguin() {
    let path = sample_data::path("penguin/image-cases.json");
    let dir = path.parent().unwrap().join("02_multimodal/conversations");
    let file = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy() != "session_index.json")
        .unwrap();
    let messages = of_file(&file);
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    // Counts that depend on Python's formatting of values come from the recording.
    let recorded = json(&sample_data::path("penguin/token-counts.json"));
    let python: Vec<(&str, u64)> = list(&recorded["cases"]["02_multimodal"])
        .iter()
        .filter(|row| row["python_text"] == true)
        .map(|row| {
            let message = &messages[row["index"].as_u64().unwrap() as usize];
            (message["id"].as_str().unwrap(), row["quarter"].as_u64().unwrap())
        })
        .collect();
    let quarter = |message: &Message<'_>| {
        let id = message.id().unwrap();
        let recorded = python
            .iter()
            .find(|(known, _)| *known == id)
            .map(|(_, count)| *count);
        recorded.unwrap_or_else(|| quarter(message))
    };
    let mut tally = Tally::of("penguin images");
    let cases = json(&path);
    for case in list(&cases["cases"]) {
        let name = case["name"].as_str().unwrap();
        let options = PenguinTrim {
            images: case["max_images"].as_u64().unwrap() as usize,
            always: case["mode"] == "trim",
            ..PenguinTrim::of(case["window"].as_u64().unwrap())
        };
        for rules in [Precedence::Theirs, Precedence::Convo] {
            let (choice, _) = trim(&history, &options, rules, &quarter);
            let left = lines(&session, &view, &choice);
            let expected = &case["expected"];
            let replaced: Vec<Value> = left
                .iter()
                .filter(|line| line["metadata"]["penguin"]["metadata"]["image_replaced"] == true)
                .map(|line| line["id"].clone())
                .collect();
            assert_eq!(replaced, *list(&expected["image_replaced"]), "{name}");
            let is_image = |part: &&Value| {
                !part["image_path"].is_null() || part["type"] == "image" || part["type"] == "image_url"
            };
            let parts = left
                .iter()
                .filter_map(|line| line["content"].as_array())
                .flatten();
            assert_eq!(
                Some(parts.filter(is_image).count() as u64),
                expected["image_parts_left"].as_u64(),
                "{name}"
            );
            assert_eq!(left.len(), messages.len(), "{name}");
            let total: u64 = super::session(&left)
                .messages()
                .map(|(at, _)| {
                    let session = super::session(&left);
                    quarter(session.record(at).message().unwrap())
                })
                .sum();
            assert_eq!(Some(total), expected["total_after"].as_u64(), "{name}");
            if name == "trim-images-0-window-100000" {
                placeholders(&cases["placeholders_of_trim_images_0"], &left, rules);
            }
        }
        tally.agree();
    }
    tally.close(&[]);
}

/// Checks the new contents: exactly Penguin's, or with a hash for an inline image.
fn placeholders(expected: &Value, left: &[Value], rules: Precedence) {
    for message in list(expected) {
        let line = left.iter().find(|line| line["id"] == message["id"]).unwrap();
        if rules == Precedence::Theirs {
            assert_eq!(line["content"], message["content"]);
        }
        let inline = line.to_string().contains("data:");
        let was = message.to_string().contains("data:");
        assert_eq!(inline, was && rules == Precedence::Theirs);
        assert_eq!(
            line.to_string().contains("sha256:"),
            was && rules == Precedence::Convo
        );
    }
}

#[test]
fn exchanges_are_dropped_whole_and_open_calls_kept() {
    let message = |role: &str, tokens: u64, more: Value| {
        let mut message = value!({"role": role, "content": tokens.to_string()});
        for (name, member) in more.as_object().unwrap() {
            message[name] = member.clone();
        }
        message
    };
    let call = |id: &str| {
        let function = value!({"name": "f", "arguments": "{}"});
        value!({"tool_calls": [{"id": id, "type": "function", "function": function}]})
    };
    let messages = [
        message("user", 10, value!({})),
        message("assistant", 10, call("a")),
        message("tool", 300, value!({"tool_call_id": "a"})),
        message("user", 10, value!({})),
        message("assistant", 10, call("b")),
    ];
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let (choice, _) = trim(&history, &PenguinTrim::of(1000), Precedence::Convo, &tokens_of);
    assert_eq!(kept(&history, &choice), [0, 3, 4]);
    let (choice, _) = trim(&history, &PenguinTrim::of(1000), Precedence::Theirs, &tokens_of);
    assert_eq!(kept(&history, &choice), [0, 1, 3, 4]);
    let (choice, _) = trim(&history, &PenguinTrim::of(10), Precedence::Convo, &tokens_of);
    assert_eq!((kept(&history, &choice), choice.fits), (vec![3, 4], false));
}

#[test]
fn the_budget_is_a_share_of_the_context_window() {
    assert_eq!(CategoryLimits::window_of(200_000), 170_000);
    assert_eq!(CategoryLimits::of(7).most, [0, 2, 2, 1, 0, 0, 0]);
}

fn plain(messages: &[(&str, &str, u64, u64)]) -> Vec<Value> {
    let message = |(role, category, tokens, second): &(&str, &str, u64, u64)| {
        let time = format!("2026-01-01T00:00:{second:02}");
        value!({"role": role, "category": category, "content": tokens.to_string(), "timestamp": time})
    };
    messages.iter().map(message).collect()
}

#[test]
fn dialog_lends_half_of_its_unused_budget() {
    let messages = plain(&[("user", "context", 600, 1), ("user", "dialog", 150, 2)]);
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let (_, shares) = trim(&history, &PenguinTrim::of(1000), Precedence::Theirs, &tokens_of);
    assert_eq!(shares.most[1..3], [425, 275]);
}

#[test]
fn the_oldest_by_time_is_dropped_not_the_first() {
    let messages = plain(&[
        ("user", "dialog", 300, 9),
        ("user", "dialog", 300, 1),
        ("user", "dialog", 10, 10),
    ]);
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let (choice, _) = trim(&history, &PenguinTrim::of(1000), Precedence::Convo, &tokens_of);
    assert_eq!(kept(&history, &choice), [0, 2]);
}
