//! Message groups (atoms) and exchanges: the positions at which a view may be cut.
//!
//! An atom is the smallest unit that may be dropped: a user message; an assistant message with all results of its tool
//! calls; or an open loop, which is everything since the last user message if it contains reasoning. An exchange starts
//! with a user message that does not directly follow another one; while it is unanswered, it includes the context
//! messages since the latest reply or question. System messages belong to neither and are kept.

use super::message::{Category, Role};
use super::session::{Session, Traits};
use super::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// The properties of a message that matter for cutting.
#[derive(Clone, Debug)]
struct CutTraits {
    traits: Traits,
    /// Only present for tool calls and results.
    ids: Option<Box<CallIdIndex>>,
}

/// Ids that link tool calls and results.
#[derive(Clone, Debug)]
struct CallIdIndex {
    /// Ids of the message's tool calls.
    calls: Vec<String>,
    /// Id of the call that the message answers.
    answers: Option<String>,
}

/// The positions at which a view may be cut.
#[derive(Debug)]
pub struct Cuts {
    /// For each item: number of its atom; `None` for system messages.
    atoms: Vec<Option<usize>>,
    /// The same, with open loops split into their replies.
    replies: Vec<Option<usize>>,
    /// For each item: whether an exchange starts with it.
    begins: Vec<bool>,
    /// For each item: whether a view may start with it, because it is a user message or a summary.
    opens: Vec<bool>,
    /// For each item: the first item of any atom that a cut there would split, or the item itself.
    parted: Vec<usize>,
}

impl Cuts {
    /// Computes the cut positions of a view.
    pub fn of(session: &Session, view: &View) -> Cuts {
        let pieces: Vec<Option<CutTraits>> =
            view.items.iter().map(|item| cut_traits(session, item)).collect();
        let is_kept: Vec<bool> = view
            .items
            .iter()
            .zip(&pieces)
            .map(|(item, piece)| !matches!(item, Item::Summary(_)) && piece.as_ref().is_none_or(is_system))
            .collect();
        let mut begins = vec![false; pieces.len()];
        let mut opens = vec![false; pieces.len()];
        let mut before = None;
        for (index, piece) in pieces.iter().enumerate() {
            let Some(piece) = piece else {
                opens[index] = true; // a summary
                before = None;
                continue;
            };
            if is_system(piece) {
                continue;
            }
            opens[index] = piece.traits.role == Role::User;
            // A context message is not a turn: it neither starts an exchange nor prevents the next message from
            // starting one.
            if piece.traits.role == Role::User && piece.traits.category == Category::Context {
                continue;
            }
            begins[index] = piece.traits.role == Role::User && before != Some(Role::User);
            before = Some(piece.traits.role);
        }
        start_with_context(&pieces, &mut begins);
        let traits = |index: usize| pieces[index].as_ref().map(|piece: &CutTraits| piece.traits);
        let is_context = |index: usize| traits(index).is_some_and(|it| it.category == Category::Context);
        let asks =
            |index: &usize| traits(*index).is_some_and(|it| it.role == Role::User) && !is_context(*index);
        // A context message does not start a view, unless there are only context messages.
        if (0..opens.len()).any(|index| asks(&index)) {
            (0..opens.len()).for_each(|index| opens[index] &= !is_context(index) || begins[index]);
        }
        let replies = number(&pieces, &is_kept);
        let atoms = closed(&pieces, &replies);
        let parted = separated_atoms(&atoms);
        Cuts {
            atoms,
            replies,
            begins,
            opens,
            parted,
        }
    }

    /// Number of exchanges; messages before the first exchange count as one more.
    pub fn exchanges(&self) -> usize {
        let leading = match self.begins.iter().position(|begins| *begins) {
            Some(first) => self.atoms[..first].iter().any(Option::is_some),
            None => self.atoms.iter().any(Option::is_some),
        };
        self.begins.iter().filter(|begins| **begins).count() + usize::from(leading)
    }

    /// Index of the item that starts the `keep` newest exchanges; `None` if there are no more than that. Keeps more
    /// exchanges where a late result would otherwise be separated from its call.
    pub fn last_exchanges(&self, keep: usize) -> Option<usize> {
        let beginnings: Vec<usize> = (0..self.begins.len())
            .filter(|index| self.begins[*index])
            .collect();
        let nth = beginnings.len().checked_sub(keep)?;
        let whole = |cut: &&usize| self.parted[**cut] == **cut;
        let cut = *beginnings.get(..=nth)?.iter().rev().find(whole)?;
        self.atoms[..cut].iter().any(Option::is_some).then_some(cut)
    }

    /// Index of the item that starts at least the `keep` newest messages: moves the cut back until it splits no atom
    /// and precedes a user message. `None` if everything is kept.
    pub fn last_messages(&self, keep: usize) -> Option<usize> {
        let movable: Vec<usize> = (0..self.atoms.len())
            .filter(|index| self.atoms[*index].is_some())
            .collect();
        let nth = movable.len().checked_sub(keep)?;
        self.outward(*movable.get(nth)?)
    }

    /// Moves the cut back to an allowed position; `None` if nothing would be dropped.
    pub fn outward(&self, mut cut: usize) -> Option<usize> {
        loop {
            let parted = self.parted[cut];
            if parted == cut && self.opens[cut] {
                break;
            }
            cut = if parted < cut {
                parted
            } else {
                (0..cut).rev().find(|index| self.atoms[*index].is_some())?
            };
        }
        self.atoms[..cut].iter().any(Option::is_some).then_some(cut)
    }

    /// Whether an exchange starts with this item.
    pub fn begins(&self, item: usize) -> bool {
        self.begins[item]
    }

    /// Whether a cut before this item splits no atom; always true at the end.
    pub fn is_whole(&self, cut: usize) -> bool {
        self.parted.get(cut).is_none_or(|first| *first == cut)
    }

    /// Start items of all exchanges, oldest first; messages before the first exchange form an exchange of their own.
    /// Exchanges that share an atom count as one.
    pub fn exchange_starts(&self) -> Vec<usize> {
        let mut starts: Vec<usize> = (0..self.begins.len())
            .filter(|index| self.begins[*index] && self.is_whole(*index))
            .collect();
        let first = self.atoms.iter().position(Option::is_some);
        if let Some(first) = first.filter(|first| starts.first().is_none_or(|start| first < start)) {
            starts.insert(0, first);
        }
        starts
    }

    /// Number of the atom that an item belongs to; none for system messages and summaries.
    pub fn atom(&self, item: usize) -> Option<usize> {
        self.atoms[item]
    }

    /// As [`Self::atom`], but an open loop may be cut before each of its replies that has reasoning.
    pub fn reply(&self, item: usize) -> Option<usize> {
        self.replies[item]
    }
}

/// Makes the context messages since the latest reply or question part of the exchange that follows them: the model has seen
/// neither, so both are kept or dropped together.
fn start_with_context(pieces: &[Option<CutTraits>], begins: &mut [bool]) {
    let is_reply = |piece: &Option<CutTraits>| {
        piece
            .as_ref()
            .is_some_and(|piece| piece.traits.role == Role::Assistant)
    };
    let since = pieces.iter().rposition(is_reply).map_or(0, |newest| newest + 1);
    let is_user = |piece: &Option<CutTraits>, is_context: bool| {
        piece.as_ref().is_some_and(|piece| {
            piece.traits.role == Role::User && (piece.traits.category == Category::Context) == is_context
        })
    };
    let Some(question) = (since..begins.len()).rev().find(|index| begins[*index]) else {
        return;
    };
    // Dropping a reply before it does not give the context to an earlier question.
    let asked = pieces[since..question]
        .iter()
        .rposition(|piece| is_user(piece, false) && !piece.as_ref().is_some_and(is_system));
    let since = asked.map_or(since, |asked| since + asked + 1);
    if let Some(news) = pieces[since..question]
        .iter()
        .position(|piece| is_user(piece, true))
    {
        begins[since + news] = true;
        begins[question] = false;
    }
}

/// See [`Cuts::parted`].
fn separated_atoms(atoms: &[Option<usize>]) -> Vec<usize> {
    // There are at most as many atoms as items.
    let mut first: Vec<usize> = vec![atoms.len(); atoms.len()];
    for (index, atom) in atoms.iter().enumerate() {
        if let Some(atom) = *atom {
            first[atom] = first[atom].min(index);
        }
    }
    // Scan from the end: the items after a cut belong to atoms that start at `least` or later.
    let mut least = atoms.len();
    let mut parted: Vec<usize> = (0..atoms.len())
        .rev()
        .map(|index| {
            let begin = atoms[index].map_or(atoms.len(), |atom| first[atom]);
            least = least.min(begin);
            least.min(index)
        })
        .collect();
    parted.reverse();
    parted
}

fn is_system(piece: &CutTraits) -> bool {
    piece.traits.is_system()
}

fn cut_traits(session: &Session, item: &Item) -> Option<CutTraits> {
    let traits = item.traits(session)?;
    // Parse the line again only for calls and results.
    let mut ids = None;
    if traits.calls || traits.role == Role::Tool {
        let message = item.message(session)?;
        let calls = message.tool_calls().into_iter();
        let answers = message.tool_call_id().map(|id| id.into_owned());
        ids = Some(Box::new(CallIdIndex {
            calls: calls.map(|call| call.id.into_owned()).collect(),
            answers: answers.filter(|id| !id.is_empty()),
        }));
    }
    Some(CutTraits { traits, ids })
}

/// Numbers the atoms. A result belongs to the nearest earlier call with its id that has no result yet; without an id,
/// to the latest message with calls. A result without a call forms its own atom.
fn number(pieces: &[Option<CutTraits>], is_kept: &[bool]) -> Vec<Option<usize>> {
    let mut atoms: Vec<Option<usize>> = vec![None; pieces.len()];
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut last_caller = None;
    let mut next = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece.as_ref().filter(|_| !is_kept[index]) else {
            continue;
        };
        let ids = piece.ids.as_deref();
        let owner = match (piece.traits.role, ids.and_then(|ids| ids.answers.as_ref())) {
            (Role::Tool, Some(id)) => open.get_mut(id.as_str()).and_then(|callers| {
                if callers.len() > 1 {
                    callers.pop()
                } else {
                    callers.last().copied()
                }
            }),
            (Role::Tool, None) => last_caller,
            _ => None,
        };
        atoms[index] = Some(owner.unwrap_or_else(|| {
            next += 1;
            next - 1
        }));
        if piece.traits.calls {
            last_caller = atoms[index];
            for id in ids.iter().flat_map(|ids| &ids.calls) {
                open.entry(id).or_default().extend(atoms[index]);
            }
        } else if piece.traits.role == Role::User && piece.traits.category != Category::Context {
            last_caller = None;
        }
    }
    atoms
}

/// The atoms, with an open loop that has reasoning merged into one.
fn closed(pieces: &[Option<CutTraits>], replies: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut atoms = replies.to_vec();
    let last_user = pieces.iter().rposition(|piece| {
        piece
            .as_ref()
            .is_some_and(|p| p.traits.role == Role::User && !is_system(p))
    });
    let since = last_user.map_or(0, |index| index + 1);
    let reasons = pieces[since..]
        .iter()
        .flatten()
        .any(|piece| piece.traits.reasoning);
    if reasons {
        // Merge atoms that are partly in the loop: a late result includes its call.
        let joined: HashSet<usize> = atoms[since..].iter().flatten().copied().collect();
        if let Some(one) = joined.iter().min().copied() {
            for atom in atoms.iter_mut().flatten().filter(|atom| joined.contains(atom)) {
                *atom = one;
            }
        }
    }
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Position;
    use crate::model::record::Record;

    fn session(lines: &[&str]) -> Session {
        let mut session = Session::default();
        for (index, line) in lines.iter().enumerate() {
            let full = format!("{line}\n");
            session.push(&Record::parse(
                full.as_bytes(),
                Position {
                    line: index as u64 + 1,
                    offset: index as u64,
                },
            ));
        }
        session
    }

    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c","content":"r"}"#;
    const USER: &str = r#"{"role":"user","content":"u"}"#;
    const REPLY: &str = r#"{"role":"assistant","content":"a"}"#;
    const RULES: &str = r#"{"role":"system","content":"s"}"#;
    const EVENT: &str = r#"{"role":"user","content":"e","category":"context"}"#;

    fn cuts(lines: &[&str]) -> Cuts {
        let session = session(lines);
        let view = View::replay(&session);
        Cuts::of(&session, &view)
    }

    #[test]
    fn exchanges_begin_with_the_first_of_a_run_of_user_messages() {
        let cuts = cuts(&[RULES, USER, USER, CALL, RESULT, REPLY, EVENT, USER, REPLY]);
        assert_eq!(cuts.exchanges(), 2);
        assert_eq!(cuts.last_exchanges(1), Some(7));
        assert_eq!(cuts.last_exchanges(2), None);
    }

    #[test]
    fn context_belongs_to_the_exchange_until_the_answer() {
        let log = [USER, REPLY, EVENT, RULES, EVENT, USER, USER, REPLY];
        let starts = |end: usize| cuts(&log[..end]).exchange_starts();
        assert_eq!(starts(3), [0], "it is part of the newest exchange");
        assert_eq!(starts(6), [0, 2]);
        assert_eq!(starts(7), [0, 2]);
        assert_eq!(cuts(&log[..7]).last_exchanges(1), Some(2));
        assert_eq!(starts(8), [0, 5], "the model has seen it");
        assert_eq!(cuts(&[EVENT, USER]).exchange_starts(), [0]);
        assert_eq!(cuts(&[USER, EVENT, USER]).exchange_starts(), [0]);
    }

    #[test]
    fn a_dropped_reply_does_not_move_context_to_an_earlier_question() {
        assert_eq!(
            cuts(&[USER, REPLY, EVENT, RESULT, USER]).exchange_starts(),
            [0, 2]
        );
        assert_eq!(cuts(&[USER, EVENT, RESULT, USER]).exchange_starts(), [0, 1]);
        let rules = RULES
            .replace("system", "user")
            .replacen('{', r#"{"category":"system","#, 1);
        assert_eq!(
            cuts(&[USER, REPLY, EVENT, &rules, USER]).exchange_starts(),
            [0, 2]
        );
    }

    #[test]
    fn a_cut_never_separates_a_call_from_its_result() {
        let cuts = cuts(&[USER, REPLY, USER, CALL, RESULT, REPLY]);
        assert_eq!(cuts.last_messages(2), Some(2));
        assert_eq!(cuts.last_messages(1), Some(2));
        assert_eq!(cuts.last_messages(5), None);
        assert_eq!(cuts.last_messages(9), None);
    }

    #[test]
    fn a_category_separates_no_reply_or_result_from_its_atom() {
        let system = |line: &str| line.replacen('{', r#"{"category":"system","#, 1);
        let (call, result, reply) = (system(CALL), system(RESULT), system(REPLY));
        for (call, result) in [(CALL, result.as_str()), (call.as_str(), RESULT), (&call, &result)] {
            let cuts = cuts(&[RULES, &reply, USER, call, result, USER, REPLY]);
            assert_eq!(cuts.atom(3), cuts.atom(4));
            assert!(cuts.atom(0).is_none() && cuts.atom(1).is_some());
            assert_eq!(cuts.last_messages(3), Some(2));
            assert!(!cuts.is_whole(4));
        }
    }

    #[test]
    fn repeated_ids_pair_with_the_nearest_call() {
        let cuts = cuts(&[USER, CALL, RESULT, USER, CALL, RESULT]);
        assert_eq!(cuts.atom(1), cuts.atom(2));
        assert_eq!(cuts.atom(4), cuts.atom(5));
        assert_ne!(cuts.atom(1), cuts.atom(4));
        assert_eq!(cuts.last_exchanges(1), Some(3));
    }

    #[test]
    fn late_results_of_a_repeated_id_are_not_separated() {
        // Two calls share an id and are both answered late; no cut may separate them, whichever result belongs to
        // which.
        let cuts = cuts(&[USER, CALL, CALL, RESULT, RESULT, USER]);
        assert_eq!(cuts.atom(2), cuts.atom(3));
        assert_eq!(cuts.atom(1), cuts.atom(4));
    }

    #[test]
    fn starts_of_exchanges_are_cut_points() {
        let here = cuts(&[RULES, REPLY, USER, CALL, USER, RESULT, USER, USER, REPLY]);
        // The result follows the next question, so both exchanges count as one.
        assert_eq!(here.exchange_starts(), [1, 2, 6]);
        assert!(here.is_whole(2) && !here.is_whole(4) && here.is_whole(9));
        assert_eq!(cuts(&[RULES]).exchange_starts(), Vec::<usize>::new());
    }

    #[test]
    fn without_a_user_there_is_one_exchange() {
        let cuts = cuts(&[RULES, REPLY, CALL, RESULT]);
        assert_eq!(cuts.exchanges(), 1);
        assert_eq!(cuts.last_exchanges(1), None);
    }
}
