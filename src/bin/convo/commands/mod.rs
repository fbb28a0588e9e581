//! One file a verb. This one knows them all; they do not know each other.

mod alias;
mod append;
mod ask;
mod cat;
mod check;
mod compact;
mod context;
mod r#continue;
mod count;
mod detect;
mod expand;
mod fsck;
mod gc;
mod generate;
mod join;
mod key;
mod list;
mod migrate;
mod new;
mod plugins;
mod remove;
mod restore;
mod show;
mod split;
mod summarize;
mod truncate;

use crate::args::Global;
use crate::context::Context;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// What help lists together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Starts and grows sessions.
    Write,
    /// Looks at them.
    Read,
    /// Changes what a model is sent.
    Change,
    /// Looks after a store.
    Keep,
}

impl Group {
    /// Every group in the order of the help, with its heading.
    pub const ALL: [(Group, &'static str); 4] = [
        (Group::Write, "Write"),
        (Group::Read, "Read"),
        (Group::Change, "Change what a model is sent"),
        (Group::Keep, "Keep"),
    ];
}

/// A verb: its arguments are a type whose doc comments are the manual.
pub struct Verb {
    pub name: &'static str,
    pub group: Group,
    pub hidden: bool,
    build: fn(Command) -> Command,
    pub run: fn(&mut ArgMatches, &Context) -> anyhow::Result<()>,
}

/// What a verb's arguments can do.
trait Run: Args + FromArgMatches {
    fn run(self, context: &Context) -> anyhow::Result<()>;
}

const fn verb<T: Run>(name: &'static str, group: Group, hidden: bool) -> Verb {
    Verb {
        name,
        group,
        hidden,
        build: T::augment_args,
        // Taken out and not copied: a copy of all values would be a twentieth of the start.
        run: |matches, context| T::from_arg_matches_mut(matches)?.run(context),
    }
}

/// Every verb that is built in.
pub const ALL: &[Verb] = &[
    verb::<new::New>("new", Group::Write, false),
    verb::<append::Append>("append", Group::Write, false),
    verb::<ask::Ask>("ask", Group::Write, false),
    verb::<r#continue::Continue>("continue", Group::Write, false),
    verb::<join::Join>("join", Group::Write, false),
    verb::<migrate::Migrate>("migrate", Group::Write, false),
    verb::<list::List>("list", Group::Read, false),
    verb::<show::Show>("show", Group::Read, false),
    verb::<cat::Cat>("cat", Group::Read, false),
    verb::<context::View>("context", Group::Read, false),
    verb::<count::Count>("count", Group::Read, false),
    verb::<check::Check>("check", Group::Read, false),
    verb::<detect::Detect>("detect", Group::Read, false),
    verb::<truncate::Truncate>("truncate", Group::Change, false),
    verb::<compact::Compact>("compact", Group::Change, false),
    verb::<summarize::Summarize>("summarize", Group::Change, false),
    verb::<expand::Expand>("expand", Group::Change, false),
    verb::<split::Split>("split", Group::Change, false),
    verb::<restore::Restore>("restore", Group::Change, false),
    verb::<key::Key>("key", Group::Keep, false),
    verb::<alias::Alias>("alias", Group::Keep, false),
    verb::<remove::Remove>("remove", Group::Keep, false),
    verb::<gc::Gc>("gc", Group::Keep, false),
    verb::<fsck::Fsck>("fsck", Group::Keep, false),
    verb::<plugins::Plugins>("plugins", Group::Keep, false),
    verb::<generate::Generate>("generate", Group::Keep, true),
];

impl Verb {
    /// The verb's command line.
    pub fn command(&self) -> Command {
        (self.build)(Command::new(self.name)).hide(self.hidden)
    }
}

impl Verb {
    /// The verb as a command line of its own, with the options of every verb.
    pub fn alone(&self) -> Command {
        Global::augment_args(self.command())
            .bin_name(format!("convo {}", self.name))
            .max_term_width(110)
    }
}

/// The word that asks for the help of a verb; the program itself answers it.
pub const HELP: &str = "help";

/// The verb of this name.
pub fn find(name: &str) -> Option<&'static Verb> {
    ALL.iter().find(|verb| verb.name == name)
}

/// The command line without verbs.
pub fn root() -> Command {
    Global::augment_args(Command::new("convo"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("The Unix toolkit for LLM conversation sessions: a filter for pipes, and a store that loses nothing")
        .override_usage("convo VERB [OPTIONS] [INPUT]...")
        .subcommand_value_name("VERB")
        .allow_external_subcommands(true)
        .disable_help_subcommand(true)
        .max_term_width(110)
}

/// The command line with every verb, for help and what is generated from it.
pub fn whole() -> Command {
    let mut verbs = String::new();
    for (group, heading) in Group::ALL {
        verbs.push_str(&format!("{heading}:\n"));
        for verb in ALL.iter().filter(|verb| verb.group == group && !verb.hidden) {
            let about = verb
                .command()
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            verbs.push_str(&format!("  {:<9} {about}\n", verb.name));
        }
        verbs.push('\n');
    }
    verbs.push_str("An INPUT is a name in the store, a file (a path with a /, or an ending like\n.json), or - for standard input. `convo VERB --help` has examples.");
    let template = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}";
    root()
        .before_help(verbs)
        .help_template(template)
        .subcommands(ALL.iter().map(Verb::command))
        .subcommand(
            Command::new(HELP)
                .hide(true)
                .about("Print the help of a verb")
                .arg(
                    clap::Arg::new("verb")
                        .num_args(0..)
                        .value_name("VERB")
                        .help("A verb or a plugin, and what stands behind it")
                        .value_parser(clap::value_parser!(std::ffi::OsString)),
                ),
        )
}
