//! The table of operations: every writing command. Each is run with every fault, so a new command needs only a new
//! entry here.
//!
//! Members of an entry:
//! - `name` for the findings; `arguments` and `input` of the command, which is run in `work/` of its place;
//! - `prepare` creates the initial state, all of which counts as acknowledged; most entries begin with [`chat`];
//! - `session`, if any: its log is read and appended to after each fault;
//! - `between`: allowed states other than the old and the new one after a kill or a power failure;
//! - `brings`: a file and a text that success puts there, to detect a command without effect;
//! - `status`: the exit status without a fault, for commands that fail and record that in the session;
//! - `again`: allowed statuses when the command is repeated after success;
//! - `destroys`: for the few commands that may remove acknowledged lines;
//! - `runs`: whether it runs another program, in which no faults are injected.
//!
//! The new state is not written down: it comes from a run without faults that is checked separately.

use super::place::Place;
use super::prepare::{
    LONG, NATIVE, SCOPE, STREAM, aliased, answered, asked, blank, chat, continued, copies, cut, damaged, dir,
    file, grown, grown_document, grown_elsewhere, grown_in_a_dir, keyed, packed, packed_and_cut, pair,
    removed, replied, rolled, secret, secret_file, torn, twice, under_an_older_name, worked, worked_file,
};

/// Allowed states besides the old and the new one before the command is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// None.
    Whole,
    /// The last log line is partial, after a power failure or a short write.
    Appended,
    /// The same with any number of the new lines; a failure reports how many.
    Lines,
    /// After a power failure, the file exists under both names.
    Moved,
    /// Each file is old or new; after a failure all are old.
    Files,
    /// The same, but a failure reports the state of each file.
    Each,
    /// Anything, if a repetition completes it: it is committed, or nothing of it exists.
    Parts,
    /// Like [`Between::Files`], but a failure may have created copies in the archive.
    Copied,
    /// The file of `brings` is old or new, possibly with a partial last line; files next to it lag at most.
    Books,
    /// Anything that shows the old or the new view and has every line.
    View,
    /// An archive: its manifests keep the old lines and describe the copies correctly. Each file is copied or not,
    /// and a repetition copies the rest.
    Kept,
    /// Each file is old, or a prefix of the new one in complete lines, possibly with a partial last line. A
    /// repetition continues from there.
    Steps,
    /// The file of `brings` is complete and reports the failure.
    Report,
}

pub struct Operation {
    pub name: &'static str,
    pub prepare: fn(&Place),
    pub arguments: &'static [&'static str],
    pub input: &'static str,
    pub session: Option<&'static str>,
    pub between: Between,
    pub brings: (&'static str, &'static str),
    pub status: i32,
    pub again: &'static [i32],
    pub destroys: bool,
    pub runs: bool,
}

/// Common defaults of the entries.
pub const BASE: Operation = Operation {
    name: "",
    prepare: chat,
    arguments: &[],
    input: "",
    session: Some("chat"),
    between: Between::Whole,
    brings: ("", ""),
    status: 0,
    again: &[],
    destroys: false,
    runs: false,
};

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "new",
        arguments: &["new", "--id", "two", "--system", "Be brief."],
        session: Some("two"),
        brings: ("store/sessions/two.jsonl", "Be brief."),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "new in no store",
        prepare: |_| {},
        arguments: &["new", "--id", "two"],
        session: Some("two"),
        brings: ("store/sessions/two.jsonl", "\"two\""),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "new --alias",
        arguments: &["new", "--id", "two", "--alias", "zwei"],
        session: Some("two"),
        between: Between::Files,
        brings: ("store/aliases/zwei", "two"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "append",
        arguments: &["append", "chat", "hello"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "append a long text",
        arguments: &["append", "chat", LONG],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "xxxxx\""),
        ..BASE
    },
    Operation {
        name: "append --event",
        arguments: &["append", "trip", "--event", "The build turned red."],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "turned red"),
        ..BASE
    },
    Operation {
        name: "append behind a torn line",
        prepare: torn,
        arguments: &["append", "chat", "hello"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "ask",
        prepare: replied,
        arguments: &["ask", "chat", "hello", "--with", "cmd:exec cat reply.jsonl"],
        runs: true,
        brings: ("store/sessions/chat.jsonl", "\"Hi.\""),
        ..BASE
    },
    Operation {
        name: "append --stream",
        arguments: &["append", "chat", "--stream"],
        input: STREAM,
        between: Between::Lines,
        brings: ("store/sessions/chat.jsonl", "\"five\""),
        ..BASE
    },
    Operation {
        name: "truncate",
        arguments: &["truncate", "chat", "--keep-last", "1"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"truncate\""),
        ..BASE
    },
    Operation {
        name: "compact",
        prepare: worked,
        arguments: &["compact", "chat", "--tiered", "--budget", "300"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"compact\""),
        ..BASE
    },
    Operation {
        name: "summarize",
        prepare: worked,
        arguments: &["summarize", "chat", "--keep-last", "1"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"summary\""),
        ..BASE
    },
    Operation {
        name: "summarize by a checkpoint, which is renewed",
        prepare: rolled,
        arguments: &["summarize", "chat", "--keep-last", "1", "--role", "developer"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"as\":\"developer\""),
        ..BASE
    },
    Operation {
        name: "gc behind a checkpoint",
        prepare: rolled,
        arguments: &["gc", "chat"],
        between: Between::Files,
        brings: ("store/archive/chat.jsonl", "Look at 2."),
        ..BASE
    },
    Operation {
        name: "summarize --apply",
        prepare: answered,
        arguments: &["summarize", "chat", "--apply", "answer.json"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "It was looked at."),
        ..BASE
    },
    Operation {
        name: "summarize by what fails",
        prepare: blank,
        arguments: &["summarize", "chat", "--apply", "answer.json"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"attempt\""),
        status: 69,
        ..BASE
    },
    Operation {
        name: "check --fix",
        prepare: worked,
        arguments: &["check", "chat", "--for", "openai-chat", "--fix"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"compact\""),
        ..BASE
    },
    Operation {
        name: "compact -i",
        prepare: worked_file,
        arguments: &["compact", "native.jsonl", "-i", "--tiered", "--budget", "300"],
        session: None,
        brings: ("work/native.jsonl", "tool output elided"),
        ..BASE
    },
    Operation {
        name: "check --fix -i",
        prepare: worked_file,
        arguments: &["check", "native.jsonl", "-i", "--for", "openai-chat", "--fix"],
        session: None,
        brings: ("work/native.jsonl", "Look at 2."),
        ..BASE
    },
    Operation {
        name: "merge",
        prepare: copies,
        arguments: &["merge", "chat", "longer.jsonl"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"l1\""),
        ..BASE
    },
    Operation {
        name: "merge of a second course",
        prepare: copies,
        arguments: &["merge", "chat", "short.jsonl"],
        brings: ("store/sessions/branch_d60327c6db45d04a.jsonl", "\"b1\""),
        ..BASE
    },
    Operation {
        name: "merge -i",
        prepare: copies,
        arguments: &["merge", "-i", "ours.jsonl", "theirs.jsonl"],
        session: None,
        brings: ("work/ours.jsonl", "\"t2\""),
        ..BASE
    },
    Operation {
        name: "merge -o",
        prepare: copies,
        arguments: &["merge", "ours.jsonl", "theirs.jsonl", "-o", "theirs.jsonl"],
        session: None,
        brings: ("work/theirs.jsonl", "\"o2\""),
        ..BASE
    },
    Operation {
        name: "merge --driver",
        prepare: copies,
        arguments: &[
            "merge", "--driver", "native.jsonl", "ours.jsonl", "theirs.jsonl", "x.jsonl",
        ],
        session: None,
        brings: ("work/ours.jsonl", "\"t2\""),
        ..BASE
    },
    Operation {
        name: "split",
        arguments: &["split", "chat", "--every-turns", "1"],
        between: Between::Steps,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"split\""),
        ..BASE
    },
    Operation {
        name: "restore a cut",
        prepare: cut,
        arguments: &["restore", "chat"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"restore\""),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "undo",
        arguments: &["undo", "chat"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"strategy\":\"undo\""),
        ..BASE
    },
    Operation {
        name: "note",
        arguments: &["note", "chat", "A second try."],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "A second try."),
        ..BASE
    },
    Operation {
        name: "fork",
        arguments: &["fork", "chat", "--exchange", "1", "--id", "two"],
        session: Some("two"),
        brings: ("store/sessions/two.jsonl", "\"kind\":\"fork\""),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "restore a session",
        prepare: removed,
        arguments: &["restore", "chat"],
        between: Between::Moved,
        brings: ("store/sessions/chat.jsonl", "three?"),
        again: &[1, 73],
        ..BASE
    },
    Operation {
        name: "remove",
        arguments: &["remove", "chat"],
        between: Between::Moved,
        brings: ("store/trash/chat.20261120T180203Z.jsonl", "three?"),
        again: &[66],
        ..BASE
    },
    Operation {
        name: "remove --purge",
        prepare: twice,
        arguments: &["remove", "--purge", "chat"],
        between: Between::Files,
        again: &[66],
        destroys: true,
        ..BASE
    },
    Operation {
        name: "alias add",
        arguments: &["alias", "add", "second", "chat"],
        brings: ("store/aliases/second", "chat"),
        ..BASE
    },
    Operation {
        name: "alias remove",
        prepare: aliased,
        arguments: &["alias", "remove", "second"],
        again: &[66],
        ..BASE
    },
    Operation {
        name: "alias add --move",
        prepare: aliased,
        arguments: &["alias", "add", "--move", "trip", "other"],
        brings: ("store/aliases/trip", "other"),
        ..BASE
    },
    Operation {
        name: "alias promote",
        prepare: under_an_older_name,
        arguments: &["alias", "promote", "two", "agent:main:direct:ann"],
        session: Some("two"),
        between: Between::Steps,
        brings: ("store/sessions/two.jsonl", "three?"),
        ..BASE
    },
    Operation {
        name: "new --scope --if-missing",
        arguments: &["new", "--if-missing", "--scope", SCOPE],
        session: Some("k1"),
        between: Between::Files,
        brings: ("store/aliases/second", "k1"),
        ..BASE
    },
    Operation {
        name: "migrate a file",
        prepare: file,
        arguments: &["migrate", "native.jsonl"],
        session: Some("native"),
        brings: ("store/sessions/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate a folder",
        prepare: dir,
        arguments: &["migrate", "--jobs", "1", "many"],
        session: Some("second"),
        between: Between::Each,
        brings: ("store/sessions/third.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate --mark",
        prepare: dir,
        arguments: &["migrate", "--jobs", "1", "--mark", "many"],
        session: Some("second"),
        between: Between::Each,
        brings: ("work/many/third.jsonl.migrated", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate --out",
        prepare: dir,
        arguments: &["migrate", "--jobs", "1", "--out", "native", "many"],
        session: None,
        between: Between::Each,
        brings: ("work/native/third.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate an update",
        prepare: grown,
        arguments: &["migrate", "native.jsonl"],
        session: Some("native"),
        brings: ("store/sessions/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate an update of a document",
        prepare: grown_document,
        arguments: &["migrate", "request.json"],
        session: Some("request"),
        brings: ("store/sessions/request.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate an update --output-dir",
        prepare: grown_in_a_dir,
        arguments: &["migrate", "--output-dir", "native", "native.jsonl"],
        session: None,
        brings: ("work/native/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate an update --to",
        prepare: grown_elsewhere,
        arguments: &[
            "migrate", "--to", "openai-chat", "--output-dir", "native", "native.jsonl",
        ],
        session: None,
        brings: ("work/native/native.json", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "truncate -i",
        prepare: file,
        arguments: &["truncate", "native.jsonl", "-i", "--keep-last", "1"],
        session: None,
        brings: ("work/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "truncate -i=.bak",
        prepare: file,
        arguments: &["truncate", "native.jsonl", "-i=.bak", "--keep-last", "1"],
        session: None,
        between: Between::Files,
        brings: ("work/native.jsonl.bak", "Weather?"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "redact",
        prepare: secret,
        arguments: &["redact", "chat"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"redact\""),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "redact -i",
        prepare: secret_file,
        arguments: &["redact", "-i", "native.jsonl"],
        session: None,
        brings: ("work/native.jsonl", "[REDACTED:gitlab-token:"),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "gc",
        prepare: cut,
        arguments: &["gc", "chat"],
        between: Between::Files,
        brings: ("store/archive/chat.jsonl", "two?"),
        ..BASE
    },
    Operation {
        name: "gc --discard",
        prepare: packed_and_cut,
        arguments: &["gc", "chat", "--discard"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "\"discarded\":true"),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "gc --discard of the archive alone",
        prepare: packed,
        arguments: &["gc", "chat", "--discard"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "\"destroyed\":[\"evt_gc\"]"),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "restore a gc",
        prepare: packed,
        arguments: &["restore", "chat", "evt_gc"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "Weather?"),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "fsck --repair",
        prepare: damaged,
        arguments: &["fsck", "--repair", "chat"],
        between: Between::Files,
        brings: ("store/quarantine/chat.jsonl", "by hand"),
        ..BASE
    },
    Operation {
        name: "append -i to a pair",
        prepare: pair,
        arguments: &["append", "pair/x.jsonl", "-i", "hello"],
        session: None,
        between: Between::Books,
        brings: ("work/pair/x.jsonl", "hello"),
        ..BASE
    },
    Operation {
        name: "truncate -i of a pair",
        prepare: pair,
        arguments: &["truncate", "pair/x.jsonl", "-i", "--keep-last", "1"],
        session: None,
        brings: ("work/pair/x.meta.json", "\"skip\": 4"),
        ..BASE
    },
    Operation {
        name: "gc -i of a pair",
        prepare: pair,
        arguments: &["gc", "-i", "pair/x.jsonl"],
        session: None,
        between: Between::View,
        brings: ("work/pair/.convo/archive/x.jsonl", "text 2"),
        ..BASE
    },
    Operation {
        name: "continue",
        prepare: asked,
        arguments: &["continue", "trip"],
        session: Some("chat.1"),
        between: Between::Steps,
        brings: ("store/sessions/chat.1.jsonl", "\"four?\""),
        again: &[73, 0],
        ..BASE
    },
    Operation {
        name: "continue by a key",
        prepare: keyed,
        arguments: &["continue", "agent:main:main"],
        session: Some("key_agent_3amain_3amain.1"),
        between: Between::Steps,
        brings: ("store/aliases/key_agent_3amain_3amain", ".1"),
        again: &[73, 0],
        ..BASE
    },
    Operation {
        name: "append --boundary by a key",
        prepare: keyed,
        arguments: &["append", "agent:main:main", "hello", "--boundary", "3"],
        session: Some("key_agent_3amain_3amain.1"),
        between: Between::Steps,
        brings: ("store/aliases/key_agent_3amain_3amain", ".1"),
        ..BASE
    },
    Operation {
        name: "restore a continuation",
        prepare: continued,
        arguments: &["restore", "chat", "evt_0b5370994c9c5bf1"],
        between: Between::Steps,
        brings: ("store/aliases/trip", "chat"),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "append --boundary",
        prepare: asked,
        arguments: &["append", "trip", "hello", "--boundary", "8"],
        session: Some("chat.1"),
        between: Between::Steps,
        brings: ("store/sessions/chat.1.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "append --boundary to what is continued",
        prepare: continued,
        arguments: &["append", "chat", "hello", "--boundary", "8"],
        session: Some("chat.1"),
        between: Between::Steps,
        brings: ("store/sessions/chat.1.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "append --stream --boundary",
        prepare: asked,
        arguments: &["append", "chat", "--stream", "--boundary", "8"],
        input: STREAM,
        session: Some("chat.1"),
        between: Between::Steps,
        brings: ("store/sessions/chat.1.jsonl", "\"five\""),
        ..BASE
    },
    Operation {
        name: "join",
        prepare: continued,
        arguments: &["join", "chat", "--id", "whole"],
        session: Some("whole"),
        brings: ("store/sessions/whole.jsonl", "\"five?\""),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "truncate -o",
        prepare: file,
        arguments: &["truncate", "-", "--keep-last", "1", "-o", "out.jsonl"],
        input: NATIVE,
        session: None,
        brings: ("work/out.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "check --junit",
        prepare: file,
        arguments: &["check", "-q", "-", "--junit", "out.xml"],
        input: NATIVE,
        session: None,
        between: Between::Report,
        brings: ("work/out.xml", "</testsuites>"),
        ..BASE
    },
];
