//! Sentences that may change a rule, and further forms that set one or none.

use super::instructed::block;
use super::*;

#[test]
fn what_may_change_a_rule_is_quoted_with_it() {
    for [old, new] in [
        ["Never use emojis.", "Emojis are welcome again."],
        ["Never mention the price.", "It's fine to mention the price."],
        ["No comments in the code.", "Start adding comments to the code."],
        [
            "Always ask before you delete a file.",
            "You needn't ask before you delete a file.",
        ],
        ["I'm allergic to nuts.", "Turns out I'm not allergic to nuts."],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
        assert_eq!(block(&[new, old]), [old]);
        // A summary of a summary keeps both.
        let earlier = [old, new].map(|text| Instruction::new(Some(Role::User), text));
        let summary = format!("[summary of 2 messages]\n{}", instruction_block(&earlier));
        let kept = instructions(&[], Some(&summary), &ExtractOptions::new(1000), &words).unwrap();
        assert_eq!(kept, earlier);
    }
    for other in [
        "Actually, the emojis on that page are broken.",
        "The meeting is fine.",
    ] {
        assert_eq!(block(&["Never use emojis.", other]), ["Never use emojis."]);
    }
}

#[test]
fn a_negated_word_and_an_end_are_quoted_with_the_rule() {
    for [old, new] in [
        [
            "Use PostgreSQL as database, always.",
            "We decided on SQLite, no PostgreSQL.",
        ],
        [
            "Always run the linter before you finish a task.",
            "Skip the linter for now.",
        ],
        [
            "Never mention my ex-wife Sandra in the drafts.",
            "You can talk about Sandra after all.",
        ],
        ["Put a haiku at the end of each letter.", "no haiku please"],
        ["Always add a diagram to the report.", "Drop the diagram."],
        ["Use Ansible for deployments.", "Helm, not Ansible."],
        [
            "Write everything in Python.",
            "let's go with Rust for the whole thing",
        ],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
        assert_eq!(block(&[new, old]), [old]);
    }
    for other in [
        "I see no database in that file.",
        "It does not load the database.",
    ] {
        assert_eq!(
            block(&["Use the database for tests.", other]),
            ["Use the database for tests."]
        );
    }
}

#[test]
fn an_exception_replaces_no_ban() {
    for [old, new] in [
        ["Never use emojis.", "Emojis are fine in commit messages."],
        [
            "Don't use any external libraries.",
            "lodash is ok though as external library",
        ],
        [
            "Use Decimal everywhere, never float.",
            "That's the one exception to the no-float rule: api.py may use float for output.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    for [old, new] in [
        ["Never deploy on Fridays.", "Deploying on Fridays is OK again."],
        [
            "No emojis in commit messages.",
            "Emojis in commit messages are fine again.",
        ],
        ["Keep answers under 100 words.", "Actually, forget the 100 words."],
    ] {
        assert!(!block(&[old, new]).contains(&old.to_string()), "{old}");
    }
}

#[test]
fn a_replaced_rule_is_not_quoted_below_the_block() {
    let [old, new] = ["Never deploy on Fridays.", "Deploying on Fridays is OK again."];
    let long = "The plan has many parts that nobody has read. ".repeat(20);
    let sources = [old, new, &long].map(|text| source("m", Role::User, "", text));
    let summary = extract(&sources, &sources, None, &ExtractOptions::new(1000), &words).unwrap();
    assert!(
        summary.text.contains(new) && !summary.text.contains(old),
        "{}",
        summary.text
    );
}

#[test]
fn another_number_of_words_replaces_the_earlier_one() {
    let [old, new] = [
        "Keep your answers under 100 words.",
        "Keep your answers under 300 words.",
    ];
    assert_eq!(block(&[old, new]), [new]);
    let least = "Keep your answers above 50 words.";
    assert_eq!(block(&[old, least]), [old, least]);
}

#[test]
fn one_thing_made_of_many_and_small_talk_set_no_rule() {
    for sentence in [
        "Make a table of all endpoints.",
        "Draw a diagram of all the modules.",
        "Write a function for each of these cases.",
        "Build a page with a button for each user.",
        "Find restaurants that only serve fish.",
        "Summarize this article in at most three sentences.",
        "If you need help, just say so.",
        "Call me when you land.",
        "When you come, bring a jacket.",
        "Don't laugh.",
        "Keep the change.",
        "I can't eat another bite.",
        "You are the most patient person I know.",
        "You have to try it every once in a while.",
        "Don't bother with it.",
        "A helmet is mandatory gear on site tours, says my aunt.",
    ] {
        assert_eq!(strength(sentence), None, "{sentence}");
    }
    for sentence in [
        "Write a test for every module.",
        "Use sources that only quote originals.",
        "Summarize the changes after each step.",
        "Call me Anna.",
        "It would be nice if you always gave a source.",
        "It would help me if you explained each step.",
        "Database migrations are off the table.",
        "British spelling, please.",
        "Skip the pleasantries.",
        "Use the active voice.",
        "Show all times in UTC.",
        "I don't fly.",
        "Don't bother with docstrings.",
        "Nothing gets merged to main without a review.",
        "Make it a habit to cite the source.",
        "Send me a list of the costs after every step.",
        "Show me the full recipe each time we change something.",
    ] {
        assert!(strength(sentence).is_some(), "{sentence}");
    }
}

#[test]
fn a_changed_answer_is_never_dropped_next_to_the_earlier_one() {
    for [old, new] in [
        [
            "Write in a formal tone.",
            "On reflection, a casual tone works better.",
        ],
        ["Use British spelling.", "Switch to American spelling please."],
        [
            "All dates must be in ISO format.",
            "Make that DD.MM.YYYY for all dates.",
        ],
        [
            "Keep your answers under 100 words.",
            "You can make your answers longer, 300 words is fine.",
        ],
        ["Logs default to JSON.", "Logs default to plain text now."],
        ["I'm vegetarian.", "I eat meat again these days."],
        ["I'm allergic to nuts.", "Good news: I can eat nuts again."],
        [
            "Only suggest hotels with a pool.",
            "We don't need a pool any more.",
        ],
        [
            "Always ask before you delete a file.",
            "Just delete files without asking.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    for [old, new] in [
        ["Tabs, not spaces.", "Spaces, not tabs."],
        ["Use British spelling.", "American spelling, please."],
        ["Use Celsius.", "fahrenheit please"],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
    let rule = "For tables, use markdown.";
    assert_eq!(block(&[rule, "Our fridge is off the table now."]), [rule]);
}

#[test]
fn an_answer_for_other_people_or_things_is_quoted_next_to_the_earlier_one() {
    for [old, new] in [
        ["I'm vegetarian.", "My wife is vegan, actually."],
        ["I'm vegan.", "Cook meat for the guests from now on."],
        [
            "I'm vegan.",
            "Always include one vegetarian dish for my parents instead.",
        ],
        ["Write formal emails.", "Use casual language in chat from now on."],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    let [old, new] = ["Always answer in German.", "Always answer in French instead."];
    assert_eq!(block(&[old, new]), [new]);
}

#[test]
fn a_word_of_an_answer_alone_changes_no_rule() {
    for [old, talk] in [
        ["I'm vegetarian.", "We bought meat for the dog again."],
        ["Answer in English.", "My German class starts again."],
        ["Answer in English.", "The French version is online now."],
        ["Use British spelling.", "My American boss called again."],
    ] {
        assert_eq!(block(&[old, talk]), [old]);
    }
    // A sentence that changes no rule is not quoted, and another sentence cannot change it.
    for talk in [
        ["Actually I had the vegan curry.", "I eat meat again."],
        ["Actually npm is broken.", "The npm mirror is now yarn again."],
    ] {
        assert_eq!(block(&talk), [""; 0]);
    }
}

#[test]
fn words_that_begin_alike_are_different_words() {
    let rule = "Always use ApplicationContextProvider instead of ApplicationContextHolder.";
    assert_eq!(block(&[rule]), [rule]);
    let forbidden = "Never use ApplicationContextHolder.";
    let allowed = "ApplicationContextProvider is allowed again.";
    assert!(block(&[forbidden, allowed]).contains(&forbidden.to_string()));
}
