//! Invented agent sessions, reproducible by seed. Relevant facts look like their surroundings: a line among similar
//! lines of a tool result, or a sentence among others, selected at random.

use super::compacted::raw;
use super::generated::{Chance, word};

/// The kind of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One question and about sixty calls.
    OneQuestion,
    /// Twenty-five questions with a few calls each.
    Questions,
    /// The same, and thirty calls with results after the newest question.
    Busy,
    /// Like `Questions`, and most calls repeat earlier reads.
    Rereads,
    /// Like `Questions`, and every third question has an image.
    Pictures,
    /// Like `Questions`, and every reply has reasoning.
    Reasoning,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::OneQuestion,
        Kind::Questions,
        Kind::Busy,
        Kind::Rereads,
        Kind::Pictures,
        Kind::Reasoning,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::OneQuestion => "one question, sixty calls",
            Kind::Questions => "questions with calls",
            Kind::Busy => "a long newest question",
            Kind::Rereads => "repeated reads",
            Kind::Pictures => "pictures",
            Kind::Reasoning => "reasoning",
        }
    }
}

/// A fact to ask for later.
pub struct Fact {
    pub text: String,
    /// The speaker.
    pub role: &'static str,
    /// Its line in the session.
    pub line: usize,
}

pub struct Agent {
    pub lines: Vec<Vec<u8>>,
    pub facts: Vec<Fact>,
    /// The line of the newest question.
    pub newest: usize,
}

struct Maker {
    chance: Chance,
    kind: Kind,
    made: Agent,
    /// Earlier reads, to be repeated: arguments and result.
    read: Vec<(String, String)>,
}

/// Generates a session; a given rule is added to the first user message.
pub fn agent(kind: Kind, seed: u64, rule: Option<(&str, usize)>) -> Agent {
    let made = Agent {
        lines: Vec::new(),
        facts: Vec::new(),
        newest: 0,
    };
    let mut maker = Maker {
        chance: Chance::new(seed ^ 0xa9e47),
        kind,
        made,
        read: Vec::new(),
    };
    maker.add(
        "system",
        &[("content", raw("You work on a program with its tools."))],
    );
    let questions = if kind == Kind::OneQuestion { 1 } else { 25 };
    for question in 0..questions {
        maker.question(
            rule.filter(|(_, at)| *at == question).map(|(rule, _)| rule),
            question,
        );
        let calls = match kind {
            Kind::OneQuestion => 60,
            Kind::Busy if question + 1 == questions => 30,
            _ => 1 + maker.chance.below(5),
        };
        for _ in 0..calls {
            maker.call();
        }
        maker.answer();
    }
    maker.made
}

impl Maker {
    fn add(&mut self, role: &'static str, members: &[(&str, String)]) {
        let at = self.made.lines.len();
        let day = 1 + at / 12 % 28;
        let mut line = format!(r#"{{"role":"{role}","id":"m{at}","timestamp":"2026-05-{day:02}T09:00:00Z""#);
        for (name, value) in members {
            line.push_str(&format!(r#","{name}":{value}"#));
        }
        line.push('}');
        self.made.lines.push(line.into_bytes());
    }

    /// Marks the last statement as a fact with a probability of one in `of`.
    fn maybe_fact(&mut self, text: &str, role: &'static str, of: usize) {
        if self.chance.below(of) == 0 {
            let line = self.made.lines.len();
            let text = text.to_string();
            self.made.facts.push(Fact { text, role, line });
        }
    }

    fn sentence(&mut self, words: usize) -> String {
        let joints = [
            "the", "in", "of the", "with", "when", "and", "so that", "but not", "to",
        ];
        let mut text = self
            .chance
            .one(&["We need", "I see", "There is", "It takes", "You have", "This is"])
            .to_string();
        for _ in 0..words {
            let joint = self.chance.one(&joints);
            text.push_str(&format!(" {joint} {}", word(&mut self.chance, 0)));
        }
        match self.chance.below(3) {
            0 => text.push_str(&format!(" {}.", 1 + self.chance.below(4000))),
            _ => text.push('.'),
        }
        text
    }

    fn message(&mut self, role: &'static str, sentences: usize) -> String {
        let mut text = Vec::new();
        for _ in 0..sentences {
            let length = 3 + self.chance.below(8);
            let sentence = self.sentence(length);
            self.maybe_fact(&sentence, role, 4);
            text.push(sentence);
        }
        text.join(" ")
    }

    fn question(&mut self, rule: Option<&str>, nth: usize) {
        self.made.newest = self.made.lines.len();
        let sentences = 1 + self.chance.below(4);
        let mut text = self.message("user", sentences);
        if let Some(rule) = rule {
            text = format!("{text} {rule}");
        }
        let mut content = raw(&text);
        if self.kind == Kind::Pictures && nth.is_multiple_of(3) {
            let data: String = (0..2000)
                .map(|_| self.chance.one(&["Qk", "x9", "AA", "/+", "zT"]))
                .collect();
            content = format!(
                r#"[{{"type":"text","text":{content}}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}]"#
            );
        }
        self.add("user", &[("content", content)]);
    }

    /// Adds a call with its result.
    fn call(&mut self) {
        let again = self.kind == Kind::Rereads && !self.read.is_empty() && self.chance.below(3) > 0;
        let (arguments, result) = if again {
            let nth = self.chance.below(self.read.len());
            self.read[nth].clone()
        } else {
            let built = self.reading();
            self.read.push(built.clone());
            built
        };
        let id = self.made.lines.len();
        let sentences = self.chance.below(3);
        let text = self.message("assistant", sentences);
        let calls = format!(
            r#"[{{"id":"c{id}","type":"function","function":{{"name":"read_file","arguments":{}}}}}]"#,
            raw(&arguments)
        );
        let mut members = vec![("content", raw(&text)), ("tool_calls", calls)];
        if self.kind == Kind::Reasoning {
            let sentences = 4 + self.chance.below(8);
            let reasoning: Vec<String> = (0..sentences).map(|_| self.sentence(9)).collect();
            members.push((
                "reasoning",
                format!(
                    r#"[{{"type":"thinking","thinking":{},"signature":"c2ln"}}]"#,
                    raw(&reasoning.join(" "))
                ),
            ));
        }
        self.add("assistant", &members);
        // Only one or two lines of a result matter.
        let lines: Vec<&str> = result.lines().collect();
        for _ in 0..2 {
            let line = lines[self.chance.below(lines.len())].to_string();
            self.maybe_fact(&line, "tool", 2);
        }
        self.add(
            "tool",
            &[("content", raw(&result)), ("tool_call_id", format!("\"c{id}\""))],
        );
    }

    /// A file name and its content, three to some hundred lines.
    fn reading(&mut self) -> (String, String) {
        let file = format!(
            "src/{}/{}.rs",
            word(&mut self.chance, 3),
            word(&mut self.chance, 6)
        );
        let lines = 3 << self.chance.below(7);
        let mut result = String::new();
        for line in 0..lines {
            let (one, two, three) = (
                word(&mut self.chance, 0),
                word(&mut self.chance, 2),
                word(&mut self.chance, 4),
            );
            let number = self.chance.below(900);
            result.push_str(&match self.chance.below(4) {
                0 => format!("{:4} let {one} = {two}({three}, {number});\n", line + 1),
                1 => format!("{:4} {one}.{two}(&{three})?;\n", line + 1),
                2 => format!("{:4} // {one} {two} the {three}, see {number}\n", line + 1),
                _ => format!(
                    "{:4} if {one} > {number} {{ return {two}::{three}; }}\n",
                    line + 1
                ),
            });
        }
        (format!(r#"{{"path":"{file}"}}"#), result)
    }

    fn answer(&mut self) {
        let sentences = 2 + self.chance.below(5);
        let text = self.message("assistant", sentences);
        self.add("assistant", &[("content", raw(&text))]);
    }
}
