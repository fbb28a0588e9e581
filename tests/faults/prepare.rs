//! Prepares the initial states of operations; all of their content counts as acknowledged.

use super::place::Place;

pub const STREAM: &str = concat!(
    "{\"role\":\"user\",\"content\":\"one\",\"id\":\"n1\"}\n",
    "{\"role\":\"assistant\",\"content\":\"two\"}\n",
    "{\"role\":\"user\",\"content\":\"three\"}\n",
    "{\"role\":\"assistant\",\"content\":\"four\"}\n",
    "{\"role\":\"user\",\"content\":\"five\"}\n",
);

/// A native session of two exchanges, in a user's file.
pub const NATIVE: &str = concat!(
    "{\"type\":\"session\",\"version\":1,\"id\":\"native\",\"created_at\":\"2026-11-01T10:00:00Z\"}\n",
    "{\"role\":\"user\",\"content\":\"Weather?\",\"id\":\"w1\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Sunny.\",\"id\":\"w2\"}\n",
    "{\"role\":\"user\",\"content\":\"And tomorrow?\",\"id\":\"w3\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Rain.\",\"id\":\"w4\"}\n",
);

/// Longer than a page, so that it can exceed a full disk and be split between blocks.
pub const LONG: &str = {
    const TEXT: [u8; 5000] = [b'x'; 5000];
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => "",
    }
};

/// A reply of several messages, longer than a page.
pub fn replied(place: &Place) {
    chat(place);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}"#;
    let result = format!(r#"{{"role":"tool","tool_call_id":"c1","content":"{LONG}"}}"#);
    let reply = format!("{call}\n{result}\n{{\"role\":\"assistant\",\"content\":\"Hi.\"}}\n");
    place.write("work/reply.jsonl", reply);
}

/// A session with an alias and three exchanges.
pub fn chat(place: &Place) {
    place.sets_up(&[
        "new", "--id", "chat", "--system", "You are terse.", "--alias", "trip",
    ]);
    for (question, answer) in [("one?", "1"), ("two?", "2"), ("three?", "3")] {
        place.sets_up(&["append", "chat", question]);
        place.sets_up(&["append", "chat", "-r", "assistant", answer]);
    }
}

/// The same with an unanswered question, eight messages in total.
pub fn asked(place: &Place) {
    chat(place);
    place.sets_up(&["append", "chat", "four?"]);
}

/// The same with a continuation.
pub fn continued(place: &Place) {
    asked(place);
    place.sets_up(&["continue", "trip", "-q"]);
    place.sets_up(&["append", "trip", "five?"]);
}

/// A session whose id is derived from a key.
pub fn keyed(place: &Place) {
    let name = "agent:main:main";
    place.sets_up(&["new", "--key", name]);
    for (question, answer) in [("one?", "1"), ("two?", "2")] {
        place.sets_up(&["append", name, question]);
        place.sets_up(&["append", name, "-r", "assistant", answer]);
    }
}

pub fn cut(place: &Place) {
    chat(place);
    place.sets_up(&["truncate", "chat", "--keep-last", "1"]);
}

pub fn removed(place: &Place) {
    chat(place);
    place.sets_up(&["new", "--id", "other"]);
    place.sets_up(&["remove", "chat"]);
}

/// A session in the store and one of the same name in the trash.
pub fn twice(place: &Place) {
    chat(place);
    place.sets_up(&["remove", "chat"]);
    place.sets_up(&["new", "--id", "chat", "--system", "Again."]);
}

pub fn aliased(place: &Place) {
    chat(place);
    place.sets_up(&["alias", "add", "second", "chat"]);
    place.sets_up(&["new", "--id", "other"]);
}

/// Output of `convo key --json`.
pub const SCOPE: &str =
    r#"{"key":"k1","scope":{"agent_id":"main"},"aliases":["first","second"],"shared":[]}"#;

/// A history under an older name, and an empty session.
pub fn under_an_older_name(place: &Place) {
    let name = "agent:main:direct:ann";
    place.sets_up(&["new", "--key", name]);
    for text in ["one?", "two?", "three?"] {
        place.sets_up(&["append", name, text]);
    }
    place.sets_up(&["new", "--id", "two"]);
}

/// A partial line left by a dead writer.
pub fn torn(place: &Place) {
    chat(place);
    let mut log = std::fs::read(place.log("chat")).unwrap();
    log.extend_from_slice(b"{\"role\":\"user\",\"content\":\"half a li");
    std::fs::write(place.log("chat"), log).unwrap();
}

pub fn file(place: &Place) {
    chat(place);
    place.write("work/native.jsonl", NATIVE);
}

/// Two diverged copies of a file and of the stored session.
pub fn copies(place: &Place) {
    file(place);
    let message = |id: &str| format!("{{\"role\":\"user\",\"content\":\"{id}\",\"id\":\"{id}\"}}\n");
    for (name, ids) in [("ours", ["o1", "o2"]), ("theirs", ["t1", "t2"])] {
        place.write(
            &format!("work/{name}.jsonl"),
            NATIVE.to_string() + &message(ids[0]) + &message(ids[1]),
        );
    }
    let log = std::fs::read_to_string(place.log("chat")).expect("the log is there");
    let mut lines: Vec<&str> = log.lines().collect();
    let last = lines.pop().expect("it has lines");
    place.write("work/short.jsonl", lines.join("\n") + "\n" + &message("b1"));
    place.write(
        "work/longer.jsonl",
        lines.join("\n") + "\n" + last + "\n" + &message("l1"),
    );
}

pub fn dir(place: &Place) {
    chat(place);
    for name in ["first", "second", "third"] {
        place.write(&format!("work/many/{name}.jsonl"), NATIVE.replace("native", name));
    }
}

/// A session whose first exchanges are in the archive.
pub fn packed(place: &Place) {
    let at = "\"at\":\"2026-11-01T10:00:00Z\"";
    let mut taken = NATIVE
        .lines()
        .skip(1)
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    taken.push_str(&format!(
        "{{\"type\":\"truncate\",\"id\":\"evt_cut\",{at},\"before\":\"w3\"}}\n"
    ));
    let mut log: String = NATIVE.replace("\"native\"", "\"chat\"");
    log = log
        .lines()
        .enumerate()
        .filter(|(nth, _)| ![1, 2].contains(nth))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    let bytes = taken.len();
    log.push_str(&format!(
        "{{\"type\":\"gc\",\"id\":\"evt_gc\",{at},\"lines\":3,\"bytes\":{bytes},\"discarded\":false}}\n"
    ));
    place.write("work/chat.jsonl", log);
    place.sets_up(&["migrate", "chat.jsonl"]);
    let run = format!(
        "{{\"type\":\"archive\",\"id\":\"evt_gc\",{at},\"of\":6,\"taken\":[[2,3],[6,6]],\"made\":[],\"bytes\":{bytes}"
    );
    let sum = convo::model::key::sha256(format!("{run}}}\n{taken}").as_bytes());
    let run = format!("{run},\"sha256\":\"{sum}\"}}\n{taken}");
    place.write("store/archive/chat.jsonl", run);
}

/// The same with another cut.
pub fn packed_and_cut(place: &Place) {
    packed(place);
    place.sets_up(&["truncate", "chat", "--all"]);
}

/// A stored session whose source file has another exchange.
pub fn grown(place: &Place) {
    place.write("work/native.jsonl", short());
    place.sets_up(&["migrate", "native.jsonl"]);
    file(place);
}

/// The same with a directory of files.
pub fn grown_in_a_dir(place: &Place) {
    place.write("work/native.jsonl", short());
    place.sets_up(&["migrate", "--output-dir", "native", "native.jsonl"]);
    file(place);
}

/// The same in another format.
pub fn grown_elsewhere(place: &Place) {
    place.write("work/native.jsonl", short());
    let arguments = [
        "migrate", "--to", "openai-chat", "--output-dir", "native", "native.jsonl",
    ];
    place.sets_up(&arguments);
    file(place);
}

/// A document whose last answer was incomplete when it was stored.
pub fn grown_document(place: &Place) {
    let document = |messages: &str| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"Weather?\"}},{{\"role\":\"assistant\",\"content\":\"Sunny{messages}]}}"
        )
    };
    place.write("work/request.json", document("\"}"));
    place.sets_up(&["migrate", "request.json"]);
    let more = " and warm.\"},{\"role\":\"user\",\"content\":\"And tomorrow?\"}";
    place.write("work/request.json", document(more));
}

/// The first exchange of [`NATIVE`].
fn short() -> String {
    NATIVE.split_inclusive('\n').take(3).collect()
}

/// A flipped bit, an unchecked line, and a partial last line.
pub fn damaged(place: &Place) {
    chat(place);
    let mut log = std::fs::read(place.log("chat")).unwrap();
    log[150] ^= 1;
    log.extend_from_slice(b"by hand\n{\"role\":\"user\",\"content\":\"half");
    std::fs::write(place.log("chat"), log).unwrap();
}

/// The same in a session that was repaired before.
pub fn repaired(place: &Place) {
    damaged(place);
    place.sets_up(&["fsck", "--repair", "chat"]);
    let mut log = std::fs::read(place.log("chat")).unwrap();
    log.extend_from_slice(
        format!("by another hand {LONG}\n{{\"role\":\"user\",\"content\":\"half").as_bytes(),
    );
    std::fs::write(place.log("chat"), log).unwrap();
}

/// Two aliases of missing sessions, one of which is in the quarantine.
pub fn dangling(place: &Place) {
    chat(place);
    place.write("store/aliases/first", "gone\n");
    place.sets_up(&["fsck", "--repair"]);
    place.write("store/aliases/second", "gone\n");
}

/// A session with long archived messages, and more to archive.
pub fn long_and_packed(place: &Place) {
    chat(place);
    place.sets_up(&["append", "chat", LONG]);
    place.sets_up(&["truncate", "chat", "--keep-last", "1"]);
    place.sets_up(&["gc", "chat"]);
    for (question, answer) in [("four?", LONG), ("five?", "5"), ("six?", "6")] {
        place.sets_up(&["append", "chat", question]);
        place.sets_up(&["append", "chat", "-r", "assistant", answer]);
    }
    place.sets_up(&["truncate", "chat", "--keep-last", "1"]);
}

/// A PicoClaw session whose first lines are archived, and with further hidden lines.
pub fn pair_packed(place: &Place) {
    pair(place);
    place.sets_up(&["gc", "-i", "pair/x.jsonl"]);
    place.sets_up(&["truncate", "pair/x.jsonl", "-i", "--keep-last", "1"]);
}

/// A PicoClaw session with two hidden lines.
pub fn pair(place: &Place) {
    let line = |nth: u32| {
        let role = ["assistant", "user"][nth as usize % 2];
        format!(
            "{{\"role\":\"{role}\",\"content\":\"text {nth}\",\"created_at\":\"2026-01-0{nth}T00:00:00Z\"}}\n"
        )
    };
    place.write("work/pair/x.jsonl", (1..7).map(line).collect::<String>());
    let sidecar = "{\n  \"key\": \"x\",\n  \"summary\": \"\",\n  \"skip\": 2,\n  \"count\": 6,\n  \"created_at\": \"2026-01-01T00:00:00Z\",\n  \"updated_at\": \"2026-01-05T00:00:00Z\"\n}";
    place.write("work/pair/x.meta.json", sidecar);
}

/// A session with long tool results, one of them without a call.
pub fn worked(place: &Place) {
    place.write("work/chat.jsonl", worked_lines());
    place.sets_up(&["migrate", "chat.jsonl"]);
}

/// A long log with a checkpoint of the view, and so many lines after it that a new one is due.
pub fn rolled(place: &Place) {
    worked(place);
    let long = "the table, row after row; ".repeat(1500);
    let more = "what stands in it; ".repeat(1000);
    place.sets_up(&["append", "chat", &long]);
    place.sets_up(&["append", "chat", "-r", "assistant", &long]);
    place.sets_up(&["append", "chat", "Look again."]);
    place.sets_up(&["summarize", "chat", "--keep-last", "1"]);
    place.sets_up(&["append", "chat", "-r", "assistant", &more]);
    place.sets_up(&["append", "chat", "And now?"]);
}

/// The same in a user's file.
pub fn worked_file(place: &Place) {
    place.write("work/native.jsonl", worked_lines());
}

/// Adds an answer to a summary request.
pub fn answered(place: &Place) {
    answer(place, "It was looked at.");
}

/// Adds a blank answer.
pub fn blank(place: &Place) {
    answer(place, "");
}

fn answer(place: &Place, text: &str) {
    worked(place);
    let outcome = place.convo(&["summarize", "chat", "--request"]);
    let mut request: serde_json::Value = serde_json::from_slice(&outcome.stdout).unwrap();
    request["summary"] = text.into();
    place.write("work/answer.json", request.to_string());
}

fn worked_lines() -> String {
    let mut lines = String::from(
        "{\"type\":\"session\",\"version\":1,\"id\":\"chat\",\"created_at\":\"2026-11-01T10:00:00Z\"}\n\
         {\"role\":\"tool\",\"tool_call_id\":\"lost\",\"content\":\"an orphan\",\"id\":\"o\"}\n",
    );
    for nth in 0..3 {
        let output = format!("row {nth} of the table; ").repeat(40);
        lines.push_str(&format!(
            "{{\"role\":\"user\",\"content\":\"Look at {nth}.\",\"id\":\"u{nth}\"}}\n\
             {{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{nth}\",\"type\":\"function\",\"function\":{{\"name\":\"read\",\"arguments\":\"{{}}\"}}}}],\"id\":\"a{nth}\"}}\n\
             {{\"role\":\"tool\",\"tool_call_id\":\"c{nth}\",\"content\":\"{output}\",\"id\":\"t{nth}\"}}\n"
        ));
    }
    lines
}

/// A secret that belongs to no existing account.
pub const SECRET: &str = "glpat-mNKwz8T823VS9aNuUE2l";

/// A session with a secret in its log, the archive and the trash.
pub fn secret(place: &Place) {
    chat(place);
    place.sets_up(&["append", "chat", SECRET]);
    place.sets_up(&["remove", "chat"]);
    place.sets_up(&["new", "--id", "chat", "--title", SECRET]);
    for text in [SECRET, "two?", SECRET] {
        place.sets_up(&["append", "chat", text]);
        place.sets_up(&["append", "chat", "-r", "assistant", "Yes."]);
    }
    place.sets_up(&["truncate", "chat", "--keep-last", "1"]);
    place.sets_up(&["gc", "chat"]);
}

/// The same in a user's file.
pub fn secret_file(place: &Place) {
    chat(place);
    place.write("work/native.jsonl", NATIVE.replace("Sunny.", SECRET));
}
