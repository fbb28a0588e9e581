//! Runs the test vectors of the profile, if present.

use super::super::{dates, prior_weight};
use super::*;
use crate::sample_data;
use serde_json::Value;

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(sample_data::path("compaction").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect()
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_stop_words_match_the_profile() {
    let folder = sample_data::path("compaction");
    let theirs = std::fs::read_to_string(folder.join("stopwords_en.txt")).unwrap();
    assert_eq!(include_str!("../stopwords_en.txt"), theirs);
    eprintln!("{} stop words agree", theirs.lines().count());
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn terms_match_the_vectors() {
    let file = read("terms.json");
    let rows = file["rows"].as_array().unwrap();
    for row in rows {
        assert_eq!(
            terms(row["text"].as_str().unwrap()),
            strings(&row["terms"]),
            "{row}"
        );
    }
    eprintln!("{} texts agree", rows.len());
    assert!(rows.len() > 10);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn dates_match_the_vectors() {
    let file = read("relative_dates.json");
    let rows = file["rows"].as_array().unwrap();
    for row in rows {
        let text = row["text"].as_str().unwrap();
        let day = dates::day(row["day"].as_str().unwrap()).unwrap();
        for (shape, name) in [(Dates::Full, "full"), (Dates::Short, "short")] {
            let marked = dates::mark(text, day, shape);
            assert_eq!(marked, row[name].as_str().unwrap(), "{row}");
            assert_eq!(dates::unmark(&marked, day), text, "{row}");
        }
    }
    eprintln!(
        "{} relative dates agree, in full and short, and come off again",
        rows.len()
    );
    assert!(rows.len() > 20);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn priors_and_selections_match_the_vectors() {
    let file = read("coverage_v1.json");
    let prior = |message: &Value, index: usize, of: usize| {
        let role = Role::from_name(message["role"].as_str().unwrap());
        let text = message["content"].as_str().unwrap();
        prior_weight::Prior::of(text).role(Some(role)).recency(index, of)
    };
    let mut parts = 0;
    for (name, session) in file["sessions"].as_object().unwrap() {
        let messages = session.as_array().unwrap();
        for (index, message) in messages.iter().enumerate() {
            let part = &file["parts"][name][message["id"].as_str().unwrap()];
            let found = terms(message["content"].as_str().unwrap());
            let mut distinct = Vec::new();
            for term in found {
                if !distinct.contains(&term) {
                    distinct.push(term);
                }
            }
            assert_eq!(distinct, strings(&part["terms"]), "{message}");
            let factors = serde_json::to_value(prior(message, index, messages.len()).0).unwrap();
            assert_eq!(factors, part["prior"], "{message}");
            parts += 1;
        }
    }
    let cases = file["cases"].as_array().unwrap();
    for case in cases {
        let messages = file["sessions"][case["session"].as_str().unwrap()]
            .as_array()
            .unwrap();
        let candidates: Vec<UnitCandidate<'_>> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| UnitCandidate {
                text: message["content"].as_str().unwrap(),
                prior: prior(message, index, messages.len()).product(),
                tokens: words(message["content"].as_str().unwrap()) + 4,
            })
            .collect();
        assert_eq!(
            candidates.iter().map(|unit| unit.tokens).sum::<u64>(),
            case["of"].as_u64().unwrap()
        );
        let picked = choose(&candidates, case["budget"].as_u64().unwrap());
        let ids = |picked: &[usize]| -> Vec<&str> {
            picked
                .iter()
                .map(|at| messages[*at]["id"].as_str().unwrap())
                .collect()
        };
        assert_eq!(ids(&picked), strings(&case["picked"]), "{case}");
        let tokens: u64 = picked.iter().map(|at| candidates[*at].tokens).sum();
        assert_eq!(tokens, case["tokens"].as_u64().unwrap(), "{case}");
        let mut kept = picked;
        kept.sort_unstable();
        assert_eq!(ids(&kept), strings(&case["kept"]), "{case}");
    }
    eprintln!("{parts} messages and {} choices agree", cases.len());
    assert!(parts > 40 && cases.len() > 8);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn standing_instructions_match_the_vectors() {
    let file = read("standing_instructions.json");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (list, expected) in [("compint", true), ("instructions", true), ("others", false)] {
        for sentence in strings(&file[list]) {
            count += 1;
            if strength(sentence).is_some() != expected {
                wrong.push(sentence);
            }
        }
    }
    eprintln!("{count} sentences, {} told wrongly", wrong.len());
    assert_eq!(wrong, Vec::<&str>::new());
    assert_eq!(count, 40);
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn rules_in_natural_wording_are_found_and_overruled() {
    let file = read("rules-public.json");
    let rows = |list: &str| -> Vec<[String; 2]> {
        let pair = |row: &Value| [0, 1].map(|at| row[at].as_str().unwrap().to_string());
        file[list].as_array().unwrap().iter().map(pair).collect()
    };
    let (rules, others) = (rows("rules"), rows("others"));
    let missed: Vec<_> = rules
        .iter()
        .filter(|row| standing_instructions(&row[1]).is_empty())
        .collect();
    let wrong: Vec<_> = others
        .iter()
        .filter(|row| !standing_instructions(&row[1]).is_empty())
        .collect();
    let pairs = rows("overruled");
    let said = |texts: [&str; 2]| {
        let sources: Vec<SummarySource<'_>> = texts
            .into_iter()
            .map(|text| source("", Role::User, "", text))
            .collect();
        let words = |text: &str| text.split_whitespace().count() as u64;
        let found = instructions(&sources, None, &ExtractOptions::new(1000), &words).unwrap();
        found.into_iter().map(|one| one.text).collect::<Vec<_>>()
    };
    let stands: Vec<_> = pairs
        .iter()
        .filter(|[old, new]| {
            let found = said([old.as_str(), new.as_str()]);
            found.contains(old) || !found.contains(new)
        })
        .collect();
    // Unrelated rules must not replace each other.
    let mut confused = Vec::new();
    for one in &rules {
        for other in rules.iter().filter(|other| other[1] != one[1]) {
            if missed.iter().all(|row| row[1] != one[1]) && !said([&one[1], &other[1]]).contains(&one[1]) {
                confused.push((one[1].clone(), other[1].clone()));
            }
        }
    }
    eprintln!(
        "{} of {} found, {} of {} wrong, {} of {} pairs",
        rules.len() - missed.len(),
        rules.len(),
        wrong.len(),
        others.len(),
        pairs.len() - stands.len(),
        pairs.len()
    );
    eprintln!("missed {missed:#?}\nwrong {wrong:#?}\nstands {stands:#?}\nconfused {confused:#?}");
    assert!(missed.len() <= 3 && wrong.len() <= 2 && stands.is_empty() && confused.len() <= 4);
}
