//! Phrases that indicate that a later rule replaces an earlier one.

/// Words that indicate a change.
pub(super) const CHANGES: &[&str] = &[
    "scrap",
    "forget",
    "drop the|that",
    "ignore the|what|that",
    "changed my mind",
    "change of plan|plans",
    "correction",
    "actually",
    "no longer",
    "any more|longer",
    "anymore",
    "after all",
    "again",
    "instead",
    "rather than",
    "switch|switched from|to|back",
    "strike|scratch that",
    "moved to",
    "you|we may|can now|stop",
    "no ,use|write|answer|reply|call|make|keep *",
    "on second thought",
    "revert",
    "lifted",
    "from now on",
];

/// Words that indicate a change only together with most of the words of the earlier rule.
pub(super) const FAINT_CHANGES: &[&str] = &[
    "is|are|it's now", "is|are ** now", "you|we can|may skip|omit", "now $", "go|going with",
    "decided|settled on",
];

/// States with which something is allowed again.
pub(super) const PERMITTED_STATES: &[&str] = &["is|are fine|ok|okay|allowed"];

/// Cues with which a sentence that sets no rule may revoke one.
pub(super) const REVOKING_CUES: &[&str] = &[
    "after all", "no longer", "any longer", "instead of", "lifted", "is|are|it's now",
    "you|we can|may skip|omit",
];

/// Cues with which a sentence that sets no rule may change one: it is quoted together with the rule.
pub(super) const DOUBTING_CUES: &[&str] = &[
    "is|are welcome|permitted|allowed|fine|ok|okay",
    "is|are not required|needed|necessary",
    "isn't|aren't required|needed|necessary",
    "it's fine|ok|okay to",
    "it is fine|ok|okay to",
    "take that|it back",
    "please do !not",
    "turns out",
    "start|begin|resume ~ing",
    "too many|much|long|short",
    "needn't",
    "leave out|off the|that|these|those",
    "without asking|checking|confirming",
    "exception to|from",
    "on reflection",
    "on second thoughts",
    "make that|it",
    "can|may ** again",
    "don't need|want ** any|anymore",
];

/// Cues with which a sentence that sets no rule may change a figure.
pub(super) const FIGURE_CUES: &[&str] = &[
    "raise|raised|increase|increased|extend|extended|lower|lowered|reduce|reduced|bumped|move|moved|push|pushed ** to",
    "go|goes|went|gone up|down",
];

/// Cues with which a sentence that sets no rule may say that a rule holds only for a part.
pub(super) const NARROWING_CUES: &[&str] = &[
    "not all|every|everything *",
    "it's|that's only|just *",
    "it is|was only|just *",
    "only|just applies|holds|concerns|affects *",
];

/// Questions with one answer at a time: the possible values of each.
pub(super) const QUESTIONS: &[&[&str]] = &[
    &[
        "english", "german", "french", "spanish", "danish", "portuguese", "italian", "dutch", "swedish",
        "norwegian", "finnish", "polish", "russian", "chinese", "japanese", "korean", "turkish", "arabic",
        "czech", "greek", "hebrew", "hindi", "ukrainian",
    ],
    &["celsius", "fahrenheit", "kelvin"],
    &["metric", "imperial"],
    &[
        "tab", "tabs", "two spaces", "four spaces", "eight spaces", "2 spaces", "4 spaces", "8 spaces",
        "spaces",
    ],
    &["sentence case", "title case"],
    &[
        "snake_case", "camelcase", "kebab-case", "pascalcase", "snake case", "camel case", "kebab case",
    ],
    &["npm", "yarn", "pnpm", "bun"],
    &["call me", "address me"],
    &["british", "american"],
    &["formal", "informal", "casual"],
    &["vegetarian", "vegan", "pescatarian", "meat"],
    &[
        "iso", "yyyy-mm-dd", "dd mm yyyy", "mm dd yyyy", "dd-mm-yyyy", "mm-dd-yyyy",
    ],
    &[
        "python", "javascript", "typescript", "rust", "golang", "java", "kotlin", "ruby", "php", "perl",
        "swift",
    ],
    &["postgresql", "mysql", "mariadb", "sqlite", "mongodb"],
];

/// The first values of the questions whose answers differ between people or occasions.
pub(super) const VARYING: [&str; 4] = ["formal", "vegetarian", "python", "postgresql"];
