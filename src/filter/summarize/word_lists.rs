//! Word lists for the detection of standing instructions.

/// Verbs that begin an instruction for writing, calculating, programming or errands.
#[rustfmt::skip]
pub(super) const IMPERATIVES: &[&str] = &[
    "abbreviate", "accept", "acknowledge", "adapt", "add", "address", "adjust", "adopt", "advise", "aim",
    "align", "allow", "alphabetise", "alphabetize", "always", "analyse", "analyze", "annotate", "announce",
    "anonymise", "anonymize", "answer", "apologise", "apologize", "append", "apply", "approve", "archive",
    "argue", "arrange", "ask", "assess", "assign", "assume", "attach", "attribute", "avoid", "back", "bake",
    "balance", "base", "bcc", "be", "bear", "begin", "benchmark", "bill", "block", "boil", "bold", "book",
    "break", "bring", "build", "bump", "bundle", "buy", "calculate", "call", "calm", "cancel", "cap",
    "capitalise", "capitalize", "capture", "cast", "cc", "challenge", "change", "charge", "check", "choose",
    "cite", "clarify", "clean", "clear", "close", "coach", "collect", "combine", "comment", "commit",
    "compare", "compile", "complete", "compress", "concatenate", "conclude", "configure", "confirm",
    "consider", "construct", "consult", "contact", "continue", "convert", "convey", "cook", "copy", "correct",
    "count", "cover", "create", "credit", "critique", "crop", "cross-check", "cut", "date", "debate",
    "declare", "decline", "deduct", "deduplicate", "default", "defer", "define", "delete", "deliver",
    "demonstrate", "depict", "deploy", "describe", "design", "detail", "detect", "determine", "develop",
    "direct", "disable", "discard", "discuss", "display", "distinguish", "divide", "document", "double",
    "double-check", "download", "draft", "draw", "drop", "duplicate", "edit", "elaborate", "email",
    "emphasise", "emphasize", "enable", "encode", "encourage", "encrypt", "end", "enforce", "engage",
    "ensure", "enter", "entertain", "enumerate", "err", "escalate", "escape", "establish", "estimate",
    "evaluate", "exaggerate", "examine", "exclude", "execute", "expand", "explain", "export", "express",
    "extract", "fact-check", "favor", "favour", "fetch", "file", "fill", "filter", "find", "finish", "fix",
    "flag", "flatten", "focus", "follow", "force", "format", "forward", "frame", "freeze", "fund", "gather",
    "generate", "give", "go", "grade", "greet", "group", "guard", "guide", "hand", "handle", "hedge", "help",
    "hide", "highlight", "hint", "hold", "honor", "honour", "hyphenate", "identify", "ignore", "illustrate",
    "imagine", "imitate", "implement", "import", "improvise", "include", "increase", "indent", "indicate",
    "inform", "initialise", "initialize", "insert", "inspect", "install", "instruct", "integrate",
    "interpret", "interrupt", "introduce", "invent", "investigate", "invoice", "isolate", "italicise",
    "italicize", "join", "judge", "justify", "keep", "label", "lay", "lead", "lean", "leave", "let", "limit",
    "link", "lint", "list", "listen", "load", "locate", "lock", "log", "look", "lower", "mail", "maintain",
    "make", "map", "mark", "mask", "match", "maximise", "maximize", "measure", "mention", "merge", "minimise",
    "minimize", "mirror", "mock", "modify", "monitor", "move", "mute", "name", "narrate", "negotiate",
    "normalise", "normalize", "note", "notify", "nudge", "number", "obey", "observe", "offer", "omit", "open",
    "optimise", "optimize", "order", "organise", "organize", "outline", "output", "override", "paraphrase",
    "parse", "pass", "paste", "pause", "pay", "perform", "persuade", "phrase", "pick", "ping", "place",
    "plan", "play", "point", "polish", "portray", "post", "praise", "preface", "prefer", "prefix", "prepare",
    "present", "preserve", "pretend", "preview", "print", "prioritise", "prioritize", "proceed", "process",
    "produce", "profile", "prompt", "pronounce", "proofread", "propose", "protect", "prove", "provide",
    "publish", "pull", "punctuate", "purge", "push", "put", "query", "queue", "quit", "quiz", "quote",
    "raise", "rank", "rate", "read", "reassure", "rebuild", "recalculate", "recap", "recheck", "recite",
    "recommend", "recompile", "reconcile", "record", "redact", "redeploy", "redirect", "reduce", "refactor",
    "refer", "reference", "reformat", "reformulate", "refrain", "refuse", "regenerate", "register", "reject",
    "relate", "relay", "release", "rely", "remain", "remember", "remind", "remove", "rename", "render",
    "reorder", "repeat", "rephrase", "replace", "reply", "report", "request", "rerun", "reserve", "reset",
    "resolve", "respect", "respond", "restart", "restate", "restrict", "retain", "retry", "return", "reuse",
    "reveal", "revert", "review", "rewrite", "rhyme", "roleplay", "roll", "round", "run", "sanitise",
    "sanitize", "save", "say", "scale", "scan", "schedule", "score", "search", "seek", "select", "send",
    "separate", "serve", "set", "settle", "share", "shorten", "show", "side", "sign", "simplify", "simulate", "sing",
    "sketch", "skip", "slow", "snapshot", "soften", "solve", "sort", "sound", "source", "spare", "speak",
    "specify", "speed", "spell", "spend", "split", "squash", "stage", "standardise", "standardize", "start",
    "state", "stay", "steer", "stick", "stop", "store", "stress", "strip", "structure", "stub", "study",
    "style", "submit", "substitute", "suggest", "summarise", "summarize", "supply", "support", "suppress",
    "swap", "switch", "tabulate", "tag", "tailor", "take", "talk", "target", "teach", "tell", "test", "thank",
    "think", "throw", "tick", "tidy", "tighten", "tone", "total", "touch", "trace", "track", "train",
    "transcribe", "transfer", "transform", "translate", "transliterate", "treat", "trim", "truncate", "trust",
    "try", "turn", "type", "underline", "undo", "unify", "unpack", "update", "upgrade", "upload", "uppercase",
    "upsell", "use", "validate", "value", "vary", "verify", "version", "visit", "vote", "wait", "warn",
    "wash", "weigh", "whisper", "withhold", "word", "work", "wrap", "write",
];

/// Verbs of form that set a rule with one of [`MANNERS`].
#[rustfmt::skip]
pub(super) const FORM_VERBS: &[&str] = &[
    "write", "reply", "answer", "respond", "end", "begin", "start", "format", "use", "prefer", "cite", "call",
    "keep", "round", "express", "spell", "phrase", "abbreviate", "capitalise", "capitalize", "indent", "prefix",
    "sign", "greet", "double-check", "fact-check",
];

/// Verbs of form, which applied to a plural set a rule.
#[rustfmt::skip]
pub(super) const OF_FORM: &[&str] = &[
    "use", "write", "put", "keep", "name", "mark", "sort", "wrap", "spell", "number", "tag", "format",
    "prefix", "suffix", "cite", "quote", "round", "express", "label", "indent", "capitalise", "capitalize",
    "abbreviate", "order", "phrase", "avoid", "escape", "escalate", "redirect", "refer", "route", "anonymise",
    "anonymize", "assign", "attribute", "bold", "credit", "flag", "italicise", "italicize", "link", "log", "mask",
    "mention", "address", "decline", "deliver", "refuse", "reject", "display", "present", "redact", "store", "underline", "vary",
];

/// Things that a reader makes or handles.
#[rustfmt::skip]
pub(super) const THINGS: &[&str] = &[
    "abbreviations", "acronyms", "amounts", "answers", "apis", "appointments", "arguments", "articles",
    "assignments", "branches", "bullets", "captions", "cards", "chapters", "charts", "citations", "claims",
    "classes", "clauses", "columns", "commands", "commits", "complaints", "components", "constants",
    "contracts", "credentials", "dates", "decimals", "definitions", "dependencies", "descriptions",
    "diagrams", "dialogues", "distances", "docs", "docstrings", "documents", "dosages", "doses", "drafts",
    "durations", "e-mails", "emails", "encounters", "endpoints", "enums", "errors", "escalations", "essays",
    "examples", "exams", "exceptions", "exercises", "explanations", "exports", "fields", "filenames", "files",
    "fixtures", "flags", "footnotes", "functions", "grades", "handlers", "headers", "headings", "headlines",
    "hints", "hooks", "identifiers", "images", "imports", "indexes", "ingredients", "interfaces", "invoices",
    "keys", "labels", "lectures", "lessons", "letters", "links", "lists", "logs", "mails", "measurements",
    "memos", "messages", "methods", "migrations", "mocks", "modules", "names", "notes", "numbers", "options",
    "packages", "paragraphs", "parameters", "passwords", "paths", "percentages", "plans", "poems", "portions",
    "posts", "prices", "props", "prs", "queries", "questions", "quests", "quizzes", "quotations", "quotes",
    "rates", "receipts", "recipes", "recommendations", "references", "refunds", "releases", "replies",
    "reports", "requests", "responses", "reviews", "routes", "scenes", "schemas", "scores", "scripts",
    "secrets", "sections", "sentences", "slides", "snippets", "solutions", "songs", "sources", "speeches",
    "stanzas", "stories", "strings", "structs", "subtitles", "suggestions", "summaries", "tables",
    "temperatures", "terms", "tests", "tickets", "timestamps", "titles", "todos", "tokens", "totals",
    "transcripts", "translations", "types", "units", "values", "variables", "verses", "versions", "weights",
];

/// Things of the work without a plural.
pub(super) const MASS: &[&str] = &[
    "code", "dialogue", "documentation", "feedback", "prose", "sql", "text",
];

/// Words after a verb of form in a standing instruction.
#[rustfmt::skip]
pub(super) const MANNERS: &[&str] = &[
    "every", "all", "each", "everything", "in", "with", "your", "only",
];

/// Words that make an instruction apply to many occasions.
#[rustfmt::skip]
pub(super) const CUES: &[&str] = &[
    "every", "each", "any", "always", "never", "only", "unless", "whenever", "ever", "instead", "default",
    "everywhere", "throughout",
];

/// Words that limit an instruction to one occasion.
#[rustfmt::skip]
pub(super) const ONE_OFF: &[&str] = &[
    "now", "again", "then", "today", "tomorrow", "tonight", "back", "once", "soon", "monday", "tuesday",
    "wednesday", "thursday", "friday", "saturday", "sunday",
];

/// Words after `always`, `never` or `don't` that show that the sentence is not an instruction.
#[rustfmt::skip]
pub(super) const NOT_ORDERED: &[&str] = &[
    "a", "again", "am", "an", "are", "as", "been", "bother", "care", "did", "fear", "feel", "get", "had", "has",
    "have", "he", "heard", "i", "in", "is", "it", "knew", "know", "late", "mind", "need", "once", "ready",
    "recall", "said", "saw", "see", "seen", "she", "sure", "that", "the", "there", "they", "think", "thought", "to", "too",
    "tried", "understand", "want", "was", "we", "were", "worry", "you",
];

/// Words after `keep` that make it a farewell or encouragement.
#[rustfmt::skip]
pub(super) const NOT_KEPT: &[&str] = &[
    "going", "on", "up", "trying", "calm", "well", "smiling", "safe", "cool",
];

/// Two words and their contraction.
pub(super) const CONTRACTIONS: [[&str; 3]; 7] = [
    ["i", "am", "i'm"],
    ["you", "are", "you're"],
    ["we", "are", "we're"],
    ["i", "would", "i'd"],
    ["do", "not", "don't"],
    ["does", "not", "doesn't"],
    ["can", "not", "can't"],
];

/// Values in which texts are written.
#[rustfmt::skip]
pub(super) const VALUES: &[&str] = &[
    "american", "ascii", "asterisks", "backticks", "bold", "bullet", "bullets", "camelcase", "case", "cents",
    "chf", "cm", "css", "csv", "dd", "decimal", "decimals", "digits", "dollars", "eur", "euro", "euros", "feet",
    "format", "francs", "gbp", "gmt", "grams", "hh", "html", "iso", "italics", "json", "kg",
    "kilograms", "kilometers", "kilometres", "km", "latex", "lower", "lowercase", "markdown", "meters",
    "metres", "miles", "millions", "notation", "parentheses", "pascalcase", "pdf", "percent",
    "points", "pounds", "quotes", "roman", "snake_case", "spaces", "spelling", "style", "tables", "tense", "thousands",
    "title", "tone", "units", "upper", "uppercase", "usd", "utc", "voice", "words", "xml", "yaml", "yen",
    "yyyy-mm-dd",
];

/// Verbs of the reader's work: "when you write ...".
#[rustfmt::skip]
pub(super) const WORK_VERBS: &[&str] = &[
    "add", "answer", "assume", "change", "cite", "commit", "create", "delete", "disagree", "edit", "explain", "mention",
    "propose", "quote", "refactor", "remove", "rename", "reply", "review", "skip", "suggest", "think", "touch", "use",
    "write",
];

/// Words that close a clause.
#[rustfmt::skip]
pub(super) const CLOSINGS: &[&str] = &["please", "pls", "only", "always", "everywhere", "throughout", "thanks"];

/// Beginnings of sentences about specific things rather than all of a kind.
#[rustfmt::skip]
pub(super) const AT_HAND: &[&str] = &[
    "a", "an", "he", "her", "his", "i", "if", "it", "its", "maybe", "my", "our", "perhaps", "she", "somebody",
    "someone", "that", "the", "their", "there", "these", "they", "this", "those", "we", "what", "when", "who",
    "you", "and", "but", "so", "which", "how", "why", "where", "things", "us",
];

/// Verbs after `you must`, `you should` and `you may` that express a guess or surprise.
#[rustfmt::skip]
pub(super) const NOT_DEMANDED: &[&str] = &[
    "be", "have", "see", "know", "feel", "believe", "come", "try", "imagine", "want", "think", "remember",
    "go", "like", "need", "get",
];

/// Words that refer to the speaker.
pub(super) const FIRST_PERSON: [&str; 7] = ["i", "i'm", "i've", "my", "we", "we're", "our"];

/// Whether a list contains a word.
pub(super) fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}
