//! Detection options.

use super::pass::PassSettings;
use crate::input::regular;
use clap::{Args, ValueEnum};
use convo::error::{Error, ErrorKind, Result};
use convo::filter::redact::{self, Certainty, PERSONAL, RedactorOptions, Template};
use regex::Regex;
use std::path::{Path, PathBuf};

/// The options of detection.
#[derive(Args, Debug)]
#[command(next_help_heading = "Detection")]
pub struct RedactOptions {
    /// Certainty: definite, likely [default: likely]
    ///
    /// definite: the shape alone proves it. likely: also values that a word next to them suggests, such as a password.
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    level: Option<RedactLevel>,
    /// Also email, phone, ip, home, card, iban, or all
    ///
    /// Personal data: mail addresses, phone numbers, public IP addresses, the names in home directories, numbers of cards and
    /// accounts.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    personal: Vec<String>,
    /// Also this name, in any case (repeatable)
    ///
    /// As whole words: people, hosts, customers.
    #[arg(long, value_name = "TEXT")]
    name: Vec<String>,
    /// Also the names in this file, one per line
    #[arg(long, value_name = "FILE")]
    name_file: Option<PathBuf>,
    /// Only these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    only: Vec<String>,
    /// All but these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    not: Vec<String>,
    /// Keep values: sha256:HEX, kind:KIND, re:PATTERN
    ///
    /// A file with one entry per line: the hash of a value as --check --json prints it, a kind, or a regular expression that
    /// matches in the value.
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Key for the hashes in placeholders
    ///
    /// With the content of this file as key, nobody else can confirm a guess by its hash. Passwords and personal data have
    /// hashes then; without a key they are numbered.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Form of placeholders: %k kind, %h hash or number
    #[arg(long, value_name = "TEXT", help_heading = "Replacement")]
    mark: Option<String>,
    /// Images, audio, files: keep, drop [default: keep]
    #[arg(
        long,
        value_name = "ACTION",
        hide_possible_values = true,
        help_heading = "Replacement"
    )]
    images: Option<KeepOrDrop>,
    /// Changed signed parts: drop, refuse [default: drop]
    ///
    /// A signature is invalid for another text. refuse: stops at such a part, status 1; a file and a stored session are not
    /// changed.
    #[arg(
        long,
        value_name = "ACTION",
        hide_possible_values = true,
        help_heading = "Replacement"
    )]
    signed: Option<DropOrRefuse>,
    /// Encrypted reasoning: keep, drop [default: keep]
    ///
    /// It cannot be read, and may contain a secret.
    #[arg(
        long,
        value_name = "ACTION",
        hide_possible_values = true,
        help_heading = "Replacement"
    )]
    opaque: Option<KeepOrDrop>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeepOrDrop {
    Keep,
    Drop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DropOrRefuse {
    Drop,
    Refuse,
}

/// How certain a finding must be.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RedactLevel {
    Definite,
    Likely,
}

impl RedactOptions {
    /// Reads the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for an unknown kind, a bad line of --allow or a bad --mark; [`ErrorKind::Config`] for an empty key.
    pub fn settings(&self) -> Result<PassSettings> {
        let mut names = self.name.clone();
        if let Some(path) = &self.name_file {
            let lines = text(path, "--name-file")?;
            names.extend(
                lines
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .map(str::to_string),
            );
        }
        let mut options = RedactorOptions {
            level: match self.level {
                Some(RedactLevel::Definite) => Certainty::Definite,
                _ => Certainty::Likely,
            },
            personal: personal(&self.personal)?,
            names,
            only: kinds(&self.only, "--only")?,
            except: kinds(&self.not, "--not")?,
            key: self.key.as_deref().map(key).transpose()?,
            mark: self.mark.as_deref().map_or(Ok(Template::default()), mark)?,
            drop_media: self.images == Some(KeepOrDrop::Drop),
            drop_opaque: self.opaque == Some(KeepOrDrop::Drop),
            ..RedactorOptions::default()
        };
        if let Some(path) = &self.allow {
            allow(path, &mut options)?;
        }
        Ok(PassSettings {
            options,
            refuses_signed: self.signed == Some(DropOrRefuse::Refuse),
        })
    }
}

fn text(path: &Path, option: &str) -> Result<String> {
    regular::read_text(path)
        .map_err(|error| Error::io(format!("{option} {}: cannot read", path.display()), error))
}

fn kind(name: &str, option: &str) -> Result<redact::SecretKind> {
    let all = redact::kinds();
    all.iter().find(|known| **known == name).copied().ok_or_else(|| {
        let near = |known: &&&str| known.contains(name) || strsim::damerau_levenshtein(known, name) <= 2;
        let near: Vec<&str> = all.iter().filter(near).copied().collect();
        let error = Error::usage(format!("{option}: unknown kind '{name}'"));
        match near.as_slice() {
            [] => error.hint(format!("kinds: {}", all.join(", "))),
            near => error.hint(format!("did you mean '{}'?", near.join("' or '"))),
        }
    })
}

fn kinds(names: &[String], option: &str) -> Result<Vec<redact::SecretKind>> {
    names.iter().map(|name| kind(name, option)).collect()
}

/// Parses kinds of personal data, by full or short name.
fn personal(names: &[String]) -> Result<Vec<redact::SecretKind>> {
    let mut kinds = Vec::new();
    for name in names {
        let name = match name.as_str() {
            "all" => {
                kinds.extend(PERSONAL);
                continue;
            }
            "ip" => "ip-address",
            "home" => "home-path",
            "card" => "card-number",
            other => other,
        };
        let known = PERSONAL.into_iter().find(|known| *known == name);
        kinds.push(known.ok_or_else(|| {
            Error::usage(format!("--personal: unknown kind '{name}'"))
                .hint(format!("kinds: {}, or all", PERSONAL.join(", ")))
        })?);
    }
    Ok(kinds)
}

fn key(path: &Path) -> Result<Vec<u8>> {
    let wrong = |what: &str| Error::new(ErrorKind::Config, format!("--key {}: {what}", path.display()));
    let key = regular::read(path).map_err(|error| wrong(&error.message))?;
    match key.trim_ascii().is_empty() {
        true => Err(wrong("the file is empty").hint("create a key with: head -c 32 /dev/urandom > FILE")),
        false => Ok(key),
    }
}

fn mark(text: &str) -> Result<Template> {
    Template::read(text).ok_or_else(|| {
        Error::usage("--mark: invalid placeholder")
            .hint("%k is the kind, %h the hash or number, %% a percent sign; no line breaks")
    })
}

/// Reads the allowed values. Errors do not quote a line, because it may be a secret.
fn allow(path: &Path, options: &mut RedactorOptions) -> Result<()> {
    for (nth, line) in text(path, "--allow")?.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| {
            let place = format!("--allow {}:{}", path.display(), nth + 1);
            Error::usage(format!("{place}: {what}"))
        };
        let entry = || {
            wrong("invalid entry")
                .hint("expected sha256:HEX, as --check --json prints it, kind:KIND or re:PATTERN")
        };
        match line.split_once(':').ok_or_else(entry)? {
            ("sha256", hash) if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                options.allowed.insert(hash.to_ascii_lowercase());
            }
            ("kind", name) => {
                let all = redact::kinds();
                let known = all.into_iter().find(|known| *known == name);
                options.except.push(known.ok_or_else(|| wrong("unknown kind"))?);
            }
            ("re", pattern) => {
                let pattern = Regex::new(pattern);
                options
                    .allowed_patterns
                    .push(pattern.map_err(|_| wrong("invalid regular expression"))?);
            }
            _ => return Err(entry()),
        }
    }
    Ok(())
}
