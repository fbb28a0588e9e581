//! Random sessions: any content of a log, in order or not, in all scripts, small and large.

use super::super::state::read;
use super::texts::{RULES, Text, quoted, text};
use crate::model::session::Session;
use crate::tokens::Tokenizer;
use proptest::prelude::*;

/// A line, or a few related ones; numbers select among earlier lines.
#[derive(Clone, Debug)]
pub enum Turn {
    System {
        developer: bool,
        text: Text,
    },
    User {
        text: Text,
        media: u8,
        extra: bool,
    },
    /// A user message with a standing instruction.
    Rule(usize),
    /// A context message.
    Happened(Text),
    Reply {
        text: Text,
        thinks: u8,
        extra: bool,
    },
    /// Calls; each with its tool, its arguments, and its result if that follows at once.
    Calls {
        calls: Vec<Call>,
        thinks: u8,
        backwards: bool,
    },
    /// A result of an earlier call, or of none.
    Late {
        which: usize,
        text: Text,
    },
    Bare,
    Garbage,
    Truncate(usize),
    Summary(usize, usize),
    Compact {
        first: usize,
        more: usize,
        sums: bool,
    },
    Restore(usize),
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: u8,
    pub arguments: Text,
    pub result: Option<Text>,
    pub media: bool,
    pub named: bool,
}

/// The recipe of a session.
#[derive(Clone, Debug)]
pub struct Plot {
    pub turns: Vec<Turn>,
    /// Whether message ids repeat.
    pub repeated: bool,
    /// How many of ten messages have an id.
    pub identified: u8,
    /// Whether lines have token counts, by the header's tokenizer.
    pub counted: Option<&'static str>,
}

const TOOLS: [&str; 5] = ["read", "edit", "bash", "search", "write"];

fn call() -> impl Strategy<Value = Call> {
    (
        0u8..5,
        text(),
        prop::option::weighted(0.95, text()),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.95),
    )
        .prop_map(|(tool, arguments, result, media, named)| Call {
            tool,
            arguments,
            result,
            media,
            named,
        })
}

fn turn(wild: bool) -> BoxedStrategy<Turn> {
    let call = if wild { call().boxed() } else { orderly().boxed() };
    let calls = prop::collection::vec(call, 1..4);
    let calm = prop_oneof![
        6 => (text(), 0u8..12, any::<bool>()).prop_map(|(text, media, extra)| Turn::User { text, media, extra }),
        5 => (text(), 0u8..8, any::<bool>()).prop_map(|(text, thinks, extra)| Turn::Reply { text, thinks, extra }),
        6 => (calls, 0u8..8, any::<bool>())
            .prop_map(|(calls, thinks, backwards)| Turn::Calls { calls, thinks, backwards }),
        1 => any::<usize>().prop_map(Turn::Rule),
        1 => (any::<bool>(), text()).prop_map(|(developer, text)| Turn::System { developer, text }),
        1 => text().prop_map(Turn::Happened),
    ];
    if !wild {
        return calm.boxed();
    }
    prop_oneof![
        20 => calm,
        2 => (any::<usize>(), text()).prop_map(|(which, text)| Turn::Late { which, text }),
        1 => Just(Turn::Bare),
        1 => Just(Turn::Garbage),
        1 => any::<usize>().prop_map(Turn::Truncate),
        1 => (any::<usize>(), 0usize..4).prop_map(|(first, more)| Turn::Summary(first, more)),
        1 => (any::<usize>(), 0usize..3, any::<bool>())
            .prop_map(|(first, more, sums)| Turn::Compact { first, more, sums }),
        1 => any::<usize>().prop_map(Turn::Restore),
    ]
    .boxed()
}

fn orderly() -> impl Strategy<Value = Call> {
    (0u8..5, text(), text(), prop::bool::weighted(0.05)).prop_map(|(tool, arguments, result, media)| Call {
        tool,
        arguments,
        result: Some(result),
        media,
        named: true,
    })
}

/// Generates any session; without `wild`, one that a correct program could write.
pub fn plot(wild: bool) -> impl Strategy<Value = Plot> {
    let length = prop_oneof![20 => 0usize..25, 4 => 25usize..60, 1 => 60usize..200];
    let turns = length.prop_flat_map(move |length| prop::collection::vec(turn(wild), length));
    let counted = prop_oneof![6 => Just(None), 1 => Just(Some("chars4")), 1 => Just(Some("o200k_base"))];
    let odd = if wild { 0.2 } else { 0.0 };
    (turns, prop::bool::weighted(odd), 0u8..30, counted).prop_map(|(turns, repeated, identified, counted)| {
        Plot {
            turns,
            repeated,
            identified,
            counted,
        }
    })
}

/// The session under construction.
struct Scene<'p> {
    plot: &'p Plot,
    session: Session,
    /// Message ids.
    ids: Vec<String>,
    events: Vec<String>,
    put_in: Vec<String>,
    /// Unanswered calls, with their tools.
    open: Vec<(String, &'static str)>,
    lines: usize,
}

impl Plot {
    /// Builds the session.
    pub fn session(&self) -> Session {
        let mut scene = Scene {
            plot: self,
            session: Session::default(),
            ids: Vec::new(),
            events: Vec::new(),
            put_in: Vec::new(),
            open: Vec::new(),
            lines: 0,
        };
        let tokenizer = self
            .counted
            .map_or(String::new(), |name| format!(r#","tokenizer":"{name}""#));
        scene.push(format!(r#"{{"type":"session","version":1,"id":"s"{tokenizer}}}"#));
        for turn in &self.turns {
            scene.play(turn);
        }
        scene.session
    }
}

impl Scene<'_> {
    fn push(&mut self, line: String) {
        self.session.push_new(line.as_bytes());
        self.lines += 1;
    }

    /// The remaining members of a message: its id and its time.
    fn tail(&mut self) -> String {
        let mut tail = String::new();
        let nth = self.lines;
        if nth % 10 < usize::from(self.plot.identified) {
            let id = if self.plot.repeated {
                format!("m{}", nth % 5)
            } else {
                format!("m{nth}")
            };
            tail.push_str(&format!(r#","id":"{id}""#));
            self.ids.push(id);
        }
        if !nth.is_multiple_of(3) {
            tail.push_str(&format!(
                r#","timestamp":"2026-03-{:02}T08:00:00Z""#,
                1 + nth / 10 % 28
            ));
        }
        tail
    }

    fn message(&mut self, role: &str, members: &str) {
        let tail = self.tail();
        let line = format!(r#"{{"role":"{role}"{members}{tail}}}"#);
        let tokenizer = self.plot.counted.filter(|_| self.lines.is_multiple_of(4));
        let counted = tokenizer.map(|name| {
            let message = read(line.as_bytes()).unwrap();
            let tokens = Tokenizer::named(name).unwrap().message(&message);
            format!(r#"{},"tokens":{tokens}}}"#, &line[..line.len() - 1])
        });
        self.push(counted.unwrap_or(line));
    }

    fn play(&mut self, turn: &Turn) {
        match turn {
            Turn::System { developer, text } => {
                let role = if *developer { "developer" } else { "system" };
                self.message(role, &content(text));
            }
            Turn::User { text, media, extra } => {
                let members = content_with(text, *media);
                let extra = if *extra {
                    r#","x_client":{"b":[1,2.50,"é"]},"name":"ann""#
                } else {
                    ""
                };
                self.message("user", &format!("{members}{extra}"));
            }
            Turn::Rule(nth) => {
                let rule = format!(r#","content":{}"#, quoted(RULES[nth % RULES.len()]));
                self.message("user", &rule);
            }
            Turn::Happened(text) => {
                self.message("user", &format!(r#"{},"category":"context""#, content(text)));
            }
            Turn::Reply { text, thinks, extra } => {
                let extra = if *extra {
                    r#","x_model":"m-1","metadata":{"cost":0.10}"#
                } else {
                    ""
                };
                let said = if text.size == 0 {
                    r#","content":"ok""#.to_string()
                } else {
                    content(text)
                };
                self.message("assistant", &format!("{said}{}{extra}", thoughts(*thinks)));
            }
            Turn::Calls {
                calls,
                thinks,
                backwards,
            } => self.call(calls, *thinks, *backwards),
            Turn::Late { which, text } => {
                let (id, tool) = match self.open.len() {
                    0 => ("nobody".to_string(), "read"),
                    all => self.open.remove(which % all),
                };
                let id = if which % 7 == 0 {
                    String::new()
                } else {
                    format!(r#","tool_call_id":"{id}""#)
                };
                self.message("tool", &format!(r#","name":"{tool}"{id}{}"#, content(text)));
            }
            Turn::Bare => self.push(r#"{"role":"user","content":"same"}"#.to_string()),
            Turn::Garbage => self.push("not json".to_string()),
            Turn::Truncate(which) => {
                if let Some(id) = self.pick(*which) {
                    self.event("truncate", &format!(r#""before":"{id}""#));
                }
            }
            Turn::Summary(first, more) => {
                if let Some((first, last)) = self.range(*first, *more) {
                    let content = quoted("[summary of 3 messages]\nuser: an earlier word of the garden");
                    self.event(
                        "summary",
                        &format!(r#""content":{content},"covers":["{first}","{last}"]"#),
                    );
                }
            }
            Turn::Compact { first, more, sums } => self.compact(*first, *more, *sums),
            Turn::Restore(which) => {
                let all = self.events.len().max(1);
                if let Some(of) = self.events.get(which % all).cloned() {
                    self.event("restore", &format!(r#""of":"{of}""#));
                }
            }
        }
    }

    fn call(&mut self, calls: &[Call], thinks: u8, backwards: bool) {
        let (mut built, mut results) = (Vec::new(), Vec::new());
        for (nth, call) in calls.iter().enumerate() {
            let tool = TOOLS[usize::from(call.tool) % TOOLS.len()];
            let id = match (call.named, self.plot.repeated) {
                (false, _) => String::new(),
                (true, true) => format!("c{}", (self.lines + nth) % 4),
                (true, false) => format!("c{}_{nth}", self.lines),
            };
            let path = format!("src/{}.rs", call.arguments.seed % 4);
            let arguments = format!(
                r#"{{"path":{},"text":{}}}"#,
                quoted(&path),
                quoted(&call.arguments.say())
            );
            let named = if id.is_empty() {
                String::new()
            } else {
                format!(r#""id":"{id}","#)
            };
            let function = format!(r#"{{"name":"{tool}","arguments":{}}}"#, quoted(&arguments));
            built.push(format!(
                r#"{{{named}"type":"function","function":{function},"x_index":{nth}}}"#
            ));
            match &call.result {
                Some(text) => {
                    let media = if call.media { 2 } else { 0 };
                    let of = if id.is_empty() {
                        String::new()
                    } else {
                        format!(r#","tool_call_id":"{id}""#)
                    };
                    let failed = match call.arguments.seed % 6 {
                        0 => r#","metadata":{"exit_code":101}"#,
                        _ => "",
                    };
                    results.push(format!("{of}{failed}{}", content_with(text, media)));
                }
                None => self.open.push((id, tool)),
            }
        }
        let members = format!(
            r#","content":null,"tool_calls":[{}]{}"#,
            built.join(","),
            thoughts(thinks)
        );
        self.message("assistant", &members);
        if backwards {
            results.reverse();
        }
        for members in results {
            self.message("tool", &members);
        }
    }

    fn compact(&mut self, first: usize, more: usize, sums: bool) {
        let Some((first, last)) = self.range(first, more) else {
            return;
        };
        let nth = self.lines;
        let edit = format!(r#"{{"id":"{last}","content":"edited {nth}"}}"#);
        let insert = format!(
            r#"{{"before":"{last}","message":{{"role":"user","content":"put in {nth}","id":"i{nth}"}}}}"#
        );
        let old = self.put_in.get(nth % 3).filter(|_| nth.is_multiple_of(2));
        let old = old.map_or_else(String::new, |id| format!(r#","{id}""#));
        let summary = match (sums, nth % 3) {
            (false, _) => String::new(),
            (true, 0) => r#","summary":null"#.to_string(),
            (true, _) => {
                format!(r#","summary":{{"before":"{first}","content":"user: of old, the roof was green"}}"#)
            }
        };
        self.put_in.push(format!("i{nth}"));
        let members = format!(r#""drop":["{first}"{old}],"edit":[{edit}],"insert":[{insert}]{summary}"#);
        self.event("compact", &members);
    }

    fn event(&mut self, kind: &str, members: &str) {
        let id = format!("e{}", self.lines);
        self.push(format!(
            r#"{{"type":"{kind}","id":"{id}","at":"2026-01-01T00:00:00Z",{members}}}"#
        ));
        if kind != "restore" {
            self.events.push(id);
        }
    }

    fn pick(&self, which: usize) -> Option<String> {
        self.ids.get(which % self.ids.len().max(1)).cloned()
    }

    fn range(&self, first: usize, more: usize) -> Option<(String, String)> {
        let start = first % self.ids.len().max(1);
        let last = (start + more).min(self.ids.len().checked_sub(1)?);
        Some((self.ids[start].clone(), self.ids[last].clone()))
    }
}

fn content(text: &Text) -> String {
    content_with(text, if text.seed.is_multiple_of(5) { 1 } else { 0 })
}

/// The content member: a text or parts, some with media and some of an unknown type.
fn content_with(text: &Text, media: u8) -> String {
    let said = match text.say() {
        empty if empty.trim().is_empty() => "so".to_string(),
        said => said,
    };
    let part = format!(
        r#"{{"type":"text","text":{},"x_mark":{}}}"#,
        quoted(&said),
        text.seed % 9
    );
    let data = "A".repeat(40 + text.seed as usize % 4000);
    match media {
        1 => format!(r#","content":[{part}]"#),
        2 => format!(
            r#","content":[{part},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}]"#
        ),
        3 => format!(
            r#","content":[{{"type":"image_url","image_url":{{"url":"https://e.org/{}.png"}}}},{part}]"#,
            text.seed
        ),
        4 => format!(r#","content":[{part},{{"type":"x_chart","points":[1,2,3],"note":"é"}}]"#),
        5 => format!(r#","content":[{part},{part}]"#),
        _ => format!(r#","content":{}"#, quoted(&said)),
    }
}

fn thoughts(thinks: u8) -> String {
    match thinks {
        1 => r#","reasoning":[{"type":"thinking","thinking":"Let me look at the roof and at the garden first.","signature":"c2lnbmF0dXJl"}]"#.to_string(),
        2 => format!(r#","reasoning":[{{"type":"encrypted","encrypted_content":"{}"}}]"#, "QUJD".repeat(400)),
        3 => r#","reasoning":[{"type":"text","text":"Hm, what of the seeds?"}]"#.to_string(),
        _ => String::new(),
    }
}
