//! The table of settings of strategies and other systems. The keys of `--tune` and `--compat`, their former options and
//! their help are generated from it.

use super::values;
use crate::args::per_cent;
use crate::errors::nearest;
use CompatSystem::{Goaitools, Langchain, OpenaiAgents, Penguin, Picoclaw};
use ValueForm::{Each, Flag, List, One};
use clap::{Arg, ArgAction};
use convo::filter::compat::{CompatSystem, langchain};

#[derive(Debug)]
pub struct Setting {
    /// Name of its former option, which identifies it in the code.
    pub name: &'static str,
    pub key: &'static str,
    pub of: SettingOption,
    pub value: ValueForm,
    /// Options or settings of which at least one is required.
    pub requires: &'static str,
    about: &'static str,
}

/// The option that accepts a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingOption {
    Tune,
    /// `--compat`, with every system.
    Compat,
    System(CompatSystem),
}

#[derive(Clone, Copy, Debug)]
pub enum ValueForm {
    /// No value.
    Flag,
    One(CheckFn),
    /// Any number of values, each given separately.
    Each(CheckFn),
    /// Any number of comma-separated values.
    List(CheckFn),
}

type CheckFn = fn(&str) -> Result<(), String>;

const fn setting(
    name: &'static str,
    (of, key): (SettingOption, &'static str),
    value: ValueForm,
    about: &'static str,
) -> Setting {
    Setting {
        name,
        key,
        of,
        value,
        requires: "",
        about,
    }
}

impl Setting {
    const fn requires(self, requires: &'static str) -> Setting {
        Setting { requires, ..self }
    }

    /// Returns the setting as written on the command line.
    pub fn written(&self) -> String {
        let value = if let ValueForm::Flag = self.value {
            ""
        } else {
            "=..."
        };
        match self.of {
            SettingOption::Tune => format!("--tune {}{value}", self.key),
            SettingOption::Compat => format!("--compat SYSTEM:{}{value}", self.key),
            SettingOption::System(system) => format!("--compat {}:{}{value}", system.name(), self.key),
        }
    }

    /// Returns its line in the long help.
    pub fn line(&self) -> String {
        format!("{}: {}", self.key, self.about)
    }

    fn check(&self, value: &str) -> Result<(), String> {
        let done = match self.value {
            ValueForm::Flag if value.is_empty() => Ok(()),
            ValueForm::Flag => Err("expected no value".to_string()),
            ValueForm::One(check) | ValueForm::Each(check) => check(value),
            ValueForm::List(check) => value.split(',').try_for_each(check),
        };
        done.map_err(|why| format!("{}: {why}", self.key))
    }

    /// Returns its former option as a hidden argument.
    pub fn argument(&'static self) -> Arg {
        let argument = Arg::new(self.name)
            .long(self.name)
            .hide(true)
            .help(self.written());
        match self.value {
            ValueForm::Flag => argument.action(ArgAction::SetTrue),
            ValueForm::One(_) => argument.action(ArgAction::Set).value_parser(self.parser()),
            ValueForm::Each(_) | ValueForm::List(_) => {
                argument.action(ArgAction::Append).value_parser(self.parser())
            }
        }
    }

    fn parser(&'static self) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
        move |value| self.check(value).map(|()| value.to_string())
    }
}

const fn tune(key: &'static str) -> (SettingOption, &'static str) {
    (SettingOption::Tune, key)
}

const fn of(system: CompatSystem, key: &'static str) -> (SettingOption, &'static str) {
    (SettingOption::System(system), key)
}

#[rustfmt::skip] // one per line
pub static SETTINGS: [Setting; 29] = [
    setting("hysteresis", tune("trigger.hysteresis"), One(share), "share by which the target is below --when [0.2]").requires("when"),
    setting("on-no-gain", tune("gain.on-none"), One(on_no_gain), "skip (status 0) or error (status 1) if nothing is gained [skip]"),
    setting("trust-usage", tune("trigger.use-reported"), Flag, "use the prompt tokens reported by the provider if larger"),
    setting("tool-output-lines", tune("tool-output.lines"), One(number), "like --tool-output-max, for results over N lines [256]"),
    setting("protect-tool-tokens", tune("mask.protect"), One(number), "keep the newest results up to N tokens in total [0]"),
    setting("mask-min-gain", tune("mask.min-gain"), One(number), "mask only if N tokens are saved [2000, or 10% of the budget if less]"),
    setting("write-tools", tune("dedupe.write-tools"), List(text), "tools that modify files, so that the next read is new"),
    setting("summary-share", tune("summary.share"), One(percentage), "maximum share of the budget for the summary [25%]"),
    setting("drop-order", tune("drop.order"), List(values::droppable), "categories in drop order [system_output,dialog,context]"),
    setting("budget-for", tune("drop.share"), List(values::budget_share), "share of the budget per category, e.g. dialog=50%").requires("budget"),
    setting("compat-exact", (SettingOption::Compat, "exact"), Flag, "do not adjust the result so that providers accept it"),
    setting("keep-end", of(Langchain, "keep-end"), One(end), "with --budget, keep the last or first messages [last]"),
    setting("start-on", of(Langchain, "start-on"), List(kind), "with --budget, roles of the first kept message"),
    setting("end-on", of(Langchain, "end-on"), List(kind), "with --budget, roles of the last kept message"),
    setting("include-system", of(Langchain, "include-system"), Flag, "with --budget, keep a leading system message"),
    setting("allow-partial", of(Langchain, "allow-partial"), Flag, "with --budget, cut the boundary message to fit"),
    setting("placeholder", of(Langchain, "placeholder"), One(text), "with --mask-tools, text in place of a result [[cleared]]"),
    setting("keep-messages", of(Langchain, "keep-messages"), One(number), "keep the newest N messages, summarize the rest"),
    setting("keep-tokens", of(Langchain, "keep-tokens"), One(number), "keep the newest messages up to N tokens, summarize the rest"),
    setting("keep-items", of(OpenaiAgents, "keep-items"), One(number), "keep the newest N items"),
    setting("preview", of(OpenaiAgents, "preview"), One(number), "with --tool-output-max, characters kept of a long result [200]"),
    setting("only-tool", of(OpenaiAgents, "only-tool"), Each(text), "with --tool-output-max, only results of this tool (repeatable)"),
    setting("half", of(Picoclaw, "half"), Flag, "drop the older half"),
    setting("sanitize", of(Picoclaw, "sanitize"), Flag, "drop messages that PicoClaw considers invalid"),
    setting("max-images", of(Penguin, "max-images"), One(number), "maximum number of images [5]"),
    setting("always", of(Penguin, "always"), Flag, "trim even if not over the limit, without borrowing"),
    setting("message-limit", of(Goaitools, "message-limit"), Each(number), "keep the newest N messages if there are more"),
    setting("token-limit", of(Goaitools, "token-limit"), Each(token_limit), "MAX[:TARGET]: drop the oldest third if the last prompt exceeded MAX [TARGET: three quarters]").requires("prompt-tokens"),
    setting("prompt-tokens", of(Goaitools, "prompt-tokens"), One(number), "tokens of the last prompt, as reported").requires("token-limit"),
];

/// The keys of `--tune` that are options of `compact` as well: key, option, and whether it has a value.
pub const OPTIONS: [(&str, &str, bool); 16] = [
    ("min-gain", "min-gain", true),
    ("retry", "ignore-backoff", false),
    ("if-due", "if-due", false),
    ("exclude-tool", "exclude-tool", true),
    ("summary-role", "summary-role", true),
    ("dates", "dates", true),
    ("overflow", "overflow", true),
    ("pin-share", "pin-share", true),
    ("pin-first-user", "pin-first-user", false),
    ("chunk", "chunk", true),
    ("prompt", "prompt", true),
    ("summary-tool-max", "summary-tool-max", true),
    ("timeout", "timeout", true),
    ("retries", "retries", true),
    ("backoff", "backoff", true),
    ("max-failures", "max-failures", true),
];

/// Returns the option of `KEY` or `KEY=VALUE`, as an argument.
pub fn option(part: &str) -> Option<String> {
    let (key, value) = part
        .split_once('=')
        .map_or((part, None), |(key, value)| (key, Some(value)));
    let (_, option, _) = OPTIONS
        .iter()
        .find(|(own, _, valued)| *own == key && *valued == value.is_some())?;
    Some(match value {
        Some(value) => format!("--{option}={value}"),
        None => format!("--{option}"),
    })
}

/// Other names of keys, besides the names of former options.
const SYNONYMS: [(&str, &str); 5] = [
    ("end", "keep-end"),
    ("messages", "keep-messages"),
    ("tokens", "keep-tokens"),
    ("items", "keep-items"),
    ("sanitise", "sanitize"),
];

/// Finds the setting of an option by key or by another name of it.
fn find(key: &str, fits: impl Fn(SettingOption) -> bool) -> Option<&'static Setting> {
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == key);
    let key = synonym.map_or(key, |(_, key)| key);
    SETTINGS
        .iter()
        .find(|own| (own.key == key || own.name == key) && fits(own.of))
}

/// Whether a text begins with a key, and with `=` if the key has a value.
pub fn begins_with_key(text: &str, fits: impl Fn(SettingOption) -> bool) -> bool {
    let part = text.split(',').next().unwrap_or_default();
    let key = part.split('=').next().unwrap_or_default();
    match find(key, &fits) {
        Some(own) => matches!(own.value, Flag) != part.contains('='),
        None => fits(SettingOption::Tune) && option(part).is_some(),
    }
}

/// Settings and their values.
pub type SettingValues = Vec<(&'static Setting, String)>;

/// Parses `KEY=VALUE,...`. A comma is part of a value unless a key follows. In a list, a semicolon is a comma.
fn pairs(text: &str, fits: impl Fn(SettingOption) -> bool + Copy) -> Result<SettingValues, String> {
    let mut pairs = SettingValues::new();
    for (at, _) in text.match_indices(';') {
        let rest = &text[at + 1..];
        if begins_with_key(rest, fits) {
            let key = rest.split(['=', ',', ';']).next().unwrap_or_default();
            return Err(format!("write ',' instead of ';' before '{key}'"));
        }
    }
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let known = find(key, fits).filter(|_| begins_with_key(part, fits));
        match (known, pairs.last_mut()) {
            (Some(setting), _) => pairs.push((
                setting,
                match setting.value {
                    List(_) => value.replace(';', ","),
                    _ => value.to_string(),
                },
            )),
            (None, Some((before, value))) if !matches!(before.value, Flag) => {
                value.push(',');
                value.push_str(part);
            }
            _ => {
                let what = match find(key, fits) {
                    Some(setting) if matches!(setting.value, Flag) => format!("{key}: expected no value"),
                    Some(_) => format!("{key}: expected {key}=VALUE"),
                    None => unknown(key, fits),
                };
                let stop = if what.ends_with('?') { "" } else { ";" };
                return Err(format!("{what}{stop} {}", keys(fits)));
            }
        }
    }
    for (setting, value) in &pairs {
        let listed = |why| format!("{why}; {}", keys(fits));
        setting.check(value).map_err(listed)?;
    }
    Ok(pairs)
}

/// Describes an unknown key.
fn unknown(key: &str, fits: impl Fn(SettingOption) -> bool + Copy) -> String {
    let option = OPTIONS.iter().find(|(own, ..)| *own == key);
    match (
        option.filter(|_| fits(SettingOption::Tune)),
        nearest(key, names(fits)),
    ) {
        (Some((.., true)), _) => format!("{key}: expected {key}=VALUE"),
        (Some(_), _) => format!("{key}: expected no value"),
        (None, Some(near)) => format!("unknown key '{key}'; did you mean '{near}'?"),
        (None, None) => format!("unknown key '{key}'"),
    }
}

/// Returns all keys and their other names.
fn names(fits: impl Fn(SettingOption) -> bool) -> Vec<&'static str> {
    let settings = SETTINGS.iter().filter(|own| fits(own.of));
    let options = OPTIONS.iter().filter(|_| fits(SettingOption::Tune));
    settings
        .flat_map(|own| [own.key, own.name])
        .chain(options.map(|(key, ..)| *key))
        .collect()
}

/// Returns a hint that lists the supported keys.
fn keys(fits: impl Fn(SettingOption) -> bool) -> String {
    let options = OPTIONS.iter().filter(|_| fits(SettingOption::Tune));
    let keys = SETTINGS.iter().filter(|own| fits(own.of)).map(|own| own.key);
    let keys = keys.chain(options.map(|(key, ..)| *key));
    format!("supported keys: {}", keys.collect::<Vec<_>>().join(", "))
}

/// Parses the settings of `--tune`.
pub fn tuned(text: &str) -> Result<SettingValues, String> {
    pairs(text, |of| of == SettingOption::Tune)
}

/// Parses a system and its settings: `SYSTEM[:KEY=VALUE,...]`.
pub fn system(text: &str) -> Result<(CompatSystem, SettingValues), String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let names = CompatSystem::ALL.map(CompatSystem::name).join(", ");
    let system =
        CompatSystem::from_name(name).ok_or_else(|| format!("unknown system; expected one of {names}"))?;
    let pairs = match rest {
        "" => SettingValues::new(),
        rest => pairs(rest, |of| {
            matches!(of, SettingOption::Compat) || of == SettingOption::System(system)
        })?,
    };
    Ok((system, pairs))
}

/// Returns an option or a setting as written on the command line.
pub fn written(name: &str) -> String {
    match SETTINGS.iter().find(|own| own.name == name) {
        Some(setting) => setting.written(),
        None => format!("--{name}"),
    }
}

/// Validates a share such as 0.2.
fn share(text: &str) -> Result<(), String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(()),
        _ => Err("expected a number from 0 to below 1".to_string()),
    }
}

fn number(text: &str) -> Result<(), String> {
    let parsed = text.parse::<u32>();
    parsed.map(drop).map_err(|_| "expected a number".to_string())
}

fn percentage(text: &str) -> Result<(), String> {
    per_cent(text).map(drop)
}

fn text(_: &str) -> Result<(), String> {
    Ok(())
}

fn one_of(text: &str, names: &[&str]) -> Result<(), String> {
    let known = names.contains(&text);
    known
        .then_some(())
        .ok_or_else(|| format!("expected {}", names.join(" or ")))
}

fn on_no_gain(text: &str) -> Result<(), String> {
    one_of(text, &["skip", "error"])
}

fn end(text: &str) -> Result<(), String> {
    one_of(text, &["last", "first"])
}

fn kind(name: &str) -> Result<(), String> {
    let known = langchain::MessageKind::from_name(name);
    known
        .map(drop)
        .ok_or_else(|| "expected user, assistant, system or tool".to_string())
}

fn token_limit(text: &str) -> Result<(), String> {
    let known = values::token_limit(text);
    known
        .map(drop)
        .ok_or_else(|| "expected MAX or MAX:TARGET, e.g. 100000:75000".to_string())
}
