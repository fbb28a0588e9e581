//! The simple commands of a shell command line: their words and the files they write. Substitutions remain as they are
//! written; texts of here-documents are left out.

use crate::filter::compact::head_tail::boundary;

/// A command without operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and its arguments, without quotes, variable assignments and wrappers such as `sudo`.
    pub words: Vec<String>,
    /// Files to which the output is redirected, and whether it is appended.
    pub outputs: Vec<(String, bool)>,
    /// The directory of a `cd` before it.
    pub directory: Option<String>,
    /// Whether it reads the output of the one before.
    pub is_piped: bool,
    /// Whether it runs only if the one before succeeds (`&&`).
    pub is_chained: bool,
    /// Whether it runs only if another one fails (`||`).
    pub is_alternative: bool,
}

/// Most bytes of a command line that are read; what follows is text of a here-document in most cases.
const LONGEST: usize = 4096;

/// Programs that run the program that their arguments name, with the number of their own arguments.
const WRAPPERS: [(&[&str], usize); 16] = [
    (&["sudo"], 0),
    (&["env"], 0),
    (&["time"], 0),
    (&["nice"], 0),
    (&["nohup"], 0),
    (&["exec"], 0),
    (&["timeout"], 1),
    (&["xvfb-run"], 0),
    (&["npx"], 0),
    (&["bunx"], 0),
    (&["pnpm", "exec"], 0),
    (&["uv", "run"], 0),
    (&["poetry", "run"], 0),
    (&["bundle", "exec"], 0),
    (&["python", "-m"], 0),
    (&["python3", "-m"], 0),
];

impl SimpleCommand {
    /// The name of the program, without its directory.
    pub fn program(&self) -> &str {
        let first = self.words.first().map_or("", String::as_str);
        first.rsplit('/').next().unwrap_or_default()
    }

    /// The arguments that are not options.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().skip(1).map(String::as_str);
        words.filter(|word| !word.starts_with('-') && !word.is_empty())
    }

    /// Whether an option is given: `-i`, also among others such as `-ni`, or `--name`.
    pub fn has_option(&self, short: char, long: &str) -> bool {
        let mut words = self.words.iter().skip(1);
        words.any(|word| match word.strip_prefix('-') {
            Some(name) if name.starts_with('-') => name[1..].split('=').next() == Some(long),
            // The value of such an option of perl follows its letter.
            Some(letters) => letters
                .split(['M', 'I', 'e'])
                .next()
                .unwrap_or_default()
                .contains(short),
            None => false,
        })
    }

    /// Removes variable assignments and wrappers from the beginning.
    fn unwrap_words(&mut self) {
        let is_assignment = |word: &str| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
        };
        let mut rest = self.words.as_slice();
        loop {
            let assignments = rest.iter().take_while(|word| is_assignment(word)).count();
            rest = &rest[assignments..];
            let wrapper = WRAPPERS.iter().find(|(names, _)| {
                rest.len() > names.len() && names.iter().zip(rest).all(|(name, word)| name == word)
            });
            let Some((names, own)) = wrapper else {
                break;
            };
            let options = rest[names.len()..]
                .iter()
                .take_while(|word| word.starts_with('-'))
                .count();
            rest = &rest[(names.len() + options + own).min(rest.len())..];
        }
        let own = self.words.len() - rest.len();
        self.words.drain(..own);
    }
}

/// Splits the beginning of a command line at its operators.
pub fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    let mut splitter = Splitter {
        rest: &line[..boundary(line, LONGEST)],
        commands: Vec::new(),
        current: SimpleCommand::default(),
        word: None,
        target: None,
        delimiters: Vec::new(),
        directory: None,
        outer: Vec::new(),
    };
    while splitter.step() {}
    splitter.end_command(";");
    splitter.commands
}

/// The use of the word that follows a redirection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RedirectionTarget {
    Output { appends: bool },
    Ignored,
    HereDocument,
}

struct Splitter<'l> {
    rest: &'l str,
    commands: Vec<SimpleCommand>,
    current: SimpleCommand,
    word: Option<String>,
    target: Option<RedirectionTarget>,
    /// Last lines of the here-documents that follow.
    delimiters: Vec<String>,
    directory: Option<String>,
    /// The directories outside of the parentheses around.
    outer: Vec<Option<String>>,
}

impl Splitter<'_> {
    /// Reads the next character or operator; returns false at the end.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else {
            return false;
        };
        let starts = |operator: &str| self.rest.starts_with(operator);
        let is_descriptor = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        match c {
            '\'' => self.quoted('\'', "'"),
            '"' => self.quoted('"', "\""),
            '`' => self.substitution('`'),
            '$' if starts("$(") => self.substitution(')'),
            '\\' => {
                self.skip(1);
                if let Some(next) = self.rest.chars().next() {
                    self.skip(next.len_utf8());
                    if next != '\n' {
                        self.push(next);
                    }
                }
            }
            '#' if self.word.is_none() => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
            '\n' => {
                self.skip(1);
                self.end_command(";");
                self.skip_here_documents();
            }
            c if c.is_whitespace() => {
                self.skip(c.len_utf8());
                self.end_word();
            }
            '>' | '<' => {
                // A number before the operator is a file descriptor.
                match self.word.take_if(|word| is_descriptor(word)) {
                    Some(descriptor) if descriptor != "1" => self.redirect(true),
                    _ => {
                        self.end_word();
                        self.redirect(false);
                    }
                }
            }
            '&' if starts("&>") => {
                self.end_word();
                self.skip(1);
                self.redirect(false);
            }
            '&' | '|' | ';' | '(' | ')' => {
                let length = if starts("&&") || starts("||") || starts(";;") {
                    2
                } else {
                    1
                };
                let operator = &self.rest[..length];
                self.skip(length);
                self.end_command(operator);
                match operator {
                    "(" => self.outer.push(self.directory.clone()),
                    ")" => self.directory = self.outer.pop().unwrap_or_default(),
                    _ => {}
                }
            }
            c => {
                self.skip(c.len_utf8());
                self.push(c);
            }
        }
        true
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, quote: char, end: &str) {
        self.skip(1);
        let word = self.word.get_or_insert_default();
        let mut escaped = false;
        let mut length = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            if escaped {
                escaped = false;
                word.push(c);
            } else if c == quote {
                length = at + end.len();
                break;
            } else if c == '\\' && quote == '"' {
                escaped = true;
            } else {
                word.push(c);
            }
        }
        self.skip(length);
    }

    /// Copies a substitution, with its nested ones, into the current word.
    fn substitution(&mut self, end: char) {
        let mut depth = 0;
        let mut length = self.rest.len();
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                '(' if end == ')' => depth += 1,
                ')' if end == ')' && depth > 1 => depth -= 1,
                c if c == end => {
                    length = at + c.len_utf8();
                    break;
                }
                _ => {}
            }
        }
        let text = &self.rest[..length];
        self.word.get_or_insert_default().push_str(text);
        self.skip(length);
    }

    /// Reads a redirection operator.
    fn redirect(&mut self, ignored: bool) {
        let operator = self.rest;
        let (length, target) = if operator.starts_with("<<<") {
            (3, RedirectionTarget::Ignored)
        } else if operator.starts_with("<<-") {
            (3, RedirectionTarget::HereDocument)
        } else if operator.starts_with("<<") {
            (2, RedirectionTarget::HereDocument)
        } else if operator.starts_with(">&") || operator.starts_with("<&") {
            (2, RedirectionTarget::Ignored)
        } else if operator.starts_with(">>") {
            (2, RedirectionTarget::Output { appends: true })
        } else if operator.starts_with(">|") {
            (2, RedirectionTarget::Output { appends: false })
        } else if operator.starts_with('>') {
            (1, RedirectionTarget::Output { appends: false })
        } else {
            (1, RedirectionTarget::Ignored)
        };
        self.skip(length);
        let ignored = ignored && target != RedirectionTarget::HereDocument;
        self.target = Some(if ignored {
            RedirectionTarget::Ignored
        } else {
            target
        });
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.target.take() {
            Some(RedirectionTarget::Output { appends }) => self.current.outputs.push((word, appends)),
            Some(RedirectionTarget::HereDocument) => self.delimiters.push(word),
            Some(RedirectionTarget::Ignored) => {}
            None => self.current.words.push(word),
        }
    }

    /// Ends a command at the operator that precedes the next one.
    fn end_command(&mut self, operator: &str) {
        self.end_word();
        let is_alternative = self.current.is_alternative && matches!(operator, "&&" | "|");
        let next = SimpleCommand {
            is_piped: operator == "|",
            is_chained: operator == "&&",
            is_alternative: operator == "||" || is_alternative,
            ..SimpleCommand::default()
        };
        let mut command = std::mem::replace(&mut self.current, next);
        command.unwrap_words();
        if command.words.is_empty() && command.outputs.is_empty() {
            self.current.is_piped |= command.is_piped;
            self.current.is_chained |= command.is_chained;
            self.current.is_alternative |= command.is_alternative;
            return;
        }
        if command.program() == "cd" {
            let path = command.operands().next();
            self.directory = match (self.directory.take(), path) {
                (Some(outer), Some(path)) if !path.starts_with(['/', '~', '-', '$']) => {
                    Some(format!("{outer}/{path}"))
                }
                (_, path) => path.map(str::to_string),
            };
        } else {
            command.directory = self.directory.clone();
            self.commands.push(command);
        }
    }

    fn skip_here_documents(&mut self) {
        for delimiter in std::mem::take(&mut self.delimiters) {
            while !self.rest.is_empty() {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                let is_last = self.rest[..end].trim() == delimiter;
                self.skip(end);
                if is_last {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let all = simple_commands(line);
        all.iter().map(|command| command.words.join("|")).collect()
    }

    #[test]
    fn lines_are_split_at_operators_outside_of_quotes() {
        assert_eq!(
            words("cd a && CI=1 sudo pytest -q 'x; y' 2>&1 | tail -3; echo \"a && b\" # c; d"),
            ["pytest|-q|x; y", "tail|-3", "echo|a && b"]
        );
        assert_eq!(
            words("python3 -m pytest x || timeout 60 make"),
            ["pytest|x", "make"]
        );
        assert_eq!(
            words("git commit -m \"$(cat <<'E'\na; b\nE\n)\""),
            ["git|commit|-m|$(cat <<'E'\na; b\nE\n)"]
        );
        assert_eq!(
            words("echo $(a; (b); c) `d; e` 'open"),
            ["echo|$(a; (b); c)|`d; e`|open"]
        );
        let piped: Vec<bool> = simple_commands("a | b && c")
            .iter()
            .map(|one| one.is_piped)
            .collect();
        assert_eq!(piped, [false, true, false]);
        assert_eq!(
            words(&format!("cd {}; {}", "a".repeat(9000), "b;".repeat(9000))),
            Vec::<String>::new()
        );
        let nested = simple_commands("(cd a && cd b && rm f) && rm g || rm h");
        let places: Vec<_> = nested.iter().map(|one| one.directory.as_deref()).collect();
        assert_eq!(places, [Some("a/b"), None, None]);
        assert_eq!(
            [nested[1].is_alternative, nested[2].is_alternative],
            [false, true]
        );
        let tests = simple_commands("cd web && npm test");
        assert_eq!(tests[0].directory.as_deref(), Some("web"));
    }

    #[test]
    fn redirections_name_the_written_files() {
        let all = simple_commands("cat > a.py <<'EOF'\nx > y; rm z\nEOF\nmake >>log 2>err 1>out &>all < in");
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0].outputs, [("a.py".to_string(), false)]);
        let outputs: Vec<_> = all[1]
            .outputs
            .iter()
            .map(|(path, appends)| (path.as_str(), *appends))
            .collect();
        assert_eq!(outputs, [("log", true), ("out", false), ("all", false)]);
        assert_eq!(all[1].words, ["make"]);
    }
}
