//! Atoms and exchanges: what may be cut where.
//!
//! An atom is the smallest piece that may leave the view: a user message; a reply, which is one assistant
//! message with all results of its tool calls; an open loop, which is everything since the last user message
//! when reasoning is part of it. An exchange begins with a user message that does not directly follow another; until it
//! is answered, with what happened ahead of it since the newest reply.
//! System messages are neither: they stay where they are.

use super::message::{Category, Role};
use super::session::{Session, Traits};
use super::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// One message of a view as far as cutting goes.
#[derive(Clone, Debug)]
struct Piece {
    traits: Traits,
    /// Only calls and results have one.
    ids: Option<Box<Ids>>,
}

/// What binds calls and results.
#[derive(Clone, Debug)]
struct Ids {
    /// Ids of the calls that it makes.
    calls: Vec<String>,
    /// Id of the call that it answers.
    answers: Option<String>,
}

/// Where a view may be cut.
#[derive(Debug)]
pub struct Cuts {
    /// For each item: number of its atom; none for system messages.
    atoms: Vec<Option<usize>>,
    /// The same, an open loop in its replies.
    replies: Vec<Option<usize>>,
    /// For each item: whether an exchange begins with it.
    begins: Vec<bool>,
    /// For each item: whether it is a user's message or a summary, so that a view may begin with it.
    opens: Vec<bool>,
    /// For each item: the first item of any atom that a cut there would part, or the item itself.
    parted: Vec<usize>,
}

impl Cuts {
    /// Looks at a view.
    pub fn of(session: &Session, view: &View) -> Cuts {
        let pieces: Vec<Option<Piece>> = view.items.iter().map(|item| piece(session, item)).collect();
        let stays: Vec<bool> = view
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
            // What merely happened is no turn: it neither begins an exchange nor keeps one from beginning.
            if piece.traits.role == Role::User && piece.traits.category == Category::Context {
                continue;
            }
            begins[index] = piece.traits.role == Role::User && before != Some(Role::User);
            before = Some(piece.traits.role);
        }
        lead_with_news(&pieces, &mut begins);
        let traits = |index: usize| pieces[index].as_ref().map(|piece: &Piece| piece.traits);
        let is_context = |index: usize| traits(index).is_some_and(|it| it.category == Category::Context);
        let asks =
            |index: &usize| traits(*index).is_some_and(|it| it.role == Role::User) && !is_context(*index);
        // A context message is within an exchange, unless there are no others.
        if (0..opens.len()).any(|index| asks(&index)) {
            (0..opens.len()).for_each(|index| opens[index] &= !is_context(index) || begins[index]);
        }
        let replies = number(&pieces, &stays);
        let atoms = closed(&pieces, &replies);
        let parted = parted(&atoms);
        Cuts {
            atoms,
            replies,
            begins,
            opens,
            parted,
        }
    }

    /// Number of exchanges; messages before the first beginning are one more, the oldest.
    pub fn exchanges(&self) -> usize {
        let leading = match self.begins.iter().position(|begins| *begins) {
            Some(first) => self.atoms[..first].iter().any(Option::is_some),
            None => self.atoms.iter().any(Option::is_some),
        };
        self.begins.iter().filter(|begins| **begins).count() + usize::from(leading)
    }

    /// Index of the item with which the `keep` newest exchanges begin; none when there are no more than that.
    /// Where a result came so late that the cut would part it from its call, more exchanges are kept.
    pub fn last_exchanges(&self, keep: usize) -> Option<usize> {
        let beginnings: Vec<usize> = (0..self.begins.len())
            .filter(|index| self.begins[*index])
            .collect();
        let nth = beginnings.len().checked_sub(keep)?;
        let whole = |cut: &&usize| self.parted[**cut] == **cut;
        let cut = *beginnings.get(..=nth)?.iter().rev().find(whole)?;
        self.atoms[..cut].iter().any(Option::is_some).then_some(cut)
    }

    /// Index of the item with which at least the `keep` newest messages begin: the cut moves outward until no
    /// atom is parted and the cut is before a user's message. None when everything is kept.
    pub fn last_messages(&self, keep: usize) -> Option<usize> {
        let movable: Vec<usize> = (0..self.atoms.len())
            .filter(|index| self.atoms[*index].is_some())
            .collect();
        let nth = movable.len().checked_sub(keep)?;
        self.outward(*movable.get(nth)?)
    }

    /// The cut at this item, moved outward to where it may be; none when nothing would be left to go.
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

    /// Whether an exchange begins with this item.
    pub fn begins(&self, item: usize) -> bool {
        self.begins[item]
    }

    /// Whether a cut ahead of this item parts no atom; at the end there is nothing to part.
    pub fn is_whole(&self, cut: usize) -> bool {
        self.parted.get(cut).is_none_or(|first| *first == cut)
    }

    /// The items with which exchanges begin, oldest first; messages before the first beginning are an exchange of
    /// their own. A beginning at which a cut would part an atom is none, so that such exchanges are one.
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

    /// The same where an open loop may be cut between its replies: such a cut stands before a reply with reasoning.
    pub fn reply(&self, item: usize) -> Option<usize> {
        self.replies[item]
    }
}

/// What happened since the newest reply goes with the question that follows it: the model has seen neither, and whoever
/// keeps the one must not lose the other.
fn lead_with_news(pieces: &[Option<Piece>], begins: &mut [bool]) {
    let said = |piece: &Option<Piece>| {
        piece
            .as_ref()
            .is_some_and(|piece| piece.traits.role == Role::Assistant)
    };
    let since = pieces.iter().rposition(said).map_or(0, |newest| newest + 1);
    let happened = |piece: &Option<Piece>| {
        piece.as_ref().is_some_and(|piece| {
            piece.traits.role == Role::User && piece.traits.category == Category::Context
        })
    };
    let news = pieces[since..].iter().position(happened).map(|at| since + at);
    let question = (since..begins.len()).find(|index| begins[*index]);
    if let (Some(news), Some(question)) = (news, question)
        && news < question
    {
        begins[news] = true;
        begins[question] = false;
    }
}

/// See [`Cuts::parted`].
fn parted(atoms: &[Option<usize>]) -> Vec<usize> {
    // There are no more atoms than items.
    let mut first: Vec<usize> = vec![atoms.len(); atoms.len()];
    for (index, atom) in atoms.iter().enumerate() {
        if let Some(atom) = *atom {
            first[atom] = first[atom].min(index);
        }
    }
    // From the end: what is kept behind a cut belongs to atoms that begin at the least of these.
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

fn is_system(piece: &Piece) -> bool {
    piece.traits.is_system()
}

fn piece(session: &Session, item: &Item) -> Option<Piece> {
    let traits = item.traits(session)?;
    // Only calls and results need a second look at the line.
    let mut ids = None;
    if traits.calls || traits.role == Role::Tool {
        let message = item.message(session)?;
        let calls = message.tool_calls().into_iter();
        let answers = message.tool_call_id().map(|id| id.into_owned());
        ids = Some(Box::new(Ids {
            calls: calls.map(|call| call.id.into_owned()).collect(),
            answers: answers.filter(|id| !id.is_empty()),
        }));
    }
    Some(Piece { traits, ids })
}

/// Numbers the atoms. A result belongs to the nearest earlier call of its id that has no result yet, without an
/// id to the message that called last; a result without any call is an atom of its own.
fn number(pieces: &[Option<Piece>], stays: &[bool]) -> Vec<Option<usize>> {
    let mut atoms: Vec<Option<usize>> = vec![None; pieces.len()];
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut last_caller = None;
    let mut next = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece.as_ref().filter(|_| !stays[index]) else {
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

/// The atoms, an open loop with reasoning as one.
fn closed(pieces: &[Option<Piece>], replies: &[Option<usize>]) -> Vec<Option<usize>> {
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
        // One piece, and with it whatever it holds half of: a late result brings its call.
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
    use crate::error::Place;
    use crate::model::record::Record;

    fn session(lines: &[&str]) -> Session {
        let mut session = Session::default();
        for (index, line) in lines.iter().enumerate() {
            let full = format!("{line}\n");
            session.push(&Record::parse(
                full.as_bytes(),
                Place {
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
    fn what_happened_goes_with_the_question_until_it_is_answered() {
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
    fn a_cut_never_parts_a_call_from_its_result() {
        let cuts = cuts(&[USER, REPLY, USER, CALL, RESULT, REPLY]);
        assert_eq!(cuts.last_messages(2), Some(2));
        assert_eq!(cuts.last_messages(1), Some(2));
        assert_eq!(cuts.last_messages(5), None);
        assert_eq!(cuts.last_messages(9), None);
    }

    #[test]
    fn a_category_takes_no_reply_and_no_result_out_of_its_atom() {
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
    fn ids_that_repeat_pair_with_the_nearest_call() {
        let cuts = cuts(&[USER, CALL, RESULT, USER, CALL, RESULT]);
        assert_eq!(cuts.atom(1), cuts.atom(2));
        assert_eq!(cuts.atom(4), cuts.atom(5));
        assert_ne!(cuts.atom(1), cuts.atom(4));
        assert_eq!(cuts.last_exchanges(1), Some(3));
    }

    #[test]
    fn late_results_of_a_repeated_id_are_not_parted() {
        // Two calls with one id, both answered late: whichever result belongs to which, no cut may fall between.
        let cuts = cuts(&[USER, CALL, CALL, RESULT, RESULT, USER]);
        assert_eq!(cuts.atom(2), cuts.atom(3));
        assert_eq!(cuts.atom(1), cuts.atom(4));
    }

    #[test]
    fn starts_of_exchanges_are_places_to_cut() {
        let here = cuts(&[RULES, REPLY, USER, CALL, USER, RESULT, USER, USER, REPLY]);
        // The result came after the next question: both exchanges are one.
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
