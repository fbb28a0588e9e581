//! `show`: sessions as readable text.

use super::Run;
use crate::args::{Chained, Reading, Selecting};
use crate::chains;
use crate::change::tell_dangling;
use crate::context::{Context, named};
use crate::output::{columns, counted, in_line, moment, visible};
use clap::Args;
use convo::filter::select::Selection;
use convo::filter::{memory, restore};
use convo::format::penguiflow;
use convo::model::health::Health;
use convo::model::json;
use convo::model::message::{Message, Part, Role};
use convo::model::session::{Class, Session};
use convo::model::speaker::{Tools, thoughts};
use convo::model::view::{Item, View};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Display sessions in the terminal
///
/// Displays the messages in the view. Long tool results and arguments are folded; --full shows them completely, --hidden
/// adds the messages outside the view. Uses colors and a pager ($CONVO_PAGER, $PAGER, or less) on a terminal. Control and
/// bidirectional characters are made visible.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo show chat
  convo show --hidden --full chat       the complete log
  convo show --role user chat         only the user messages
  convo show --chain chat             the whole chain
  convo show ./session.json           a file in any format
  convo show @last | head")]
pub struct Show {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    chained: Chained,
    /// Include hidden messages
    #[arg(long, alias = "all", help_heading = "Output")]
    hidden: bool,
    /// Show complete tool results, arguments and artifacts
    #[arg(long, help_heading = "Output")]
    full: bool,
}

/// Lines of a tool's result that are shown folded.
const FOLDED: usize = 4;

/// Columns of a terminal that text is wrapped to at most: longer lines are hard to read.
const WIDEST: usize = 100;

impl Run for Show {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = context.inputs(&self.inputs)?;
        let mut page = Page {
            text: String::new(),
            colored: context.output.colored(),
            width: columns().map(|columns| columns.clamp(20, WIDEST)),
            fold: if self.full { usize::MAX } else { FOLDED },
            tools: Tools::default(),
            selection: self.selecting.selection(),
            chosen: None,
        };
        chains::each(context, &inputs, &self.reading, self.chained, |label, session| {
            let view = View::replay(&session);
            tell_dangling(context, label, &session, &view);
            page.choose(&session, &view, self.hidden)
                .map_err(|error| named(error, label))?;
            page.session(&session, &view, label, self.hidden);
            Ok(())
        })?;
        context.output.page(&page.text)
    }
}

/// Colours that can be read on a dark and on a light ground.
#[derive(Clone, Copy)]
enum Ink {
    User,
    Assistant,
    Tool,
    System,
    Faint,
    Title,
}

struct Page {
    text: String,
    colored: bool,
    width: Option<usize>,
    fold: usize,
    tools: Tools,
    /// What is shown; none: everything.
    selection: Option<Selection>,
    /// Of the session at hand: the lines that are shown, and the items of its view that are.
    chosen: Option<(HashSet<usize>, Vec<bool>)>,
}

impl Page {
    /// Finds what is shown of a session; with `all` also of what is not in view.
    fn choose(&mut self, session: &Session, view: &View, all: bool) -> convo::Result<()> {
        let Some(selection) = &self.selection else {
            return Ok(());
        };
        let items = selection.chosen(session, &view.items);
        let lines: Vec<Item> = match all {
            true => session.messages().map(|(index, _)| Item::Line(index)).collect(),
            false => view.items.clone(),
        };
        let chosen = selection.chosen(session, &lines);
        if !chosen.contains(&true) && !items.contains(&true) {
            return Err(Selection::nothing(session, &lines));
        }
        let shown = lines.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        self.chosen = Some((shown.filter_map(|(item, _)| item.line()).collect(), items));
        Ok(())
    }

    fn is_shown(&self, line: usize) -> bool {
        self.chosen
            .as_ref()
            .is_none_or(|(lines, _)| lines.contains(&line))
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        if !self.colored {
            return text.to_string();
        }
        let code = match ink {
            Ink::User => "1;32",
            Ink::Assistant => "1;35",
            Ink::Tool => "36",
            Ink::System => "1",
            Ink::Faint => "2",
            Ink::Title => "1;4",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn session(&mut self, session: &Session, view: &View, label: &str, all: bool) {
        if !self.text.is_empty() {
            self.line("");
        }
        self.tools = Tools::default();
        self.heading(session, view, label);
        let in_view: HashSet<usize> = view
            .items
            .iter()
            .filter_map(|item| {
                if let Item::Line(index) | Item::Edited(index, _) = item {
                    Some(*index)
                } else {
                    None
                }
            })
            .collect();
        let out_of_view = session
            .messages()
            .filter(|(index, _)| !in_view.contains(index))
            .count();
        if out_of_view > 0 && !all {
            let changes: Vec<_> = restore::changes(session)
                .into_iter()
                .map(|(id, kind)| format!("{kind} {id}"))
                .collect();
            let text = format!(
                "({out_of_view} messages are not in view: {}; --hidden shows them)",
                changes.join(", ")
            );
            let text = self.ink(Ink::Faint, &text);
            self.line(&format!("\n{text}"));
        }
        let mut next = 0;
        for (nth, item) in view.items.iter().enumerate() {
            if let (true, Item::Line(index) | Item::Edited(index, _)) = (all, item) {
                self.hidden(session, next..*index, &in_view);
                next = index + 1;
            }
            if self.chosen.as_ref().is_some_and(|(_, items)| !items[nth]) {
                if let Some(message) = item.message(session) {
                    self.tools.note(&message);
                }
                continue;
            }
            match (item.summary(session), item.message(session)) {
                (Some(summary), _) => {
                    let heading = self.ink(Ink::System, "summary");
                    self.line(&format!("\n{heading}"));
                    self.paragraph(&summary, usize::MAX);
                }
                (None, Some(message)) => self.message(&message, ""),
                (None, None) => {}
            }
        }
        if all {
            self.hidden(session, next..session.len(), &in_view);
        }
        let unreadable = (0..session.len())
            .filter(|index| session.class(*index) == Class::Unreadable)
            .count();
        if unreadable > 0 {
            let text = self.ink(
                Ink::Faint,
                &format!(
                    "({unreadable} damaged line{}; `convo cat` tells which)",
                    if unreadable == 1 { "" } else { "s" }
                ),
            );
            self.line(&format!("\n{text}"));
        }
    }

    /// Messages that are not in view, marked as such.
    fn hidden(&mut self, session: &Session, range: std::ops::Range<usize>, in_view: &HashSet<usize>) {
        for index in range.filter(|index| !in_view.contains(index)) {
            if !self.is_shown(index) {
                continue;
            }
            if let Some(message) = session.record(index).message() {
                self.message(message, " (not in view)");
            }
        }
    }

    fn heading(&mut self, session: &Session, view: &View, label: &str) {
        let id = session.header_text("id").unwrap_or_else(|| label.to_string());
        let title = session.header_text("title").unwrap_or_default();
        let heading = self.ink(Ink::Title, &in_line(if title.is_empty() { &id } else { &title }));
        self.line(&heading);
        let messages = view
            .items
            .iter()
            .filter(|item| !matches!(item, Item::Summary(_)))
            .count();
        let mut facts = vec![format!(
            "{messages} message{}",
            if messages == 1 { "" } else { "s" }
        )];
        if !title.is_empty() {
            facts.insert(0, in_line(&id));
        }
        facts.extend(session.header_text("key").map(|key| in_line(&key)));
        facts.extend(session.header_text("created_at").map(|time| moment(&time)));
        facts.extend(
            session
                .header_text("continued_from")
                .map(|from| format!("continues {}", in_line(&from))),
        );
        if let Ok(Some((pending, backlog))) = memory::waiting(session)
            && pending + backlog > 0
        {
            let turns = counted((pending + backlog) as u64, "turn");
            facts.push(format!("{turns} waiting for a summary"));
        }
        let failures = Health::of(session).failures;
        if failures > 0 {
            let failed = if failures == 1 { "summary" } else { "summaries" };
            facts.push(format!("{failures} {failed} failed"));
        }
        let facts = self.ink(Ink::Faint, &facts.join(" · "));
        self.line(&facts);
    }

    fn message(&mut self, message: &Message<'_>, mark: &str) {
        if is_internal(message) {
            return;
        }
        let role = message.role();
        let label = match self.tools.name(message) {
            Some(name) => format!("{} {}", message.role_name(), name),
            None => message.role_name().into_owned(),
        };
        let ink = match role {
            Role::User => Ink::User,
            Role::Assistant => Ink::Assistant,
            Role::Tool => Ink::Tool,
            Role::System | Role::Developer | Role::Other => Ink::System,
        };
        let time = message
            .timestamp()
            .map(|time| format!("  {}", moment(&time)))
            .unwrap_or_default();
        let heading = format!(
            "{}{}",
            self.ink(ink, &in_line(&label)),
            self.ink(Ink::Faint, &format!("{time}{mark}"))
        );
        self.line(&format!("\n{heading}"));
        for thought in thoughts(message) {
            match thought {
                Some(text) => self.paragraph(&format!("(thinking) {text}"), self.fold),
                None => self.paragraph("(thinking, encrypted)", self.fold),
            }
        }
        let fold = if role == Role::Tool { self.fold } else { usize::MAX };
        for part in message.parts() {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => self.paragraph(&text, fold),
                Part::Other(kind, raw) => self.paragraph(&format!("[{kind}, {} bytes]", raw.len()), 1),
            }
        }
        if self.fold == usize::MAX {
            for artifact in penguiflow::artifacts(message) {
                self.paragraph(&artifact, self.fold);
            }
        }
        self.tools.note(message);
        for call in message.tool_calls() {
            self.paragraph(
                &format!("> {}({})", in_line(&call.name), call.arguments),
                self.fold,
            );
        }
    }

    /// Text, indented; folded to so many lines.
    fn paragraph(&mut self, text: &str, most: usize) {
        let text = visible(text);
        let text = text.trim_end_matches('\n');
        let lines: Vec<&str> = text.split('\n').collect();
        let mut shown = 0;
        for line in lines.iter().take(most) {
            shown += 1;
            self.wrapped(line, most);
        }
        if shown < lines.len() {
            let rest = lines.len() - shown;
            let text = self.ink(
                Ink::Faint,
                &format!("  ... {rest} more line{}", if rest == 1 { "" } else { "s" }),
            );
            self.line(&text);
        }
    }

    fn wrapped(&mut self, line: &str, fold: usize) {
        // A folded line that is long for its own sake, such as a minified file, is cut too.
        let limit = if fold == usize::MAX { usize::MAX } else { 400 };
        let cut: String = line.chars().take(limit).collect();
        let more = line.len() - cut.len();
        match self.width {
            None => {
                let _ = write!(self.text, "  {cut}");
                self.text.truncate(self.text.trim_end_matches(' ').len());
            }
            Some(width) => {
                let options = textwrap::Options::new(width)
                    .initial_indent("  ")
                    .subsequent_indent("  ");
                let filled = textwrap::fill(&cut, options);
                self.text.push_str(filled.trim_end_matches(' '));
            }
        }
        if more > 0 {
            let _ = write!(self.text, " ... {more} more bytes");
        }
        self.text.push('\n');
    }
}

/// Whether a system that hides messages from people has hidden this one.
fn is_internal(message: &Message<'_>) -> bool {
    let Some(penguin) = message.metadata.and_then(|raw| json::member(raw, "penguin")) else {
        return false;
    };
    let text = |raw: Option<&[u8]>| raw.and_then(json::text).map(|text| text.trim().to_lowercase());
    let visibility = json::member(penguin, "metadata").and_then(|inner| json::member(inner, "visibility"));
    text(json::member(penguin, "category")).is_some_and(|name| name == "internal")
        || text(visibility).is_some_and(|name| name == "internal")
}
