//! `show`: prints sessions as readable text.

mod calls;
mod canvas;
mod heading;
mod markdown;
mod open;
mod page;
mod table;

use super::Run;
use crate::args::{ChainArgs, Following, InputArgs, InputLocation, Selecting, TimeOptions};
use crate::context::Context;
use crate::errors::named;
use crate::input::follow::follow;
use crate::input::{chain_reader, operands};
use crate::output::columns;
use crate::terminal::time_format::Times;
use crate::writing::report_dangling;
use canvas::Canvas;
use clap::Args;
use convo::error::Error;
use convo::format::page::PageOptions;
use convo::model::view::View;
use page::{PageStyle, SessionPage};

/// Display sessions in the terminal
///
/// Displays the messages in the view: text with its Markdown rendered, tool calls as one line each, changes of files as
/// diffs. Long tool results are folded; --full shows them completely, --hidden adds the messages outside the view.
/// Uses colors, local times and a pager ($CONVO_PAGER, $PAGER, or less) on a terminal; elsewhere text is printed as written.
/// Control and bidirectional characters are made visible.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo show chat
  convo show --hidden --full chat     the complete log
  convo show --role user chat         only the user messages
  convo show --chain chat             the whole chain
  convo show ./session.json           a file in any format
  convo show --follow @last           new messages as they arrive
  convo show --open chat              in the browser")]
pub struct ShowCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    chained: ChainArgs,
    #[command(flatten)]
    following: Following,
    /// Include hidden messages
    #[arg(long, alias = "all", help_heading = "Output")]
    hidden: bool,
    /// Show complete tool results, arguments and artifacts
    #[arg(long, help_heading = "Output")]
    full: bool,
    /// Print text as written, without rendering Markdown
    #[arg(long, help_heading = "Output")]
    plain: bool,
    /// Open the session as a page in the browser ($BROWSER), and print the path of the page
    #[arg(long, help_heading = "Output", conflicts_with_all = ["follow", "full", "plain"])]
    open: bool,
}

/// Maximum width of text in columns; longer lines are hard to read.
const WIDEST: usize = 100;

/// Minimum width in columns that is assumed.
const NARROWEST: usize = 20;

impl Run for ShowCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let inputs = operands::inputs(context, &self.inputs)?;
        let mut page = self.page(context)?;
        if self.following.follow {
            return self.follow(context, &inputs, page);
        }
        if self.open {
            return self.open(context, &inputs);
        }
        chain_reader::each(context, &inputs, &self.reading, self.chained, |label, session| {
            let view = View::replay(&session);
            report_dangling(context, label, &session, &view);
            page.session(&session, &view, label)
                .map_err(|error| named(error, label))?;
            Ok(())
        })?;
        context.output.page(page.text())
    }
}

impl ShowCommand {
    /// Prints each message once it is complete.
    fn follow(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        mut page: SessionPage,
    ) -> anyhow::Result<()> {
        let mut sessions = 0;
        follow(
            context,
            inputs,
            (&self.reading).into(),
            self.following,
            &mut |nth, session, range| {
                let is_new = nth >= sessions;
                sessions = sessions.max(nth + 1);
                page.continued(session, range, &inputs[0].label(), is_new);
                let text = page.take();
                context.output.styled(|out| {
                    let written = out.write_all(text.as_bytes());
                    Ok(written.map_err(|error| Error::io("cannot write", error))?)
                })
            },
        )
    }

    /// Opens one session in a browser.
    fn open(&self, context: &Context, inputs: &[InputLocation]) -> anyhow::Result<()> {
        let mut opened = 0;
        chain_reader::each(
            context,
            inputs,
            &self.reading,
            self.chained,
            |label, mut session| {
                opened += 1;
                if opened > 1 {
                    let error = Error::usage("--open opens one session");
                    let hint = "write pages with: convo migrate --to html --output-dir DIR INPUT";
                    return Err(named(error.hint(hint), label).into());
                }
                self.selecting.select_part(label, &mut session)?;
                let view = View::replay(&session);
                let options = PageOptions {
                    hidden: self.hidden,
                    ..PageOptions::default()
                };
                open::page(context, label, (&session, &view), &options)
            },
        )
    }

    fn page(&self, context: &Context) -> convo::Result<SessionPage> {
        let canvas = Canvas {
            text: String::new(),
            width: columns().map(|columns| columns.clamp(NARROWEST, WIDEST)),
            palette: context.palette()?,
        };
        let style = PageStyle {
            on_terminal: canvas.width.is_some(),
            markdown: canvas.width.is_some() && !self.plain,
            full: self.full,
            all: self.hidden,
        };
        let times = Times::new(TimeOptions::default(), &context.clock);
        Ok(SessionPage::new(canvas, style, times, self.selecting.selection()))
    }
}
