//! Model names, their tokenizers and their context windows.

use super::encoding::Encoding;
use super::estimate::Estimate;
use super::tokenizer::{Counting, Tokenizer};
use crate::error::{Error, Result};
use std::borrow::Cow;

const O200K: Counting = Counting::Encoding(Encoding::O200k);
const HARMONY: Counting = Counting::Encoding(Encoding::O200kHarmony);
const CL100K: Counting = Counting::Encoding(Encoding::Cl100k);
const P50K: Counting = Counting::Encoding(Encoding::P50k);
const P50K_EDIT: Counting = Counting::Encoding(Encoding::P50kEdit);
const R50K: Counting = Counting::Encoding(Encoding::R50k);
const GPT2: Counting = Counting::Encoding(Encoding::Gpt2);
const CLAUDE: Counting = Counting::Estimate(Estimate::Claude);
const GEMINI: Counting = Counting::Estimate(Estimate::Gemini);

/// Models by name. The longest matching name applies: the requested name, or its prefix before a `-`, `@` or `:`; a
/// name that ends with `.` or `-` matches as a prefix of any name. Tokens of the context window, input and output
/// together; 0 for models without chat. Sources: tiktoken, `model.py`; the model pages of OpenAI, Anthropic and Google.
const MODELS: [(&str, Counting, u64); 61] = [
    ("gpt-5", O200K, 400_000),
    ("gpt-5.", O200K, 400_000),
    ("gpt-5.4", O200K, 1_050_000),
    ("gpt-5.4-mini", O200K, 400_000),
    ("gpt-5.4-nano", O200K, 400_000),
    ("gpt-4.5", O200K, 128_000),
    ("gpt-4.1", O200K, 1_047_576),
    ("gpt-4o", O200K, 128_000),
    ("chatgpt-4o", O200K, 128_000),
    ("o1", O200K, 200_000),
    ("o1-mini", O200K, 128_000),
    ("o1-preview", O200K, 128_000),
    ("o3", O200K, 200_000),
    ("o4", O200K, 200_000),
    ("codex-mini", O200K, 200_000),
    ("gpt-oss", HARMONY, 131_072),
    ("gpt-4", CL100K, 8_192),
    ("gpt-4-32k", CL100K, 32_768),
    ("gpt-4-turbo", CL100K, 128_000),
    ("gpt-4-0125", CL100K, 128_000),
    ("gpt-4-1106", CL100K, 128_000),
    ("gpt-3.5", CL100K, 16_385),
    ("gpt-35-turbo", CL100K, 16_385),
    ("davinci-002", CL100K, 16_384),
    ("babbage-002", CL100K, 16_384),
    ("text-embedding-ada-002", CL100K, 0),
    ("text-embedding-3-small", CL100K, 0),
    ("text-embedding-3-large", CL100K, 0),
    ("text-davinci-003", P50K, 4_097),
    ("text-davinci-002", P50K, 4_097),
    ("code-davinci-002", P50K, 8_001),
    ("code-davinci-001", P50K, 8_001),
    ("code-cushman-002", P50K, 2_048),
    ("code-cushman-001", P50K, 2_048),
    ("davinci-codex", P50K, 0),
    ("cushman-codex", P50K, 0),
    ("text-davinci-edit-001", P50K_EDIT, 0),
    ("code-davinci-edit-001", P50K_EDIT, 0),
    ("text-davinci-001", R50K, 2_049),
    ("text-curie-001", R50K, 2_049),
    ("text-babbage-001", R50K, 2_049),
    ("text-ada-001", R50K, 2_049),
    ("davinci", R50K, 2_049),
    ("curie", R50K, 2_049),
    ("babbage", R50K, 2_049),
    ("ada", R50K, 2_049),
    ("text-similarity-davinci-001", R50K, 0),
    ("text-similarity-curie-001", R50K, 0),
    ("text-similarity-babbage-001", R50K, 0),
    ("text-similarity-ada-001", R50K, 0),
    ("text-search-davinci-doc-001", R50K, 0),
    ("text-search-curie-doc-001", R50K, 0),
    ("text-search-babbage-doc-001", R50K, 0),
    ("text-search-ada-doc-001", R50K, 0),
    ("code-search-babbage-code-001", R50K, 0),
    ("code-search-ada-code-001", R50K, 0),
    ("gpt-2", GPT2, 1_024),
    ("claude-", CLAUDE, 200_000),
    ("claude-2.0", CLAUDE, 100_000),
    ("claude-instant", CLAUDE, 100_000),
    ("gemini-", GEMINI, 1_048_576),
];

/// Windows larger than that of the model family.
const WIDER: [(&str, &str, u64); 2] = [("claude-", "[1m]", 1_000_000), ("gemini-1.5-pro", "", 2_097_152)];

/// The normalized model name: in lower case, without provider and path; for a fine-tuned model, its base.
fn plain(name: &str) -> Cow<'_, str> {
    let mut name = name.rsplit('/').next().unwrap_or(name);
    if let Some(tuned) = name.strip_prefix("ft:") {
        name = tuned.split(':').next().unwrap_or(tuned);
    }
    // The form of Bedrock: us.anthropic.claude-...
    if let Some((_, own)) = name.split_once("anthropic.") {
        name = own;
    }
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

fn known(name: &str) -> Option<(Counting, u64)> {
    let name = plain(name);
    let fits = |known: &str| {
        let Some(rest) = name.strip_prefix(known) else {
            return false;
        };
        rest.is_empty() || known.ends_with(['.', '-']) || rest.starts_with(['-', '@', ':', '['])
    };
    let found = MODELS
        .iter()
        .filter(|(known, ..)| fits(known))
        .max_by_key(|(known, ..)| known.len())?;
    let wider = WIDER
        .iter()
        .find(|(start, end, _)| name.starts_with(start) && name.ends_with(end));
    Some((found.1, wider.map_or(found.2, |(_, _, window)| *window)))
}

/// The context window of a model in tokens, input and output together; `None` for an unknown model.
pub fn window(model: &str) -> Option<u64> {
    known(model)
        .map(|(_, window)| window)
        .filter(|window| *window > 0)
}

pub(super) fn named(name: &str) -> Result<Tokenizer> {
    if let Some(own) = Tokenizer::all().find(|tokenizer| tokenizer.name() == name) {
        return Ok(own);
    }
    match known(name) {
        Some((way, _)) => Ok(Tokenizer(way)),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Error {
    let requested = plain(name);
    let names = Tokenizer::all()
        .map(Tokenizer::name)
        .chain(MODELS.iter().map(|(model, ..)| *model));
    let near = names
        .map(|known| (strsim::damerau_levenshtein(known, &requested), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 3);
    let error = Error::usage(format!("'{name}': unknown tokenizer or model"));
    match near {
        Some((_, near)) => error.hint(format!("did you mean '{}'?", near.trim_end_matches(['.', '-']))),
        None => {
            let own: Vec<&str> = Tokenizer::all().map(Tokenizer::name).collect();
            error.hint(format!(
                "use one of {}, or a model such as gpt-4o",
                own.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn name(requested: &str) -> &'static str {
        Tokenizer::named(requested).unwrap().name()
    }

    #[test]
    fn encodings_of_models_agree_with_tiktoken() {
        use tiktoken_rs::tokenizer::{Tokenizer as Theirs, get_tokenizer};
        let mut compared = 0;
        for (model, way, _) in MODELS {
            for requested in [
                model.to_string(),
                format!("{model}-2026-01-01"),
                format!("ft:{model}:org::id"),
            ] {
                let Some(theirs) = get_tokenizer(&requested) else {
                    continue;
                };
                let theirs = match theirs {
                    Theirs::O200kHarmony => HARMONY,
                    Theirs::O200kBase => O200K,
                    Theirs::Cl100kBase => CL100K,
                    Theirs::P50kBase => P50K,
                    Theirs::R50kBase => R50K,
                    Theirs::P50kEdit => P50K_EDIT,
                    Theirs::Gpt2 => GPT2,
                };
                assert_eq!(Tokenizer::named(&requested).unwrap().0, theirs, "{requested}");
                assert_eq!(way, theirs, "{requested}");
                compared += 1;
            }
        }
        assert!(compared > 100, "{compared} compared");
    }

    #[test]
    fn names_of_all_kinds() {
        for (requested, encoding) in [
            ("gpt-4o-2024-08-06", "o200k_base"),
            ("openai/GPT-4o", "o200k_base"),
            ("ft:gpt-4o-mini:org::x", "o200k_base"),
            ("gpt-5.9-future", "o200k_base"),
            ("o3-mini", "o200k_base"),
            ("gpt-4-0314", "cl100k_base"),
            ("gpt-oss-20b", "o200k_harmony"),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude"),
            ("models/gemini-2.5-pro", "gemini"),
            ("chars4", "chars4"),
        ] {
            assert_eq!(name(requested), encoding, "{requested}");
        }
        for own in Tokenizer::all() {
            assert_eq!(Tokenizer::named(own.name()).unwrap(), own);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        for (requested, near) in [
            ("o200k-base", Some("o200k_base")),
            ("gtp-4o", Some("gpt-4o")),
            ("gpt-4.7", Some("gpt-4")),
            ("llama-3-8b-instruct", None),
            ("", None),
        ] {
            let error = Tokenizer::named(requested).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            let hint = error.hint.unwrap();
            match near {
                Some(near) => assert!(
                    hint.contains(near) && hint.starts_with("did you mean"),
                    "{requested}: {hint}"
                ),
                None => assert!(hint.starts_with("use one of "), "{requested}: {hint}"),
            }
        }
    }

    #[test]
    fn windows() {
        for (model, tokens) in [
            ("gpt-4o", Some(128_000)),
            ("gpt-4", Some(8_192)),
            ("gpt-4-turbo-2024-04-09", Some(128_000)),
            ("gpt-5.4-mini", Some(400_000)),
            ("claude-opus-4-1", Some(200_000)),
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("gemini-1.5-pro-002", Some(2_097_152)),
            ("text-embedding-3-small", None),
            ("o200k_base", None),
        ] {
            assert_eq!(window(model), tokens, "{model}");
        }
    }
}
