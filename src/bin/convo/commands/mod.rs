//! Table of the commands. Each command has its own file and does not use the others.

mod agents;
mod alias;
mod append;
mod archive;
mod ask;
mod cat;
mod check;
mod compact;
mod context;
mod r#continue;
mod count;
mod detect;
mod diff;
mod drop;
mod expand;
mod fork;
mod fsck;
mod gc;
mod generate;
mod handoff;
mod join;
mod keep;
mod key;
mod list;
mod merge;
mod migrate;
mod new;
mod note;
mod plugins;
mod redact;
mod relocate;
mod remove;
mod restore;
mod search;
mod show;
mod slim;
mod split;
mod summarize;
mod tag;
mod title;
mod truncate;
mod undo;
mod usage;

use crate::args::{DamageArgs, Global};
use crate::context::Context;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use convo::error::Error;
use std::ffi::OsString;

/// Section of the top-level help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Inspect,
    Convert,
    Write,
    Reshape,
    Manage,
}

impl Group {
    /// All groups in help order, with their headings.
    pub const ALL: [(Group, &'static str); 5] = [
        (Group::Inspect, "Import and inspect"),
        (Group::Convert, "Convert and validate"),
        (Group::Write, "Write"),
        (Group::Reshape, "Trim and reshape"),
        (Group::Manage, "Manage the store"),
    ];
}

/// A command. The doc comments of its argument type are its manual.
pub struct CommandSpec {
    pub name: &'static str,
    pub group: Group,
    pub hidden: bool,
    build: fn(Command) -> Command,
    plain: fn(&[OsString]) -> Option<(ParsedCommand, Global)>,
    /// Replaces keys among the arguments that are options.
    pub expanded: fn(&[OsString]) -> Option<Vec<OsString>>,
    pub run: fn(&mut ArgMatches, &Context) -> anyhow::Result<()>,
}

/// A command whose arguments are read.
pub type ParsedCommand = Box<dyn FnOnce(&Context) -> anyhow::Result<()>>;

/// Arguments that can be executed.
trait Run: Args + FromArgMatches + 'static {
    fn run(self, context: &Context) -> anyhow::Result<()>;

    /// The arguments of a command line with few options, exactly as the parser reads them; none for any other command
    /// line.
    fn plain(_: &[OsString]) -> Option<(Self, Global)> {
        None
    }

    /// The arguments with keys that are options replaced by these; none if they need no change.
    fn expanded(_: &[OsString]) -> Option<Vec<OsString>> {
        None
    }
}

const fn command<T: Run>(name: &'static str, group: Group, hidden: bool) -> CommandSpec {
    CommandSpec {
        name,
        group,
        hidden,
        build: T::augment_args,
        plain: |given| {
            let (arguments, global) = T::plain(given)?;
            Some((Box::new(move |context| arguments.run(context)), global))
        },
        expanded: T::expanded,
        // Taken out and not copied: a copy of all values would be a twentieth of the start.
        run: |matches, context| {
            if DamageArgs::accepted(matches) {
                context.output.accept_damage();
            }
            let arguments = T::from_arg_matches_mut(matches).map_err(|error| {
                let text = error.to_string();
                Error::usage(text.trim_start_matches("error: ").trim_end())
            })?;
            arguments.run(context)
        },
    }
}

/// Every built-in command, in help order.
pub const ALL: &[CommandSpec] = &[
    command::<migrate::MigrateCommand>("migrate", Group::Inspect, false),
    command::<list::ListCommand>("list", Group::Inspect, false),
    command::<search::SearchCommand>("search", Group::Inspect, false),
    command::<agents::AgentsCommand>("agents", Group::Inspect, false),
    command::<show::ShowCommand>("show", Group::Inspect, false),
    command::<count::CountCommand>("count", Group::Inspect, false),
    command::<usage::UsageCommand>("usage", Group::Inspect, false),
    command::<detect::DetectCommand>("detect", Group::Inspect, false),
    command::<diff::DiffCommand>("diff", Group::Inspect, false),
    command::<cat::CatCommand>("cat", Group::Convert, false),
    command::<context::ContextCommand>("context", Group::Convert, false),
    command::<handoff::HandoffCommand>("handoff", Group::Convert, false),
    command::<check::CheckCommand>("check", Group::Convert, false),
    command::<redact::RedactCommand>("redact", Group::Convert, false),
    command::<new::NewCommand>("new", Group::Write, false),
    command::<append::AppendCommand>("append", Group::Write, false),
    command::<ask::AskCommand>("ask", Group::Write, false),
    command::<r#continue::ContinueCommand>("continue", Group::Write, false),
    command::<truncate::TruncateCommand>("truncate", Group::Reshape, false),
    command::<drop::DropCommand>("drop", Group::Reshape, false),
    command::<keep::KeepCommand>("keep", Group::Reshape, false),
    command::<compact::CompactCommand>("compact", Group::Reshape, false),
    command::<summarize::SummarizeCommand>("summarize", Group::Reshape, false),
    command::<expand::ExpandCommand>("expand", Group::Reshape, false),
    command::<undo::UndoCommand>("undo", Group::Reshape, false),
    command::<restore::RestoreCommand>("restore", Group::Reshape, false),
    command::<fork::ForkCommand>("fork", Group::Reshape, false),
    command::<split::SplitCommand>("split", Group::Reshape, false),
    command::<join::JoinCommand>("join", Group::Reshape, false),
    command::<merge::MergeCommand>("merge", Group::Reshape, false),
    command::<title::TitleCommand>("title", Group::Manage, false),
    command::<tag::TagCommand>("tag", Group::Manage, false),
    command::<note::NoteCommand>("note", Group::Manage, false),
    command::<alias::AliasCommand>("alias", Group::Manage, false),
    command::<key::KeyCommand>("key", Group::Manage, false),
    command::<remove::RemoveCommand>("remove", Group::Manage, false),
    command::<archive::ArchiveCommand>("archive", Group::Manage, false),
    command::<relocate::RelocateCommand>("relocate", Group::Manage, false),
    command::<slim::SlimCommand>("slim", Group::Manage, false),
    command::<gc::GcCommand>("gc", Group::Manage, false),
    command::<fsck::FsckCommand>("fsck", Group::Manage, false),
    command::<plugins::PluginsCommand>("plugins", Group::Manage, false),
    command::<generate::CompletionsCommand>("completions", Group::Manage, false),
    command::<generate::ManualCommand>("man", Group::Manage, false),
    command::<generate::GenerateCommand>("generate", Group::Manage, true),
];

/// Hidden aliases of commands.
const SYNONYMS: [(&str, &str); 8] = [
    ("grep", "search"),
    ("find", "search"),
    ("rename", "title"),
    ("import", "migrate"),
    ("export", "cat"),
    ("rm", "remove"),
    ("delete", "remove"),
    ("ls", "list"),
];

impl CommandSpec {
    /// Builds the clap command.
    pub fn command(&self) -> Command {
        let synonyms = SYNONYMS.iter().filter(|(_, name)| *name == self.name);
        let command = Command::new(self.name).aliases(synonyms.map(|(synonym, _)| *synonym));
        (self.build)(command).hide(self.hidden)
    }
}

impl CommandSpec {
    /// Returns the outdated options of a command line: each as given, and its current form.
    pub fn renamed(&self, arguments: &[OsString]) -> Vec<(String, String)> {
        let command = self.command();
        let given = arguments.iter().filter_map(|argument| argument.to_str());
        given
            .take_while(|argument| *argument != "--")
            .filter_map(|argument| {
                let name = argument.strip_prefix("--")?;
                let name = name.split('=').next().unwrap_or(name);
                let new = command.get_arguments().find_map(|own| renamed(own, name))?;
                Some((format!("--{name}"), new))
            })
            .collect()
    }

    /// The command with the arguments that follow its name, if they need no parser: to build one costs more than a short command.
    pub fn plain(&self, given: &[OsString]) -> Option<(ParsedCommand, Global)> {
        (self.plain)(given)
    }

    /// The clap command with the global options.
    pub fn alone(&self) -> Command {
        Global::augment_args(self.command())
            .bin_name(format!("convo {}", self.name))
            .max_term_width(110)
    }
}

/// Returns the current form of a renamed option. A hidden option has its new form as its help.
fn renamed(own: &clap::Arg, name: &str) -> Option<String> {
    let long = own.get_long()?;
    let help = || Some(own.get_help()?.to_string()).filter(|help| help.starts_with("--"));
    match own.get_all_aliases() {
        _ if long == name => own.is_hide_set().then(help).flatten(),
        Some(aliases) if aliases.contains(&name) => Some(format!("--{long}")),
        _ => None,
    }
}

/// The command that prints the help of a command; the program implements it itself.
pub const HELP: &str = "help";

/// Rewrites the arguments of a command after global options, see [`Run::expanded`]; none if nothing changes.
pub fn expanded(arguments: &[OsString]) -> Option<Vec<OsString>> {
    if !compact::names_tune(arguments) {
        return None;
    }
    let matches = root().ignore_errors(true).try_get_matches_from(arguments).ok()?;
    let (name, inner) = matches.subcommand()?;
    let rest = inner.get_many::<OsString>("").map_or(0, |given| given.len());
    let (before, given) = arguments.split_at(arguments.len().checked_sub(rest)?);
    let given = (find(name)?.expanded)(given)?;
    Some([before, &given].concat())
}

/// Finds the command with this name or alias.
pub fn find(name: &str) -> Option<&'static CommandSpec> {
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
    let name = synonym.map_or(name, |(_, name)| name);
    ALL.iter().find(|spec| spec.name == name)
}

/// Builds the command line without commands.
pub fn root() -> Command {
    Global::augment_args(Command::new("convo"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Convert, trim, check and store LLM conversation sessions")
        .override_usage("convo [OPTIONS] <COMMAND> [ARGS]...")
        .subcommand_value_name("COMMAND")
        .allow_external_subcommands(true)
        .disable_help_subcommand(true)
        .max_term_width(110)
}

/// Builds the command line with every command, for help and generated files.
pub fn command_line() -> Command {
    let mut listed = String::new();
    for (group, heading) in Group::ALL {
        listed.push_str(&format!("{heading}:\n"));
        for spec in ALL.iter().filter(|spec| spec.group == group && !spec.hidden) {
            let about = spec
                .command()
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            listed.push_str(&format!("  {:<11}  {about}\n", spec.name));
        }
        listed.push('\n');
    }
    listed.push_str(concat!(
        "INPUT is a session name (id, prefix, alias, key, @last, @all), a file (a path with '/' or\n",
        "a known extension such as .jsonl), or - for standard input.\n",
        "See 'convo COMMAND --help' for examples, and 'man convo' for exit statuses and files.",
    ));
    let template = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Global options:\n{options}";
    root()
        .before_help(listed)
        .help_template(template)
        .subcommands(ALL.iter().map(CommandSpec::command))
        .subcommand(
            Command::new(HELP)
                .hide(true)
                .about("Print the help of a command")
                .arg(
                    clap::Arg::new("command")
                        .num_args(0..)
                        .value_name("COMMAND")
                        .help("Command or plugin, and its subcommands")
                        .value_parser(clap::value_parser!(std::ffi::OsString)),
                ),
        )
}
