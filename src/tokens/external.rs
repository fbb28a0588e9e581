//! Counting by an external program, for tokenizers that are not built in. Each text is only requested once.

use super::{image, message_cost};
use crate::error::{Error, Result};
use crate::model::message::Message;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{PoisonError, RwLock};

/// Requests the token counts of texts; returns one count per text, in order.
pub type CountRequest = Box<dyn Fn(&[&str]) -> Result<Vec<u64>> + Send + Sync>;

/// SHA-256 of a text, which identifies it without storing it.
type ProgramFingerprint = [u8; 32];

/// Maximum bytes of texts per request.
const BATCH: usize = 1 << 20;

/// Maximum number of texts per request.
const MAXIMUM: usize = 4096;

/// An external tokenizer.
pub(super) struct External {
    name: &'static str,
    ask: CountRequest,
    known: RwLock<HashMap<ProgramFingerprint, u64>>,
}

impl PartialEq for External {
    fn eq(&self, other: &External) -> bool {
        self.name == other.name
    }
}

impl Eq for External {}

impl fmt::Debug for External {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// The error of a request, as a panic payload for [`guarded`].
struct Failed(Error);

/// Runs code that may count tokens. Counting returns no errors, because built-in tokenizers never fail. An error of an
/// external tokenizer unwinds like a panic, without a message, and is returned here.
pub fn guarded<T>(run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).or_else(|payload| match payload.downcast::<Failed>() {
        Ok(failed) => Err(failed.0),
        Err(other) => resume_unwind(other),
    })
}

impl External {
    /// A tokenizer that lives as long as the program.
    pub fn leaked(name: &str, ask: CountRequest) -> &'static External {
        Box::leak(Box::new(External {
            name: Box::leak(name.into()),
            ask,
            known: RwLock::default(),
        }))
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn count(&self, text: &str) -> u64 {
        let fingerprint = fingerprint(text);
        if let Some(known) = self.known(&fingerprint) {
            return known;
        }
        self.count_texts(&[text], &[fingerprint]);
        self.known(&fingerprint).unwrap_or_default()
    }

    pub fn message(&self, message: &Message<'_>) -> u64 {
        message_cost::sent(message, image::ImageRule::OpenAi, &|text| self.count(text))
    }

    /// Requests the unknown counts of these messages in few batches.
    pub fn prepare<'m>(&self, messages: impl Iterator<Item = Message<'m>>) {
        let mut seen: HashSet<ProgramFingerprint> = HashSet::new();
        let (mut texts, mut fingerprints, mut bytes) = (Vec::new(), Vec::new(), 0);
        let ask = |texts: &mut Vec<String>, fingerprints: &mut Vec<ProgramFingerprint>| {
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            self.count_texts(&borrowed, fingerprints);
            texts.clear();
            fingerprints.clear();
        };
        for message in messages {
            let found = RefCell::new(Vec::new());
            message_cost::sent(&message, image::ImageRule::OpenAi, &|text| {
                found.borrow_mut().push(text.to_string());
                0
            });
            for text in found.into_inner() {
                let fingerprint = fingerprint(&text);
                if self.known(&fingerprint).is_none() && seen.insert(fingerprint) {
                    bytes += text.len();
                    texts.push(text);
                    fingerprints.push(fingerprint);
                }
            }
            if bytes >= BATCH || texts.len() >= MAXIMUM {
                ask(&mut texts, &mut fingerprints);
                bytes = 0;
            }
        }
        if !texts.is_empty() {
            ask(&mut texts, &mut fingerprints);
        }
    }

    fn count_texts(&self, texts: &[&str], fingerprints: &[ProgramFingerprint]) {
        match (self.ask)(texts) {
            Ok(counts) => {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                known.extend(fingerprints.iter().copied().zip(counts));
            }
            Err(error) => resume_unwind(Box::new(Failed(error))),
        }
    }

    fn known(&self, fingerprint: &ProgramFingerprint) -> Option<u64> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(fingerprint).copied()
    }
}

fn fingerprint(text: &str) -> ProgramFingerprint {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::super::{Counter, Tokenizer};
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::session::Session;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_text_is_counted_once_and_a_session_in_one_request() {
        let requested = Arc::new(AtomicUsize::new(0));
        let noted = requested.clone();
        let words = Tokenizer::external(
            "cmd:words#0",
            Box::new(move |texts| {
                noted.fetch_add(1, Ordering::SeqCst);
                Ok(texts
                    .iter()
                    .map(|text| text.split_whitespace().count() as u64)
                    .collect())
            }),
        );
        let mut session = Session::default();
        session.push_new(br#"{"role":"user","content":"one two three"}"#);
        session.push_new(br#"{"role":"user","content":"four five"}"#);
        let counter = Counter::new(words, None);
        counter.prepare(&session);
        assert_eq!(requested.load(Ordering::SeqCst), 1);
        let count = |index: usize| counter.message(session.record(index).message().unwrap());
        // Three tokens of framing, and the role.
        assert_eq!((count(0), count(1)), (3 + 1 + 3, 3 + 1 + 2));
        assert_eq!((words.count("four five"), words.count("user")), (2, 1));
        assert_eq!(requested.load(Ordering::SeqCst), 1);
        assert_eq!(words.count("six"), 1);
        assert_eq!(requested.load(Ordering::SeqCst), 2);
        assert_eq!((words.name(), words.note()), ("cmd:words#0", None));
        assert_eq!(
            Counter::new(words, Some("cmd:words#0")),
            Counter::new(words, Some("cmd:words#0"))
        );
        assert_ne!(words, Tokenizer::DEFAULT);
    }

    #[test]
    fn a_failure_stops_counting_with_an_error() {
        let broken = Tokenizer::external(
            "cmd:broken#0",
            Box::new(|_| Err(Error::new(ErrorKind::Unavailable, "it failed"))),
        );
        let error = guarded(|| broken.count("text") + 1).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Unavailable, "it failed")
        );
        assert_eq!(guarded(|| 5).unwrap(), 5);
        let other = catch_unwind(|| guarded(|| resume_unwind(Box::new("another panic"))));
        assert!(other.is_err());
    }
}
