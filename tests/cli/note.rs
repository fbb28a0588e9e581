//! `convo note`.

use crate::env::{BARE, CHAT, Env, OPENAI};

#[test]
fn notes_are_added_listed_shown_and_undone() {
    let env = Env::with_chat();
    let view = env.run(&["context", "trip"]).fine().stdout;
    env.run(&["note", "trip"]).status(0).gives("").says("no notes");
    env.run(&["note", "trip", " Compare\nwith Rome "])
        .status(0)
        .gives("")
        .says("trip: added a note");
    env.run(&["note", "trip", "Wrong.", "--message", "m7"])
        .status(0)
        .says("added a note to m7");
    env.run(&["note", "trip", "From a tool.", "--message", "m4"])
        .status(0);
    let notes = env.run(&["note", "--json", "trip"]).fine().objects();
    let found: Vec<_> = notes.iter().map(|note| (&note["of"], &note["text"])).collect();
    assert_eq!(
        found,
        [
            (&serde_json::Value::Null, &"Compare\nwith Rome".into()),
            (&"m7".into(), &"Wrong.".into()),
            (&"m4".into(), &"From a tool.".into()),
        ]
    );
    let list = env.run(&["note", "trip", "--message", "m7"]).fine();
    assert!(
        list.out().ends_with("\tm7\tWrong.\n") && list.out().lines().count() == 1,
        "{list}"
    );
    // Models do not receive notes; `show` prints them at their place.
    env.run(&["context", "trip"]).fine().gives(view);
    let shown = env.run(&["show", "trip"]).fine();
    let place = |text: &str| {
        shown
            .out()
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {shown}"))
    };
    assert!(place("(note) Compare") < place("You are terse."));
    assert!(
        place("22 C, sunny") < place("(note) From a tool.")
            && place("(note) From a tool.") < place("22 C and")
    );
    assert!(place("Rain.") < place("(note) Wrong."));
    for format in ["markdown", "html"] {
        let page = env.run(&["cat", "-q", "--to", format, "trip"]).fine();
        for text in ["Compare", "Wrong.", "From a tool."] {
            assert!(page.out().contains(text), "{format}: {text}");
        }
    }
    env.run(&["restore", "trip"]).status(0).says("undid note");
    env.run(&["restore", "-q", "trip"]).fine();
    assert_eq!(env.run(&["note", "trip"]).fine().out().lines().count(), 1);
    // A gc archives undone notes and keeps the others.
    env.run(&["gc", "-q", "trip"]).fine();
    assert_eq!(env.run(&["note", "trip"]).fine().out().lines().count(), 1);
    env.run(&["fsck", "-q"]).fine();
}

#[test]
fn invalid_notes_are_refused() {
    let env = Env::with_chat();
    let log = std::fs::read(env.log("trip")).unwrap();
    env.run(&["note", "trip", " "]).status(2).says("empty note");
    env.run(&["note", "trip", "x", "--message", "m9"])
        .status(1)
        .says("no such message: m9");
    env.run(&["note", "nobody", "x"]).status(66);
    env.run(&["note"]).status(2);
    env.run(&["note", "-n", "trip", "x"]).status(0);
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), log);
}

#[test]
fn a_stream_and_a_file_get_a_note() {
    let env = Env::new();
    let run = env.pipe(&["note", "-", "Later."], CHAT).fine();
    assert!(run.out().starts_with(CHAT), "{run}");
    let list = env.pipe(&["note", "-"], &run.stdout).fine();
    assert!(list.out().ends_with("\t-\tLater.\n"), "{list}");
    env.write("a.jsonl", CHAT);
    env.run(&["note", "-q", "-i", "a.jsonl", "Later."]).fine();
    assert_eq!(env.run(&["note", "a.jsonl"]).fine().out().lines().count(), 1);
    // A message without an id has a derived one.
    let id = env.pipe(&["cat", "-"], BARE).fine().objects()[0]["id"]
        .as_str()
        .map(String::from);
    if let Some(id) = id {
        env.pipe(&["note", "-", "Hm.", "--message", &id], BARE).fine();
    }
    env.write("a.json", OPENAI);
    env.run(&["note", "-i", "a.json", "Later."])
        .status(1)
        .says("openai-chat files cannot store notes");
}
