//! Encodes an overview for a cache. The encoding has no version number; the cache has one.

use super::{ChainFacts, Overview, Title, TitleSource};
use crate::model::health::Health;

/// Marks a missing text or number.
const NONE: u64 = u64::MAX;

#[derive(Default)]
struct OverviewEncoder(Vec<u8>);

impl OverviewEncoder {
    fn number(&mut self, number: impl Into<Option<u64>>) {
        self.0
            .extend_from_slice(&number.into().unwrap_or(NONE).to_le_bytes());
    }

    fn text(&mut self, text: Option<&str>) {
        self.number(text.map(|text| text.len() as u64));
        self.0.extend_from_slice(text.unwrap_or_default().as_bytes());
    }

    fn list(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(Some(text)));
    }
}

struct OverviewDecoder<'b>(&'b [u8]);

impl OverviewDecoder<'_> {
    fn number(&mut self) -> Option<Option<u64>> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(Some(u64::from_le_bytes(*number)).filter(|number| *number != NONE))
    }

    fn text(&mut self) -> Option<Option<String>> {
        let Some(length) = self.number()? else {
            return Some(None);
        };
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(std::str::from_utf8(text).ok()?.to_string()))
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let length = self.number()??;
        (0..length).map(|_| self.text()?).collect()
    }
}

impl Overview {
    /// Encodes the overview.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = OverviewEncoder::default();
        for text in self.texts() {
            out.text(text);
        }
        for number in [
            self.title
                .as_ref()
                .and_then(|title| TitleSource::ALL.iter().position(|from| *from == title.from))
                .map(|nth| nth as u64),
            Some(self.messages),
            Some(self.view),
            self.tokens.as_ref().map(|(tokens, _)| *tokens),
            self.chain.index,
            self.chain.source_tokens,
            self.chain.tokens,
            self.waiting.map(|(pending, _)| pending),
            self.waiting.map(|(_, backlog)| backlog),
            Some(self.health.failures),
            Some(
                u64::from(self.damaged)
                    | u64::from(self.health.degraded) << 1
                    | u64::from(self.health.turn_since) << 2,
            ),
        ] {
            out.number(number);
        }
        out.list(&self.continued_to);
        out.list(&self.tags);
        out.0
    }

    fn texts(&self) -> [Option<&str>; 15] {
        [
            self.id.as_deref(),
            self.title.as_ref().map(|title| title.text.as_str()),
            self.key.as_deref(),
            self.tokens.as_ref().map(|(_, tokenizer)| tokenizer.as_str()),
            self.created.as_deref(),
            self.updated.as_deref(),
            self.continued_from.as_deref(),
            self.chain.original.as_deref(),
            self.lineage.as_deref(),
            self.parent.as_deref(),
            self.cwd.as_deref(),
            self.model.as_deref(),
            self.format.as_deref(),
            self.health.next_attempt_at.as_deref(),
            self.branch.as_deref(),
        ]
    }

    /// Decodes an overview; none if the bytes are invalid.
    pub fn decode(bytes: &[u8]) -> Option<Overview> {
        let mut reader = OverviewDecoder(bytes);
        let mut text = || reader.text();
        let (id, title, key, tokenizer) = (text()?, text()?, text()?, text()?);
        let (created, updated, continued_from, original) = (text()?, text()?, text()?, text()?);
        let (lineage, parent, cwd, model, format) = (text()?, text()?, text()?, text()?, text()?);
        let (next_attempt_at, branch) = (text()?, text()?);
        let mut number = || reader.number();
        let from = number()?;
        let (messages, view, tokens) = (number()??, number()??, number()?);
        let (index, source_tokens, chain_tokens) = (number()?, number()?, number()?);
        let (pending, backlog, failures, flags) = (number()?, number()?, number()??, number()??);
        let from = from.and_then(|nth| TitleSource::ALL.get(nth as usize).copied());
        let overview = Overview {
            id,
            title: title.zip(from).map(|(text, from)| Title { text, from }),
            key,
            messages,
            view,
            tokens: tokens.zip(tokenizer),
            created,
            updated,
            continued_from,
            continued_to: reader.list()?,
            chain: ChainFacts {
                index,
                original,
                source_tokens,
                tokens: chain_tokens,
            },
            lineage,
            parent,
            cwd,
            branch,
            model,
            format,
            tags: reader.list()?,
            damaged: flags & 1 != 0,
            health: Health {
                failures,
                degraded: flags & 2 != 0,
                turn_since: flags & 4 != 0,
                next_attempt_at,
                ..Health::default()
            },
            waiting: pending.zip(backlog),
        };
        reader.0.is_empty().then_some(overview)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overview_survives_its_encoding() {
        let text = |text: &str| Some(text.to_string());
        let overview = Overview {
            id: text("s"),
            title: Some(Title {
                text: "T\n\u{1b}".to_string(),
                from: TitleSource::Summary,
            }),
            messages: 12,
            view: 3,
            tokens: Some((312, String::new())),
            updated: text("2026-11-20T18:02:03Z"),
            branch: text("main"),
            continued_to: vec!["t".to_string(), String::new()],
            tags: vec!["a".to_string()],
            damaged: true,
            health: Health {
                failures: 2,
                turn_since: true,
                next_attempt_at: text("2026-11-20T18:02:03Z"),
                ..Health::default()
            },
            waiting: Some((1, 0)),
            ..Overview::default()
        };
        let bytes = overview.encode();
        assert_eq!(Overview::decode(&bytes), Some(overview));
        for end in 0..bytes.len() {
            assert_eq!(Overview::decode(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Overview::decode(&[&bytes[..], b"x"].concat()), None);
    }
}
