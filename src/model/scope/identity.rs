//! Identity links: persons with several ids.

use super::json::{self, Dialect};
use super::picoclaw_normalize::folded;
use super::wrong;
use crate::error::Result;
use std::collections::HashMap;

/// Names and the ids of each, indexed by id.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The names in byte order.
    names: Vec<String>,
    /// Indexes of the names that list a normalized id, in order.
    ids: HashMap<String, Vec<usize>>,
}

/// A person found by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPerson<'l> {
    /// The name, trimmed.
    pub name: &'l str,
    /// The normalized id under which the person was found.
    pub id: String,
    /// Other names that list the sender's id, in byte order.
    pub others: Vec<&'l str>,
}

impl Links {
    /// From names and their ids; ignores blank ones.
    pub fn new(links: impl IntoIterator<Item = (String, Vec<String>)>) -> Links {
        let trimmed = links
            .into_iter()
            .map(|(name, ids)| (name.trim().to_string(), ids));
        let mut all: Vec<(String, Vec<String>)> = trimmed.filter(|(name, _)| !name.is_empty()).collect();
        all.sort();
        let mut known = Links::default();
        for (name, ids) in all {
            for id in ids {
                let id = folded(&id).into_owned();
                let listed = known.ids.entry(id).or_default();
                if listed.last() != Some(&known.names.len()) {
                    listed.push(known.names.len());
                }
            }
            known.names.push(name);
        }
        known.ids.remove("");
        known
    }

    /// From a JSON object of names and lists of ids; null is an empty list.
    pub fn read(raw: &[u8]) -> Result<Links> {
        if raw == b"null" {
            return Ok(Links::default());
        }
        let refused = || {
            wrong(
                "identity_links",
                "is not an object that maps names to lists of ids",
            )
        };
        let mut links = Vec::new();
        for (name, ids) in json::members(raw, Dialect::Strict).ok_or_else(refused)? {
            let ids = json::elements(ids, Dialect::Strict).ok_or_else(refused)?;
            let ids: Option<Vec<String>> = ids
                .into_iter()
                .map(|id| super::value::text(id).map(|id| id.into_owned()))
                .collect();
            links.push((name.into_owned(), ids.ok_or_else(refused)?));
        }
        Ok(Links::new(links))
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The person of this sender: the first name, in byte order, that lists the id, or the channel and the id. With
    /// `any_prefix`, the id may also be the text after its first colon, as in PicoClaw; otherwise only after the prefix
    /// of its own channel.
    pub fn find(&self, channel: &str, sender: &str, any_prefix: bool) -> Option<FoundPerson<'_>> {
        if self.is_empty() {
            return None;
        }
        let (channel, sender) = (folded(channel), folded(sender));
        if sender.is_empty() {
            return None;
        }
        let bare = sender
            .split_once(':')
            .filter(|(before, after)| !before.is_empty() && !after.is_empty())
            .filter(|(before, _)| any_prefix || *before == channel)
            .map(|(_, bare)| bare.to_string());
        let ids = [
            Some(sender.to_string()),
            Some(format!("{channel}:{sender}")),
            bare,
        ];
        let mut found: Vec<(usize, String)> = Vec::new();
        for id in ids.into_iter().flatten() {
            for name in self.ids.get(&id).into_iter().flatten() {
                if !found.iter().any(|(known, _)| known == name) {
                    found.push((*name, id.clone()));
                }
            }
        }
        found.sort();
        let mut found = found.into_iter();
        let (first, id) = found.next()?;
        Some(FoundPerson {
            name: &self.names[first],
            id,
            others: found.map(|(name, _)| self.names[name].as_str()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        Links::read(
            r#"{"carol":["Matrix:@Carol:Example","slack:U777"]," Dave ":[" 555 "],"":["999"],"Bob":["U777",7],"eve":["555"]}"#
                .as_bytes(),
        )
        .unwrap()
    }

    #[test]
    fn the_first_name_in_byte_order_is_used() {
        let links = links();
        let found = |channel, sender, any| {
            links
                .find(channel, sender, any)
                .map(|found| found.name.to_string())
        };
        assert_eq!(
            found("matrix", " @carol:EXAMPLE ", true).as_deref(),
            Some("carol")
        );
        assert_eq!(found("sms", "999", true), None);
        assert_eq!(found("discord", "u777", true).as_deref(), Some("Bob"));
        assert_eq!(found("slack", "7", false).as_deref(), Some("Bob"));
        let two = links.find("slack", "U777", true).unwrap();
        assert_eq!((two.name, two.others), ("Bob", vec!["carol"]));
        let two = links.find("sms", "555", true).unwrap();
        assert_eq!(
            (two.name, two.id.as_str(), two.others),
            ("Dave", "555", vec!["eve"])
        );
    }

    #[test]
    fn an_id_of_another_channel_is_different() {
        let links = links();
        assert_eq!(links.find("sms", "slack:555", true).unwrap().name, "Dave");
        assert_eq!(links.find("sms", "slack:555", false), None);
        assert_eq!(links.find("slack", "slack:555", false).unwrap().name, "Dave");
        assert_eq!(links.find("slack", ":555", true), None);
    }

    #[test]
    fn other_shapes_are_refused() {
        for bad in ["[]", "1", r#"{"a":"b"}"#, r#"{"a":[{}]}"#] {
            assert!(Links::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Links::read(b"null").unwrap().is_empty());
    }
}
