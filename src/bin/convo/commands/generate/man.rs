//! Generates the manual pages: prose from the Markdown files next to this one, the rest from the command line
//! definitions.

use super::page::{ManualPage, NamedContent};
use crate::commands::{self, CommandSpec, Group};
use crate::programs::bundled_plugins;
use clap::{Arg, Command};
use clap_mangen::Man;
use convo::check::{ALTERNATE, Api, HistoryRule, RULES, STRUCTURE, Severity};
use convo::error::{Error, ErrorKind};
use convo::format::Format;
use convo::store::fsck::Problem;

/// Returns every page: file name and source.
pub fn pages() -> convo::Result<Vec<NamedContent>> {
    let mut pages = vec![
        ("convo.1".to_string(), overview()?),
        ("convo-format.5".to_string(), format()),
    ];
    for spec in visible() {
        pages.push((
            format!("convo-{}.1", spec.name),
            command_page(spec.name, spec.command())?,
        ));
    }
    for (name, command) in bundled_plugins::all() {
        pages.push((format!("convo-{name}.1"), command_page(name, command)?));
    }
    Ok(pages)
}

fn visible() -> impl Iterator<Item = &'static CommandSpec> {
    commands::ALL.iter().filter(|spec| !spec.hidden)
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn overview() -> convo::Result<String> {
    let mut page = ManualPage::new("convo", 1);
    let mut failed = None;
    page.blocks(include_str!("convo.md"), |page, name| match name {
        "about" => page.text(&format!("convo - {}", about(&commands::root()))),
        "commands" => commands_by_group(page),
        "options" => {
            let mut root = commands::root();
            root.build();
            failed = options(page, &root, |_| true).err();
        }
        "status" => statuses(page),
        "formats" => formats(page),
        "rules" => rules(page),
        "see also" => {
            let names = visible().map(|spec| spec.name);
            let shipped = bundled_plugins::all();
            let names = names.chain(shipped.iter().map(|(name, _)| *name));
            let pages: Vec<String> = names.map(|name| format!("`convo-{name}`(1)")).collect();
            page.text(&format!("{}, `convo-format`(5), `jq`(1)", pages.join(", ")));
        }
        other => page.text(other),
    });
    failed.map_or_else(|| Ok(page.finish()), Err)
}

fn commands_by_group(page: &mut ManualPage) {
    for (group, heading) in Group::ALL {
        page.heading_below(heading);
        for spec in visible().filter(|spec| spec.group == group) {
            page.item(
                &format!("`convo-{}`(1)", spec.name),
                &format!("{}.", about(&spec.command())),
            );
        }
    }
}

fn statuses(page: &mut ManualPage) {
    page.item("`0`", "success, also on a closed pipe");
    for kind in ErrorKind::ALL {
        page.item(&format!("`{}`", kind.status()), kind.meaning());
    }
}

fn formats(page: &mut ManualPage) {
    for format in Format::ALL {
        page.item(&format!("`{}`", format.name()), format.about());
    }
}

fn rules(page: &mut ManualPage) {
    for api in Api::ALL {
        page.heading_below(api.name());
        for rule in RULES.iter().filter(|rule| rule.api == Some(api)) {
            rule_item(page, rule);
        }
    }
    page.heading_below("Without --for");
    STRUCTURE.iter().for_each(|rule| rule_item(page, rule));
    page.heading_below("With --alternate");
    rule_item(page, &ALTERNATE);
}

fn rule_item(page: &mut ManualPage, rule: &HistoryRule) {
    let level = if rule.level == Severity::Warn {
        " (warning)"
    } else {
        ""
    };
    let text = format!("{}{level}. Repair: {}.", sentence(rule.text), rule.fix);
    page.item(&format!("`{}`", rule.id), &text);
}

/// Capitalizes a text, unless it begins with a name.
fn sentence(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if word.chars().all(char::is_alphabetic) => first.to_uppercase().chain(letters).collect(),
        _ => text.to_string(),
    }
}

fn format() -> String {
    let mut page = ManualPage::new("convo-format", 5);
    page.blocks(include_str!("convo-format.md"), |page, name| page.text(name));
    page.finish()
}

/// Builds the page of a command or a bundled plugin.
fn command_page(name: &str, command: Command) -> convo::Result<String> {
    let title = format!("convo-{name}");
    let mut command = ready(command, &format!("convo {name}"));
    let mut page = ManualPage::new(&title, 1);
    page.heading("NAME");
    page.text(&format!("{title} - {}", about(&command)));
    page.heading("SYNOPSIS");
    for (nth, usage) in usages(&mut command).iter().enumerate() {
        if nth > 0 {
            page.source(".br\n");
        }
        page.text(usage);
    }
    page.heading("DESCRIPTION");
    description(&mut page, &command);
    if command.has_subcommands() {
        page.heading("SUBCOMMANDS");
        for inner in command.get_subcommands() {
            page.heading_below(inner.get_name());
            page.text(&format!("{}.", about(inner)));
            options(&mut page, inner, |_| true)?;
        }
    }
    if name == "fsck" {
        page.heading("PROBLEMS");
        page.text("Each problem and its repair by `--repair`.");
        for problem in Problem::ALL {
            let remedy = problem
                .remedy()
                .map_or("Not repaired".to_string(), |remedy| format!("Repaired: {remedy}"));
            page.item(
                &format!("`{}`", problem.name()),
                &format!("{}. {}.", sentence(problem.meaning()), remedy),
            );
        }
    }
    page.heading("OPTIONS");
    grouped_options(&mut page, &command)?;
    if commands::find(name).is_some() {
        page.text("For global options, such as `--store` and `--quiet`, see `convo`(1).");
    }
    if let Some(examples) = command.get_before_long_help() {
        page.heading("EXAMPLES");
        let text = examples.to_string();
        page.example(
            text.lines()
                .skip(1)
                .map(|line| line.strip_prefix("  ").unwrap_or(line)),
        );
    }
    page.heading("EXIT STATUS");
    page.text("See `convo`(1).");
    page.heading("SEE ALSO");
    page.text("`convo`(1), `convo-format`(5)");
    Ok(page.finish())
}

/// Prepares a command for its page: sets its full name, builds its subcommands and removes the help option.
fn ready(command: Command, name: &str) -> Command {
    let mut command = command
        .bin_name(name.to_string())
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .mut_subcommands(|inner| {
            let name = format!("{name} {}", inner.get_name());
            ready(inner, &name)
        });
    command.build();
    command
}

/// Returns the usage lines of a command, or those of its subcommands.
fn usages(command: &mut Command) -> Vec<String> {
    if command.has_subcommands() {
        return command.get_subcommands_mut().flat_map(usages).collect();
    }
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let name = command.get_bin_name().unwrap_or_default();
    let rest = usage.strip_prefix(name).unwrap_or(usage);
    vec![format!("`{name}`{rest}")]
}

/// Adds the long help of a command without its first line; without a long help, that line.
fn description(page: &mut ManualPage, command: &Command) {
    let long = command.get_long_about().map(ToString::to_string);
    match long.as_deref().and_then(|long| long.split_once("\n\n")) {
        Some((_, rest)) => page.blocks(rest, |page, name| page.text(name)),
        None => page.text(&format!("{}.", about(command))),
    }
}

/// Adds the options under the headings of the help; operands come first, without a heading.
fn grouped_options(page: &mut ManualPage, command: &Command) -> convo::Result<()> {
    let mut headings: Vec<Option<&str>> = vec![None];
    for heading in command.get_arguments().map(Arg::get_help_heading) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            page.heading_below(heading);
        }
        options(page, command, |arg| arg.get_help_heading() == heading)?;
    }
    if command.get_arguments().next().is_some() {
        page.paragraph();
    }
    Ok(())
}

/// Renders the selected options with clap_mangen, without its heading.
fn options(page: &mut ManualPage, command: &Command, some: impl Fn(&Arg) -> bool) -> convo::Result<()> {
    // Hide the other options instead of removing them: options refer to each other, e.g. in conflicts.
    let command = command.clone().mut_args(|arg| {
        let hidden = arg.is_hide_set() || !some(&arg);
        // The page shows options that -h hides.
        arg.help_heading(None).hide(hidden).hide_short_help(false)
    });
    let mut source = Vec::new();
    Man::new(command)
        .render_options_section(&mut source)
        .map_err(|error| Error::io("cannot write a page", error))?;
    let source = String::from_utf8_lossy(&source);
    // The preamble defines apostrophes, which this source writes out.
    for line in source.lines().skip_while(|line| *line != ".SH OPTIONS").skip(1) {
        let line = match line {
            "" => ".IP".to_string(), // a paragraph of the same option
            line => line.replace("\\*(Aq", "\\(aq"),
        };
        let mut bold = false;
        let pieces = line.split('`').collect::<Vec<_>>();
        let mut out = pieces[0].to_string();
        for piece in &pieces[1..] {
            bold = !bold;
            out.push_str(if bold { "\\fB" } else { "\\fR" });
            out.push_str(piece);
        }
        page.source(&format!("{out}\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_description_and_examples() {
        for spec in visible() {
            let command = spec.command();
            assert!(!about(&command).is_empty(), "{}", spec.name);
            let examples = command.get_before_long_help().map(ToString::to_string);
            let examples = examples.unwrap_or_default();
            assert!(
                examples.starts_with("Examples:\n  "),
                "{} has no examples",
                spec.name
            );
            assert!(
                examples.contains(&format!("convo {}", spec.name)),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut whole = commands::command_line().term_width(80);
        whole.build();
        for spec in visible() {
            let command = whole.find_subcommand_mut(spec.name).unwrap();
            let help = command.render_help().to_string();
            assert!(help.lines().count() <= 40, "convo {} -h:\n{help}", spec.name);
        }
    }

    #[test]
    fn the_table_of_statuses_is_up_to_date() {
        let page = overview().unwrap();
        let table = page
            .split(".SH ")
            .find_map(|part| part.strip_prefix("EXIT STATUS\n"));
        let reported: Vec<(String, String)> = table
            .unwrap()
            .split(".TP\n")
            .skip(1)
            .filter_map(|item| item.trim_end().split_once('\n'))
            .map(|(status, meaning)| (status.to_string(), meaning.replace('\n', " ")))
            .collect();
        let known = ErrorKind::ALL.map(|kind| {
            let meaning = super::super::page::plain(kind.meaning());
            (format!("\\fB{}\\fR", kind.status()), meaning)
        });
        assert_eq!(reported[0].0, "\\fB0\\fR");
        assert_eq!(reported[1..], known);
    }
}
