//! Detection options.

use crate::input::regular;
use clap::{Args, ValueEnum};
use convo::error::{Error, Kind, Result};
use convo::filter::redact::{self, Level, Options, PERSONAL};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The options of detection.
#[derive(Args, Debug)]
#[command(next_help_heading = "Detection")]
pub struct RedactOptions {
    /// Least certain findings: definite, likely [default: likely]
    ///
    /// definite: the shape alone proves it. likely: also values that a word next to them suggests, such as a password.
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    level: Option<LevelName>,
    /// Also personal data: email, phone, ip-address, home-path, card-number, iban, or all
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    personal: Vec<String>,
    /// Also this name, as a whole word in upper or lower case (repeatable)
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
    /// Keep the values in this file: lines of sha256:HEX or kind:KIND
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Key for the hashes in placeholders
    ///
    /// With the content of this file as key, nobody else can confirm a guess by its hash. Passwords and personal data have
    /// hashes then; without a key they are numbered.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// How certain a finding must be.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelName {
    Definite,
    Likely,
}

impl RedactOptions {
    /// The settings.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a kind that is unknown and for a bad line of --allow; [`Kind::Config`] for an empty key.
    pub fn settings(&self) -> Result<Options> {
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
        let mut options = Options {
            level: match self.level {
                Some(LevelName::Definite) => Level::Definite,
                _ => Level::Likely,
            },
            personal: personal(&self.personal)?,
            names,
            only: kinds(&self.only, "--only")?,
            except: kinds(&self.not, "--not")?,
            allowed: HashSet::new(),
            key: self.key.as_deref().map(key).transpose()?,
        };
        if let Some(path) = &self.allow {
            allow(path, &mut options)?;
        }
        Ok(options)
    }
}

fn text(path: &Path, option: &str) -> Result<String> {
    regular::read_text(path)
        .map_err(|error| Error::io(format!("{option} {}: cannot read", path.display()), error))
}

fn kind(name: &str, option: &str) -> Result<redact::Kind> {
    let all = redact::kinds();
    all.iter().find(|known| **known == name).copied().ok_or_else(|| {
        let near = |known: &&&str| known.contains(name) || strsim::damerau_levenshtein(known, name) <= 2;
        let near: Vec<&str> = all.iter().filter(near).copied().collect();
        let error = Error::new(Kind::Usage, format!("{option}: unknown kind '{name}'"));
        match near.as_slice() {
            [] => error.hint(format!("kinds: {}", all.join(", "))),
            near => error.hint(format!("did you mean '{}'?", near.join("' or '"))),
        }
    })
}

fn kinds(names: &[String], option: &str) -> Result<Vec<redact::Kind>> {
    names.iter().map(|name| kind(name, option)).collect()
}

/// Kinds of personal data, also by their short names.
fn personal(names: &[String]) -> Result<Vec<redact::Kind>> {
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
            Error::new(Kind::Usage, format!("--personal: unknown kind '{name}'"))
                .hint(format!("kinds: {}, or all", PERSONAL.join(", ")))
        })?);
    }
    Ok(kinds)
}

fn key(path: &Path) -> Result<Vec<u8>> {
    let wrong = |what: &str| Error::new(Kind::Config, format!("--key {}: {what}", path.display()));
    let key = regular::read(path).map_err(|error| wrong(&error.message))?;
    match key.trim_ascii().is_empty() {
        true => Err(wrong("the file is empty").hint("create a key with: head -c 32 /dev/urandom > FILE")),
        false => Ok(key),
    }
}

fn allow(path: &Path, options: &mut Options) -> Result<()> {
    for (nth, line) in text(path, "--allow")?.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || {
            Error::new(
                Kind::Usage,
                format!("--allow {}:{}: invalid entry '{line}'", path.display(), nth + 1),
            )
            .hint("expected sha256:HEX, as --check --json prints it, or kind:KIND")
        };
        match line.split_once(':') {
            Some(("sha256", hash))
                if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
            {
                options.allowed.insert(hash.to_ascii_lowercase());
            }
            Some(("kind", name)) => options.except.push(kind(name, "--allow")?),
            _ => return Err(wrong()),
        }
    }
    Ok(())
}
