//! Colors by role. The defaults are the eight basic colors, which are readable on dark and light backgrounds.

use convo::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorRole {
    User,
    Assistant,
    Tool,
    System,
    Error,
    Added,
    Removed,
    Dim,
    Title,
    Heading,
    Emphasis,
    Code,
    Link,
    Match,
}

/// The roles, with their names in the table `[colors]` of the configuration and their defaults.
const ROLES: [(ColorRole, &str, &str); 14] = [
    (ColorRole::User, "user", "1;32"),
    (ColorRole::Assistant, "assistant", "1;34"),
    (ColorRole::Tool, "tool", "36"),
    (ColorRole::System, "system", "35"),
    (ColorRole::Error, "error", "31"),
    (ColorRole::Added, "added", "32"),
    (ColorRole::Removed, "removed", "31"),
    (ColorRole::Dim, "dim", "2"),
    (ColorRole::Title, "title", "1"),
    (ColorRole::Heading, "heading", "1"),
    (ColorRole::Emphasis, "emphasis", "3"),
    (ColorRole::Code, "code", "36"),
    (ColorRole::Link, "link", "4"),
    (ColorRole::Match, "match", "1;31"),
];

/// Names of colors and styles in the configuration.
const WORDS: [(&str, &str); 13] = [
    ("none", ""),
    ("bold", "1"),
    ("dim", "2"),
    ("italic", "3"),
    ("underline", "4"),
    ("black", "30"),
    ("red", "31"),
    ("green", "32"),
    ("yellow", "33"),
    ("blue", "34"),
    ("magenta", "35"),
    ("cyan", "36"),
    ("white", "37"),
];

pub const RESET: &str = "\x1b[0m";

/// The colors of the run.
#[derive(Clone, Debug)]
pub struct Palette {
    colored: bool,
    codes: [String; ROLES.len()],
}

impl Palette {
    /// Returns the default colors with the changes of the configuration.
    pub fn new(colored: bool, configured: Option<&BTreeMap<String, String>>) -> Result<Palette> {
        let mut codes = ROLES.map(|(_, _, code)| code.to_string());
        for (name, color) in configured.into_iter().flatten() {
            let wrong = |what: String, hint: String| {
                Err(Error::new(
                    ErrorKind::Config,
                    format!("[colors] in the configuration: {what}"),
                )
                .hint(hint))
            };
            let Some(place) = ROLES.iter().position(|(_, role, _)| role == name) else {
                let roles = ROLES.map(|(_, role, _)| role).join(", ");
                return wrong(format!("unknown role '{name}'"), format!("roles: {roles}"));
            };
            let mut code = Vec::new();
            for word in color.split_whitespace() {
                let Some((_, number)) = WORDS.iter().find(|(known, _)| *known == word) else {
                    let words = WORDS.map(|(word, _)| word).join(", ");
                    return wrong(
                        format!("unknown color '{word}'"),
                        format!("expected some of {words}"),
                    );
                };
                code.extend(Some(*number).filter(|number| !number.is_empty()));
            }
            codes[place] = code.join(";");
        }
        Ok(Palette { colored, codes })
    }

    /// Whether colors are enabled.
    pub fn is_colored(&self) -> bool {
        self.colored
    }

    pub fn paint(&self, ink: ColorRole, text: &str) -> String {
        match self.open(ink) {
            open if open.is_empty() || text.is_empty() => text.to_string(),
            open => format!("{open}{text}{RESET}"),
        }
    }

    /// The escape sequence that starts a color; [`RESET`] ends it.
    pub fn open(&self, ink: ColorRole) -> String {
        let code = ROLES
            .iter()
            .position(|(role, _, _)| *role == ink)
            .map_or("", |place| &self.codes[place]);
        match self.colored && !code.is_empty() {
            true => format!("\x1b[{code}m"),
            false => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_changes_colors() {
        let colors = |name: &str, color: &str| {
            let table = BTreeMap::from([(name.to_string(), color.to_string())]);
            Palette::new(true, Some(&table))
        };
        let plain = Palette::new(false, None).unwrap();
        assert_eq!(plain.paint(ColorRole::User, "u"), "u");
        assert_eq!(
            colors("user", "bold red").unwrap().paint(ColorRole::User, "u"),
            "\x1b[1;31mu\x1b[0m"
        );
        assert_eq!(colors("user", "none").unwrap().paint(ColorRole::User, "u"), "u");
        assert_eq!(
            colors("link", "blue").unwrap().paint(ColorRole::User, "u"),
            "\x1b[1;32mu\x1b[0m"
        );
        for (name, color) in [("usr", "red"), ("user", "pink")] {
            assert_eq!(colors(name, color).unwrap_err().kind, ErrorKind::Config);
        }
    }
}
