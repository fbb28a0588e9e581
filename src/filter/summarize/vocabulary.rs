//! The words by which standing instructions are known.

/// Verbs that begin an instruction to somebody who writes, calculates, programs or runs errands.
#[rustfmt::skip]
pub(super) const IMPERATIVES: &[&str] = &[
    "abbreviate", "add", "address", "adopt", "aim", "always", "annotate", "answer", "append", "apply", "ask",
    "assume", "attach", "avoid", "clarify", "back", "base", "be", "begin", "bold", "book", "break", "bring", "build",
    "buy", "calculate", "call", "capitalise", "capitalize", "change", "check", "choose", "cite", "close",
    "comment", "commit", "compare", "confirm", "consult", "contact", "convert", "copy", "correct", "count",
    "create", "date", "delete", "deploy", "describe", "discuss", "display", "document", "double-check",
    "draft", "draw", "edit", "email", "end", "ensure", "escape", "estimate", "explain", "express", "favour",
    "fetch", "file", "finish", "flag", "follow", "format", "generate", "give", "go", "greet", "group", "hide",
    "highlight", "ignore", "include", "indent", "inform", "insert", "install", "justify", "keep", "label",
    "lead", "leave", "let", "link", "list", "log", "look", "mail", "make", "mark", "mention", "merge",
    "modify", "move", "name", "note", "notify", "number", "offer", "omit", "open", "order", "output", "pause",
    "pay", "phrase", "pick", "place", "plan", "point", "post", "prefer", "prefix", "present", "print",
    "proceed", "propose", "provide", "publish", "push", "put", "quote", "read", "recommend", "record",
    "refer", "refrain", "refuse", "reject", "remember", "remind", "remove", "rename", "repeat", "reply",
    "report", "request", "respect", "respond", "restate", "return", "reuse", "reveal", "review", "rewrite",
    "round", "run", "save", "say", "schedule", "search", "send", "separate", "set", "share", "show", "sign",
    "skip", "sort", "speak", "specify", "spell", "split", "start", "state", "stay", "stick", "stop", "store",
    "suggest", "summarise", "summarize", "take", "talk", "tell", "test", "touch", "track", "translate",
    "treat", "try", "update", "upload", "use", "validate", "verify", "wait", "warn", "work", "wrap", "write",
];

/// Verbs of form that set a manner when they take one of [`MANNERS`].
#[rustfmt::skip]
pub(super) const FORM_VERBS: &[&str] = &[
    "write", "reply", "answer", "respond", "end", "begin", "start", "format", "use", "prefer", "cite", "call",
    "keep",
];

/// What follows a verb of form in a standing instruction.
#[rustfmt::skip]
pub(super) const MANNERS: &[&str] = &[
    "every", "all", "each", "in", "with", "your", "only",
];

/// Words that make one instruction out of many occasions.
#[rustfmt::skip]
pub(super) const CUES: &[&str] = &[
    "every", "each", "any", "always", "never", "only", "unless", "whenever", "ever", "instead", "default",
    "everywhere", "throughout",
];

/// Words that tie an instruction to one occasion.
#[rustfmt::skip]
pub(super) const ONE_OFF: &[&str] = &[
    "now", "again", "then", "today", "tomorrow", "tonight", "back", "once", "soon", "monday", "tuesday",
    "wednesday", "thursday", "friday", "saturday", "sunday",
];

/// What behind `always`, `never` or `don't` shows that nobody is being instructed.
#[rustfmt::skip]
pub(super) const NOT_ORDERED: &[&str] = &[
    "a", "am", "an", "are", "as", "been", "bother", "care", "did", "fear", "feel", "get", "had", "has",
    "have", "he", "heard", "i", "in", "is", "it", "knew", "know", "late", "mind", "need", "once", "ready",
    "recall", "saw", "see", "seen", "she", "sure", "that", "the", "there", "they", "think", "to", "too",
    "understand", "want", "was", "we", "were", "worry", "you",
];

/// What behind `keep` makes a farewell or a cheer of it.
#[rustfmt::skip]
pub(super) const NOT_KEPT: &[&str] = &[
    "going", "on", "up", "trying", "calm", "well", "smiling", "safe", "cool",
];

/// What `no` begins without forbidding anything.
#[rustfmt::skip]
pub(super) const NOT_FORBIDDEN: &[&str] = &[
    "problem", "problems", "idea", "thanks", "thank", "worries", "one", "need", "rush", "way", "luck",
    "longer", "matter", "doubt", "wonder", "i", "it", "we", "you", "he", "she", "they", "that", "this", "not",
    "but",
];

/// What a sentence about things at hand begins with, rather than about all of a kind.
#[rustfmt::skip]
pub(super) const AT_HAND: &[&str] = &[
    "a", "an", "he", "her", "his", "i", "if", "it", "its", "maybe", "my", "our", "perhaps", "she", "somebody",
    "someone", "that", "the", "their", "there", "these", "they", "this", "those", "we", "what", "when", "who",
    "you", "and", "but", "so", "which", "how", "why", "where", "things", "us",
];

/// Verbs behind `you must`, `you should` and `you may` that guess or marvel.
#[rustfmt::skip]
pub(super) const NOT_DEMANDED: &[&str] = &[
    "be", "have", "see", "know", "feel", "believe", "come", "try", "imagine", "want", "think", "remember",
    "go", "like", "need", "get",
];

/// Whether a list holds a word.
pub(super) fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}
