//! Computes the weights of words from labelled sentences: a linear support vector machine with squared hinge loss, trained
//! by coordinate descent in the dual. Source: C.-J. Hsieh et al., "A Dual Coordinate Descent Method for Large-scale Linear
//! SVM", 2008, algorithm 1. Only operations that IEEE 754 defines exactly, in a fixed order, so that every machine gets the
//! same. `CONVO_TRAIN=1 cargo test --locked --lib training::` writes the tables.

use super::instructed::block;
use super::{certain, source};
use crate::filter::summarize::learned::table::{feature_hash, table_of};
use crate::filter::summarize::learned::{WordWeights, for_each_feature};
use crate::filter::summarize::pasted::own_sentences;
use crate::filter::summarize::words::Sentence;
use crate::filter::summarize::{standing_instructions, without_list_mark};
use crate::model::message::Role;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Passes over all sentences, for each choice of the sentences that make a text a member.
const PASSES: u32 = 20;

/// How often the sentences that make a text a member are chosen.
const CHOICES: u32 = 3;

/// The cost of an error in relation to the size of the weights.
const COST: f64 = 0.1;

/// Fewest occurrences of a feature.
const MIN_OCCURRENCES: usize = 2;

/// Least absolute weight in a table, in thousandths.
const MIN_WEIGHT: i32 = 50;

/// By how much a score must exceed that of the boundary, in thousandths. A false instruction takes tokens of the summary,
/// and many instructions have one of the known forms anyway; a missed change leaves a rule that no longer holds.
const CAUTION: [i32; 2] = [60, -330];

/// A text and whether it belongs to the class.
struct LabelledText {
    is_member: bool,
    sentences: Vec<Sentence>,
}

/// Parses lines that begin with `+` or `-`.
fn labelled(file: &str) -> Vec<LabelledText> {
    let texts = file.lines().filter_map(|line| line.split_once(' '));
    let texts = texts.map(|(mark, text)| LabelledText {
        is_member: mark == "+",
        sentences: sentences_of(text),
    });
    texts.filter(|text| !text.sentences.is_empty()).collect()
}

fn sentences_of(text: &str) -> Vec<Sentence> {
    let own = own_sentences(text);
    own.iter()
        .filter_map(|own| Sentence::of(without_list_mark(&own.unquoted())))
        .collect()
}

/// The texts of features, by hash.
#[derive(Default)]
struct FeatureNames(HashMap<u64, String>);

impl FeatureNames {
    /// The hashes of the features of a sentence, whose texts are then known.
    fn features(&mut self, sentence: &Sentence) -> Vec<u64> {
        let mut found = Vec::new();
        for_each_feature(sentence, |_, hash| {
            found.push(hash);
            true
        });
        if found.iter().any(|hash| !self.0.contains_key(hash)) {
            self.name(sentence);
        }
        found
    }

    fn name(&mut self, sentence: &Sentence) {
        let word = |at: usize| match sentence.at(at) {
            word if word.starts_with(|first: char| first.is_ascii_digit()) => "0",
            word => word,
        };
        let words: Vec<&str> = (0..sentence.words.len()).map(word).collect();
        let all = [&["^"], &words[..], &["$"]].concat();
        let names = all.iter().map(|word| word.to_string());
        let pairs = all.windows(2).map(|pair| pair.join(" "));
        let after_commas = words.iter().map(|word| format!(", {word}"));
        let near_begin = words
            .iter()
            .flat_map(|word| [format!("^1 {word}"), format!("^2 {word}")]);
        let properties = ["?", "#0", "#1", "#2", "#3", "#4"].map(String::from);
        let names = names.chain(pairs).chain(after_commas).chain(near_begin);
        for name in names.chain(properties) {
            self.0.entry(feature_hash(&name)).or_insert(name);
        }
    }
}

/// A weight for each feature; the sum decides.
struct Classifier {
    bias: f64,
    weights: Vec<f64>,
}

impl Classifier {
    fn new(features: usize) -> Classifier {
        Classifier {
            bias: 0.0,
            weights: vec![0.0; features],
        }
    }

    fn score(&self, features: &[usize]) -> f64 {
        let mut sum = self.bias;
        for nth in features {
            sum += self.weights[*nth];
        }
        sum
    }

    /// Minimizes the size of the weights and the cost of errors.
    fn trained(features: usize, examples: &[(&Vec<usize>, bool)]) -> Classifier {
        let mut classifier = Classifier::new(features);
        let mut shares = vec![0.0; examples.len()];
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut random = 1u64;
        for _ in 0..PASSES {
            for last in (1..order.len()).rev() {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                order.swap(last, (random >> 33) as usize % (last + 1));
            }
            for at in &order {
                let (features, is_member) = examples[*at];
                let label = if is_member { 1.0 } else { -1.0 };
                let slack = shares[*at] / (2.0 * COST);
                let gradient = label * classifier.score(features) - 1.0 + slack;
                let curvature = 1.0 + features.len() as f64 + 1.0 / (2.0 * COST);
                let share = f64::max(shares[*at] - gradient / curvature, 0.0);
                let step = label * (share - shares[*at]);
                shares[*at] = share;
                classifier.bias += step;
                // Most examples are far from the boundary.
                if step != 0.0 {
                    features.iter().for_each(|nth| classifier.weights[*nth] += step);
                }
            }
        }
        classifier
    }
}

/// The table of weights of these texts.
fn train(texts: &[&LabelledText], caution: i32) -> String {
    let mut names = FeatureNames::default();
    let all: Vec<Vec<Vec<u64>>> = texts
        .iter()
        .map(|text| {
            text.sentences
                .iter()
                .map(|sentence| names.features(sentence))
                .collect()
        })
        .collect();
    let mut occurrences: HashMap<u64, usize> = HashMap::new();
    for feature in all.iter().flatten().flatten() {
        *occurrences.entry(*feature).or_default() += 1;
    }
    let often = occurrences.iter().filter(|(_, count)| **count >= MIN_OCCURRENCES);
    let mut features: Vec<(&str, u64)> = often.map(|(hash, _)| (&*names.0[hash], *hash)).collect();
    features.sort_unstable();
    let numbers: HashMap<u64, usize> = features
        .iter()
        .enumerate()
        .map(|(nth, (_, hash))| (*hash, nth))
        .collect();
    let numbered = |sentence: &Vec<u64>| -> Vec<usize> {
        sentence
            .iter()
            .filter_map(|feature| numbers.get(feature).copied())
            .collect()
    };
    let known: Vec<Vec<Vec<usize>>> = all
        .iter()
        .map(|sentences| sentences.iter().map(numbered).collect())
        .collect();
    let mut classifier = Classifier::new(numbers.len());
    for choice in 0..CHOICES {
        let mut examples = Vec::new();
        for (text, sentences) in texts.iter().zip(&known) {
            let score = |sentence: &&Vec<usize>| classifier.score(sentence);
            let best = sentences
                .iter()
                .max_by(|one, other| score(one).total_cmp(&score(other)));
            // Its best sentence makes a text a member; before the first training, each of them might be the best.
            let are_alike = !text.is_member || choice == 0;
            let chosen = sentences
                .iter()
                .filter(|sentence| are_alike || Some(*sentence) == best);
            examples.extend(chosen.map(|sentence| (sentence, text.is_member)));
        }
        classifier = Classifier::trained(numbers.len(), &examples);
    }
    let thousandths = |weight: f64| (weight * 1000.0).round() as i32;
    let mut table = format!("{}\n", thousandths(classifier.bias) - caution);
    for (weight, (feature, _)) in classifier.weights.iter().zip(&features) {
        let weight = thousandths(*weight);
        if weight.abs() >= MIN_WEIGHT {
            let _ = writeln!(table, "{weight} {feature}");
        }
    }
    table
}

/// The percentages of members and of others with a sentence that a table recognizes.
fn recognized(table: &str, texts: &[&LabelledText]) -> [usize; 2] {
    let (biases, slots) = table_of([table, ""]);
    let weights = WordWeights {
        biases,
        slots: &slots,
    };
    [true, false].map(|is_member| {
        let texts = texts.iter().filter(|text| text.is_member == is_member);
        let is_recognized = |text: &&&LabelledText| {
            text.sentences
                .iter()
                .any(|sentence| weights.scores(sentence)[0] > 0)
        };
        let count = texts.clone().count().max(1);
        texts.filter(is_recognized).count() * 100 / count
    })
}

/// The folder of the labelled sentences and of the tables.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/filter/summarize/learned");

/// The name of each class, the caution that it needs, and its table.
const CLASSES: [(&str, i32, &str); 2] = [
    ("rules", CAUTION[0], include_str!("../learned/rules.weights")),
    ("changes", CAUTION[1], include_str!("../learned/changes.weights")),
];

fn labelled_texts(class: &str) -> Vec<LabelledText> {
    labelled(&std::fs::read_to_string(format!("{FOLDER}/{class}.txt")).unwrap())
}

#[test]
fn weights_are_those_of_the_labelled_sentences() {
    for (class, caution, table) in CLASSES {
        let texts = labelled_texts(class);
        let trained = train(&texts.iter().collect::<Vec<_>>(), caution);
        if std::env::var_os("CONVO_TRAIN").is_some() {
            std::fs::write(format!("{FOLDER}/{class}.weights"), trained).unwrap();
        } else {
            assert!(
                trained == table,
                "{class}.weights is out of date: CONVO_TRAIN=1 cargo test --locked --lib training::"
            );
        }
    }
}

#[test]
fn sentences_that_were_not_learned_are_recognized() {
    for (class, caution, _) in CLASSES {
        let texts = labelled_texts(class);
        let part = |is_held_out: bool| -> Vec<&LabelledText> {
            let of = texts.iter().enumerate();
            of.filter(|(at, _)| (at % 5 == 0) == is_held_out)
                .map(|(_, text)| text)
                .collect()
        };
        let [found, alarms] = recognized(&train(&part(false), caution), &part(true));
        println!("{class}: {found} % of the members, {alarms} % of the others");
        assert!(
            found >= 65 && alarms <= 10,
            "{class}: {found} % found, {alarms} % false"
        );
    }
}

#[test]
fn unknown_words_set_no_rule() {
    for text in [
        "is bolukeed is lomoing",
        "as mima as lafusehan which pivaed you givu",
        "xq zw",
    ] {
        assert_eq!(standing_instructions(text), [""; 0]);
    }
}

#[test]
fn each_feature_of_a_table_has_its_weight() {
    let (biases, slots) = table_of(CLASSES.map(|(_, _, table)| table));
    let weights = WordWeights {
        biases,
        slots: &slots,
    };
    for (class, (_, _, table)) in CLASSES.into_iter().enumerate() {
        for line in table.lines().skip(1) {
            let (weight, feature) = line.split_once(' ').unwrap();
            let found = weights.weights_of(feature_hash(feature)).unwrap()[class];
            assert_eq!(found.to_string(), weight, "{feature}");
        }
    }
}

#[test]
fn unseen_texts_are_not_trained_with() {
    let folded = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let rules = include_str!("unseen.txt").lines().map(|line| &line[2..]);
    let changes = include_str!("unseen_changes.txt")
        .lines()
        .flat_map(|line| line.split('\t'));
    let unseen: HashSet<String> = rules.chain(changes).map(folded).collect();
    for (class, ..) in CLASSES {
        let file = std::fs::read_to_string(format!("{FOLDER}/{class}.txt")).unwrap();
        for line in file.lines() {
            assert!(!unseen.contains(&folded(&line[2..])), "{line}");
        }
    }
}

/// Texts by authors who knew neither the detector nor the labelled sentences; none of them was used for training.
#[test]
fn instructions_in_unseen_wording_are_found() {
    let [mut found, mut of, mut alarms, mut others] = [0; 4];
    let mut doubtful = [0; 2];
    for line in include_str!("unseen.txt").lines() {
        let (mark, text) = line.split_at(2);
        let sets_a_rule = usize::from(!standing_instructions(text).is_empty());
        let is_certain = !certain(&[source("m", Role::User, "", text)]).is_empty();
        let is_doubtful = sets_a_rule - usize::from(is_certain).min(sets_a_rule);
        doubtful[usize::from(mark != "+ ")] += is_doubtful;
        match mark {
            "+ " => (found, of) = (found + sets_a_rule, of + 1),
            _ => (alarms, others) = (alarms + sets_a_rule, others + 1),
        }
    }
    println!("{found} of {of} found, {alarms} of {others} false, {doubtful:?} of them doubtful");
    assert!(found * 100 >= of * 91 && alarms * 100 <= others * 5);
}

#[test]
fn a_rule_is_seldom_quoted_without_a_change_in_unseen_wording() {
    let pairs = include_str!("unseen_changes.txt").lines();
    let (mut alone, mut of) = (0, 0);
    for (old, new) in pairs.filter_map(|line| line.split_once('\t')) {
        let quoted = block(&[old, new]).join("\n");
        let has = |text: &str| own_sentences(text).iter().any(|own| quoted.contains(own.text));
        alone += usize::from(has(old) && !has(new));
        of += 1;
    }
    println!("{alone} of {of} rules alone");
    assert!(alone * 100 <= of * 10);
}
