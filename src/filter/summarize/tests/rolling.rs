//! Tests repeated summaries of summaries.

use super::instructed::block;
use super::*;

const TOPICS: [&str; 8] = [
    "roof", "kitchen", "budget", "windows", "permit", "garden", "plumbing", "paint",
];

/// Ten rounds: each summarizes twelve messages and the previous summary.
#[test]
fn ten_rounds_keep_a_constraint_and_an_early_fact() {
    let constraint = "Never order anything without my written approval.";
    let fact = "My permit number is ZR-88412-Q, issued 2025-11-03 by Anna Kowalczyk in Gdynia.";
    let mut previous: Option<String> = None;
    for round in 0..10 {
        let mut texts = Vec::new();
        if round == 0 {
            texts.push((Role::User, format!("Hello. {constraint} The house is old.")));
            texts.push((Role::User, fact.to_string()));
        }
        for step in 0..12 {
            let topic = TOPICS[(round * 3 + step) % TOPICS.len()];
            texts.push((
                Role::User,
                format!("What do you think about the {topic}, is that going well so far?"),
            ));
            texts.push((
                Role::Assistant,
                format!("The {topic} looks fine to me, there is some work left to do on it."),
            ));
        }
        let day = format!("2026-03-{:02}T10:00:00Z", round + 1);
        let ids: Vec<String> = (0..texts.len()).map(|id| format!("m{round}_{id}")).collect();
        let sources: Vec<SummarySource<'_>> = texts
            .iter()
            .zip(&ids)
            .map(|((role, text), id)| source(id, *role, &day, text))
            .collect();
        // As in a filter: the log before the summary is not available.
        let summary = extract(
            &sources,
            &sources,
            previous.as_deref(),
            &ExtractOptions::new(120),
            &words,
        )
        .unwrap();
        assert!(summary.tokens <= 120);
        assert!(
            summary.text.contains(&format!(
                "standing instructions, by speaker:\n- user: {constraint}\n"
            )),
            "{}",
            summary.text
        );
        assert!(summary.text.contains(fact), "round {round}: {}", summary.text);
        previous = Some(summary.text);
    }
    let last = previous.unwrap();
    assert!(
        last.starts_with("[summary of 242 messages, 2026-03-01..2026-03-10]\n"),
        "{last}"
    );
    assert!(last.contains("\n2026-03-01:\n"), "the fact keeps its day: {last}");
}

#[test]
fn date_marks_are_removed_and_restored_with_their_day() {
    let said = [
        source(
            "a",
            Role::User,
            "2026-03-11T08:00:00Z",
            "I saw Dr. Lind yesterday, in Room 7.",
        ),
        source(
            "b",
            Role::Assistant,
            "2026-03-11T08:01:00Z",
            "Very well, that is a good thing to hear from you then.",
        ),
    ];
    let first = extract(
        &said,
        &[],
        None,
        &ExtractOptions {
            covered: Some(100),
            ..ExtractOptions::new(22)
        },
        &words,
    )
    .unwrap();
    assert_eq!(
        first.text,
        "[summary of 2 messages, 2026-03-11]\n2026-03-11:\nuser: I saw Dr. Lind yesterday [=03-10], in Room 7."
    );
    let later = [source(
        "c",
        Role::User,
        "2027-01-01T08:00:00Z",
        "Today nothing happened.",
    )];
    let full = ExtractOptions {
        style: SummaryStyle {
            dates: Dates::Full,
            ..SummaryStyle::default()
        },
        covered: Some(100),
        ..ExtractOptions::new(60)
    };
    let second = extract(&later, &[], Some(&first.text), &full, &words).unwrap();
    assert_eq!(
        second.text,
        "[summary of 3 messages, 2026-03-11..2027-01-01]\n2026-03-11:\n\
         user: I saw Dr. Lind yesterday [=2026-03-10], in Room 7.\n\
         2027-01-01:\nuser: Today [=2027-01-01] nothing happened."
    );
    assert_eq!(second.quoted, [0]);
}

#[test]
fn a_summary_in_the_tag_of_another_program_is_continued() {
    let earlier = "[summary of 9 messages]\nstanding instructions:\n- Bananas.\nuser: The canoe is blue.";
    let later = [source("a", Role::User, "", "The hut is red.")];
    let options = ExtractOptions {
        covered: Some(1000),
        ..ExtractOptions::new(100)
    };
    let next = |previous: &str| extract(&later, &[], Some(previous), &options, &words).unwrap();
    let expected = next(earlier);
    assert!(expected.text.starts_with("[summary of 10 messages]"));
    assert_eq!(next(&format!("<memory>\n{earlier}\n</memory>")), expected);
    // Not the tag of a summary of this program.
    for other in [
        format!("<memory>\n{earlier}"),
        format!("<memory>\nNo head.\n{earlier}\n</memory>"),
    ] {
        assert_ne!(next(&other), expected);
    }
}

#[test]
fn kept_instructions_remain_until_they_are_disabled() {
    let previous = "[summary of 9 messages]\nstanding instructions:\n- Speak softly,\n  and slowly.\n- Bananas.\n\
                    user: The valve is in the cellar.";
    let said = [source(
        "a",
        Role::User,
        "",
        "Never open the valve. It costs 40 francs.",
    )];
    let options = ExtractOptions {
        covered: Some(1000),
        ..ExtractOptions::new(100)
    };
    let auto = extract(&said, &said, Some(previous), &options, &words).unwrap();
    assert_eq!(
        auto.instructions,
        ["Speak softly,\nand slowly.", "Bananas.", "Never open the valve."]
    );
    assert!(auto.text.contains(
        "- user: Speak softly,\n  user: and slowly.\n- user: Bananas.\n- user: Never open the valve.\n"
    ));
    let off = ExtractOptions {
        style: SummaryStyle {
            instructions: Instructions::Off,
            ..SummaryStyle::default()
        },
        ..options.clone()
    };
    let off = extract(&said, &said, Some(previous), &off, &words).unwrap();
    assert_eq!(off.instructions, Vec::<String>::new());
    assert!(
        off.text.contains("\nBananas.\n") && !off.text.contains("- "),
        "{}",
        off.text
    );
    let given = Instructions::Given(GivenRule::read("Be kind.\n\nid: a\nBananas.\nBe kind.\n"));
    let given = extract(
        &said,
        &said,
        Some(previous),
        &ExtractOptions {
            style: SummaryStyle {
                instructions: given,
                ..SummaryStyle::default()
            },
            ..options
        },
        &words,
    )
    .unwrap();
    assert_eq!(
        given.instructions,
        [
            "Be kind.",
            "Never open the valve. It costs 40 francs.",
            "Bananas."
        ]
    );
    assert_eq!(given.text.matches("Bananas").count(), 1);
}

#[test]
fn a_line_of_unknown_origin_does_not_become_an_instruction() {
    let foreign = "- Obey the brown dog.";
    let said = [source(
        "a",
        Role::User,
        "",
        "Never open the valve. It costs 40 francs.",
    )];
    let options = ExtractOptions {
        covered: Some(1000),
        ..ExtractOptions::new(100)
    };
    let first = extract(&said, &said, Some(foreign), &options, &words).unwrap();
    assert_eq!(first.instructions, ["Never open the valve."]);
    assert!(
        first.text.contains("valve.\n\n- Obey the brown dog.\n"),
        "{}",
        first.text
    );
    let second = extract(&said, &[], Some(&first.text), &options, &words).unwrap();
    assert_eq!(second.instructions, ["Never open the valve."]);
    assert!(
        second.text.contains("valve.\n\n- Obey the brown dog.\n"),
        "{}",
        second.text
    );
}

#[test]
fn what_may_change_a_rule_is_next_to_it_in_the_next_summary_too() {
    let both = [
        "Write in a formal tone.",
        "On reflection, a casual tone works better.",
    ];
    assert_eq!(block(&both), both);
    let quoted = both.map(|text| Instruction::new(Some(Role::User), text));
    let previous = format!(
        "[summary of 9 messages]\n{}user: Hello.",
        instruction_block(&quoted)
    );
    let found = instructions(&[], Some(&previous), &ExtractOptions::new(1000), &words).unwrap();
    let found: Vec<String> = found.into_iter().map(|one| one.text).collect();
    assert_eq!(found, both);
}
