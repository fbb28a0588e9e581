//! Detects rules that later ones replace, by words alone: another answer to the same question, or a cue that
//! something changed together with most of the same words.

use super::figures::SentenceFigures;
use super::marks::THING;
use super::permission::Permission;
use super::revoking::{Cue, NEGATIONS};
use super::rule_answers::{Answer, answers_of};
use super::rule_terms::{ANSWERING, hash_of, is_of_frame, term_hashes};
use super::terms::for_each_term;
use super::word_lists::is_in;
use super::words::Sentence;
use std::collections::{BTreeSet, HashMap};

/// The properties of a sentence that determine what it replaces.
#[derive(Clone, Debug, Default)]
pub struct SentenceTraits {
    /// The hashes of its terms, each once, sorted.
    terms: Vec<u64>,
    /// The terms that say where it holds: those without the answers and the words of answering.
    scope: BTreeSet<String>,
    /// What it is about, without endings: "comment" of "write code comments in English"; otherwise answers, if it names them.
    things: BTreeSet<String>,
    /// Whether it holds under a condition only.
    is_conditional: bool,
    /// Whether it states that it holds everywhere.
    is_general: bool,
    /// The questions that it answers, with the answers.
    answers: Vec<Answer>,
    /// How clearly it replaces an earlier rule that demands something, and one that forbids something.
    cues: [Option<Cue>; 2],
    /// Whether it forbids something.
    pub forbids: bool,
    /// How clearly it may change an earlier rule, if it only does that.
    doubt: Option<Cue>,
    /// Whether it sets no rule, and says that one no longer holds.
    only_ends: bool,
    /// The hashes of the terms that it negates: "no PostgreSQL".
    negated: Vec<u64>,
    /// The numbers that it names.
    figures: SentenceFigures,
    /// What it permits.
    permission: Permission,
    /// The verb with which it begins after words such as "never", with and without a last "e", if that identifies it.
    verb: Vec<u64>,
    /// Its clauses, which later sentences can change one by one. None if it has one clause without a reason.
    clauses: Vec<SentenceTraits>,
}

/// How much of a rule a later sentence replaces.
enum RuleReplacement {
    None,
    Part,
    Whole,
}

impl SentenceTraits {
    /// Parses a sentence.
    pub fn of(text: &str) -> SentenceTraits {
        let sentence = Sentence::read(text);
        let of_clause = |clause: &String| SentenceTraits::of_sentence(clause, &Sentence::read(clause));
        let clauses = sentence.clauses().iter().map(of_clause).collect();
        SentenceTraits {
            clauses,
            ..SentenceTraits::of_sentence(text, &sentence)
        }
    }

    fn of_sentence(text: &str, sentence: &Sentence) -> SentenceTraits {
        let mut terms = BTreeSet::new();
        for_each_term(text, |term| {
            if !is_of_frame(term) {
                terms.insert(term.to_string());
            }
        });
        let (answers, all_named) = answers_of(sentence);
        let last = all_named.iter().map(|(_, at)| *at).max();
        let mut scope = last.map_or_else(|| terms.clone(), |at| terms_before_remark(sentence, at, &terms));
        scope.retain(|term| {
            let names = |value: &str| value.split(' ').any(|word| word.starts_with(term.as_str()));
            !ANSWERING.contains(&term.as_str())
                && !all_named.iter().any(|(value, _)| names(value))
                && !answers.iter().any(|answer| names(&answer.value))
        });
        let mut hashes: Vec<u64> = terms.iter().map(|term| hash_of(term)).collect();
        hashes.sort_unstable();
        let cues = [false, true].map(|forbids| sentence.cue(forbids));
        SentenceTraits {
            is_conditional: sentence.has_any(&["when", "whenever", "if", "unless", "while"]),
            is_general: sentence.has_any(&["everywhere", "everything"]),
            answers,
            scope,
            things: things(sentence),
            forbids: sentence.has_any(NEGATIONS),
            doubt: None,
            only_ends: false,
            negated: sentence
                .negated()
                .flat_map(|at| term_hashes(sentence, at..at + 1))
                .collect(),
            permission: match cues[1] {
                Some(Cue::Clear) => Permission::of(sentence),
                _ => Permission::default(),
            },
            figures: SentenceFigures::of(sentence),
            terms: hashes,
            cues,
            verb: sentence
                .verb()
                .map_or_else(Vec::new, |at| verb_hashes(sentence.at(at))),
            clauses: Vec::new(),
        }
    }

    /// A sentence that sets no rule and replaces none, but may change one.
    pub fn of_doubt(text: &str) -> SentenceTraits {
        let sentence = Sentence::read(text);
        let traits = SentenceTraits::of_sentence(text, &sentence);
        // Without its quotations, it had a cue.
        let cue = match traits.negated.is_empty() {
            true => Cue::Faint,
            false => Cue::Negating,
        };
        SentenceTraits {
            doubt: sentence.doubt().or(Some(cue)),
            cues: [None; 2],
            ..traits
        }
    }

    /// A sentence that sets no rule, but has a cue that it changes one. Its cues count only together with most of the words
    /// of the earlier rule.
    pub fn of_change(text: &str) -> SentenceTraits {
        let sentence = Sentence::read(text);
        let traits = SentenceTraits::of_sentence(text, &sentence);
        SentenceTraits {
            cues: traits.cues.map(|cue| cue.and(Some(Cue::Faint))),
            only_ends: sentence.ends_something(),
            ..traits
        }
    }

    /// The number of terms that both have.
    fn common_terms(&self, other: &SentenceTraits) -> usize {
        let mut others = other.terms.iter().peekable();
        let is_common = |term: &&u64| {
            while others.next_if(|other| other < term).is_some() {}
            others.peek() == Some(term)
        };
        self.terms.iter().filter(is_common).count()
    }

    fn changes(&self) -> bool {
        self.cues.iter().any(Option::is_some)
    }

    /// Whether a later sentence may change this rule: it has another answer to the same question, negates what this one
    /// demands, or has at least two thirds of its words; a half or a fourth of them with a clearer cue, or one if it reads
    /// like a change.
    fn is_doubted_by(&self, later: &SentenceTraits) -> bool {
        if self.clauses.iter().any(|clause| clause.is_doubted_by(later)) {
            return true;
        }
        let common = self.common_terms(later);
        let has_part = |part: usize| common >= 1 && common * part >= self.terms.len();
        let has_enough = match later.doubt {
            Some(Cue::Learned) => common >= 1,
            Some(Cue::Clear) => has_part(2),
            Some(Cue::Negating) => false,
            Some(Cue::Faint) => common >= 2 && common * 3 >= self.terms.len() * 2,
            None if later.is_exception_to(self) => has_part(2),
            None => later.only_ends && has_part(4),
        };
        let is_negated = !self.forbids && later.negated.iter().any(|term| self.has_term(term));
        // "My German class starts again" changes no language.
        let is_same_subject =
            common >= 1 || later.scope.is_empty() || later.scope == self.scope || self.is_general;
        let is_contradicted = || later.doubt.is_some() && is_same_subject && self.is_contradicted_by(later);
        self.doubt.is_none() && (has_enough || is_negated || is_contradicted())
    }

    /// Whether it permits only a part of what an earlier rule forbids.
    fn is_exception_to(&self, rule: &SentenceTraits) -> bool {
        rule.forbids && self.permission.is_partial(|term| rule.has_term(term))
    }

    /// Whether a later sentence names things, none of which this one is about. One that names none is about answers.
    fn is_about_others(&self, later: &SentenceTraits) -> bool {
        let is_shared = |thing: &String| match self.things.is_empty() {
            true => thing == ANSWERS,
            false => self.things.contains(thing),
        };
        !later.is_general && !later.things.is_empty() && !later.things.iter().any(is_shared)
    }

    fn is_contradicted_by(&self, later: &SentenceTraits) -> bool {
        self.contradictions(later).next().is_some()
    }

    /// The answers that cannot hold together with a later sentence.
    fn contradictions<'a>(&'a self, later: &'a SentenceTraits) -> impl Iterator<Item = &'a Answer> {
        let contradicted = |answer: &&Answer| later.answers.iter().any(|now| answer.contradicts(now));
        self.answers.iter().filter(contradicted)
    }

    /// How much of this rule a later sentence replaces: a rule with several clauses as a whole only if it replaces each.
    fn replacement(&self, later: &SentenceTraits) -> RuleReplacement {
        let clauses = match &self.clauses[..] {
            clauses @ [_, _, ..] => clauses,
            _ => std::slice::from_ref(self),
        };
        let is_named = |clause: &SentenceTraits| clause.verb.iter().any(|verb| later.has_term(verb));
        // "You can restart the server" does not permit to stop it.
        let names_one = clauses.len() > 1 && clauses.iter().any(is_named);
        let is_covered = |clause: &&SentenceTraits| {
            clause.is_overruled_by(later) && (!names_one || clause.verb.is_empty() || is_named(clause))
        };
        match clauses.iter().filter(is_covered).count() {
            covered if covered == clauses.len() => RuleReplacement::Whole,
            0 if !self.has_other_figure_in(later) => RuleReplacement::None,
            _ => RuleReplacement::Part,
        }
    }

    /// Whether a later sentence with a cue has another figure for the same thing.
    fn has_other_figure_in(&self, later: &SentenceTraits) -> bool {
        let is_cued = later.doubt.is_some() || later.changes();
        let is_common = |term: &u64| self.has_term(term) && later.has_term(term);
        is_cued && self.doubt.is_none() && later.figures.change(&self.figures, is_common)
    }

    fn has_term(&self, term: &u64) -> bool {
        self.terms.binary_search(term).is_ok()
    }

    /// Whether a later sentence replaces this one, as a whole.
    fn is_overruled_by(&self, later: &SentenceTraits) -> bool {
        if later.doubt.is_some() || later.is_exception_to(self) {
            return false;
        }
        // An answer for some things only does not replace the one for all, or for others.
        let is_for_all = later.is_general && later.scope.is_empty();
        let holds_elsewhere =
            later.scope != self.scope && !is_for_all || later.is_conditional && !self.is_conditional;
        let contradicts = |varies| self.contradictions(later).any(|answer| answer.varies() == varies);
        let replaces =
            contradicts(false) && later.changes() || self.is_contradicted_by(later) && !holds_elsewhere;
        if self.is_about_others(later) && (!self.things.is_empty() || self.is_contradicted_by(later)) {
            return false;
        }
        if replaces {
            return true;
        }
        let Some(cue) = later.cues[usize::from(self.forbids)] else {
            return false;
        };
        if self.terms.is_empty() {
            return false;
        }
        let common = self.common_terms(later);
        let shorter = self.terms.len().min(later.terms.len());
        let missing = self.terms.len() - common;
        (cue == Cue::Clear && common * 2 >= self.terms.len())
            || (self.forbids != later.forbids && common >= 2 && common * 2 >= shorter)
            || (common >= 2 && common * 3 >= shorter * 2 && missing <= 2)
    }
}

/// The answers of the reader, as what a rule is about.
const ANSWERS: &str = "answer";

/// See [`SentenceTraits::verb`]. The terms of "delete" and "deleting" differ by an "e".
fn verb_hashes(verb: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    for_each_term(verb, |term| {
        if !is_of_frame(term) {
            hashes = [term, term.strip_suffix('e').unwrap_or(term)]
                .map(hash_of)
                .to_vec();
        }
    });
    hashes
}

/// See [`SentenceTraits::things`].
fn things(sentence: &Sentence) -> BTreeSet<String> {
    const OTHERS: [&str; 8] = [
        "changelog", "chat", "code", "customers", "documentation", "readme", "ui", "website",
    ];
    const ANSWERED: [&str; 4] = ["answer", "respond", "speak", "talk"];
    let (mut things, mut answers) = (BTreeSet::new(), false);
    for at in 0..sentence.words.len() {
        let word = sentence.at(at);
        // "YAML files".
        let of_files = is_in(&["file", "files"], sentence.at(at + 1))
            && !is_in(&["all", "every", "each", "the", "new"], word);
        let is_answer = ANSWERING.contains(&word) || ANSWERED.contains(&word);
        answers |= is_answer && (ANSWERED.contains(&word) || sentence.is(THING, at));
        if of_files || !is_answer && (sentence.is(THING, at) || is_in(&OTHERS, word)) {
            let word = word.replace('-', "");
            things.insert(word.strip_suffix('s').unwrap_or(&word).to_string());
        }
    }
    if things.is_empty() && answers {
        things.insert(ANSWERS.to_string());
    }
    things
}

/// The terms without those of a remark after the clause of the answer at an index: "in German, my team reads it". A
/// clause that begins with a preposition says where the answer holds.
fn terms_before_remark(sentence: &Sentence, at: usize, terms: &BTreeSet<String>) -> BTreeSet<String> {
    const PLACES: &[&str] = &["in", "for", "on", "to", "within", "inside", "at", "when", "if"];
    let is_remark = |index: &usize| sentence.words[*index].fresh && !PLACES.contains(&sentence.at(*index));
    let Some(remark) = (at + 1..sentence.words.len()).find(is_remark) else {
        return terms.clone();
    };
    let mut kept = BTreeSet::new();
    for_each_term(sentence.text_before(remark), |term| {
        kept.insert(term.to_string());
    });
    kept.retain(|term| terms.contains(term));
    kept
}

/// How sentences change earlier ones.
pub struct RuleChanges {
    /// For each sentence, the later one that replaces it.
    pub replaced: Vec<Option<usize>>,
    /// For each sentence, the earlier rules that it may change.
    pub changed: Vec<Vec<usize>>,
    /// Whether a later sentence has another answer or figure for each, which then certainly is a rule.
    pub has_new_value: Vec<bool>,
}

/// How these sentences, given oldest first, change earlier ones. One that sets no rule counts as a rule if it replaces
/// one.
pub fn rule_changes(claims: &[SentenceTraits], is_rule: impl Fn(usize) -> bool) -> RuleChanges {
    let mut changes = RuleChanges {
        replaced: vec![None; claims.len()],
        changed: vec![Vec::new(); claims.len()],
        has_new_value: vec![false; claims.len()],
    };
    let mut replaces = vec![false; claims.len()];
    let mut by_term: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut by_question: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let mut earlier: BTreeSet<usize> = BTreeSet::new();
        for answer in &claim.answers {
            earlier.extend(newest(by_question.get(&answer.question), MAX_COMPARED));
            by_question.entry(answer.question).or_default().push(at);
        }
        for term in claim.terms.iter().chain(&claim.figures.numbers()) {
            let has_cue = claim.doubt.is_some_and(|cue| cue != Cue::Negating);
            if claim.changes() || has_cue || claim.negated.contains(term) {
                let most = if claim.doubt.is_some() {
                    MAX_DOUBTED
                } else {
                    MAX_COMPARED
                };
                earlier.extend(newest(by_term.get(term), most));
            }
            by_term.entry(*term).or_default().push(at);
        }
        earlier.retain(|other| *other < at && (is_rule(*other) || replaces[*other]));
        for other in earlier {
            if changes.replaced[other].is_some() {
                continue;
            }
            let replacement = claims[other].replacement(claim);
            match replacement {
                RuleReplacement::Whole => {
                    changes.replaced[other] = Some(at);
                    replaces[at] = true;
                }
                RuleReplacement::None if !claims[other].is_doubted_by(claim) => {}
                _ => changes.changed[at].push(other),
            }
            changes.has_new_value[other] |= matches!(replacement, RuleReplacement::Part)
                && (claims[other].is_contradicted_by(claim) || claims[other].has_other_figure_in(claim));
        }
    }
    changes
}

/// Maximum number of earlier rules to compare per word.
const MAX_COMPARED: usize = 256;

/// The same for a sentence that may change a rule, of which there are more.
const MAX_DOUBTED: usize = 32;

fn newest(places: Option<&Vec<usize>>, most: usize) -> impl Iterator<Item = usize> + '_ {
    places
        .into_iter()
        .flat_map(move |places| places.iter().rev().take(most).copied())
}
