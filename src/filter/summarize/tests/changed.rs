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
        ["Use British spelling.", "Switch to American spelling please."],
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

#[test]
fn a_rule_with_several_clauses_is_replaced_only_if_each_is() {
    for [old, new] in [
        [
            "Call me Jo and never mention my age.",
            "Call me Joanna from now on.",
        ],
        [
            "Use npm, and never install global packages.",
            "Use pnpm instead of npm.",
        ],
        [
            "Never push to main or delete branches.",
            "You can push to main now.",
        ],
        ["Never use emojis or tables.", "Tables are fine from now on."],
        [
            "Never edit or delete the Makefile.",
            "Editing the Makefile is fine again.",
        ],
        [
            "Answer in at most 100 words and in German.",
            "From now on answer in at most 50 words.",
        ],
        [
            "Commit after each step, message in imperative.",
            "I changed my mind about one commit per step: squash everything into one commit at the end.",
        ],
        [
            "Answer in German because my team reads it, and never use slang.",
            "Answer in English from now on.",
        ],
        [
            "Send me a list of what's open after every topic.",
            "And drop the list after every topic, it's too much.",
        ],
        // Its words alone hardly read like a rule.
        [
            "Emails in German and always sign with Miriam.",
            "From now on write emails to Polish relatives in Polish.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    for [old, new] in [
        [
            "Never edit or delete the Makefile.",
            "Editing and deleting the Makefile is fine again.",
        ],
        [
            "Always run lint and tests before you commit.",
            "No need to run lint and tests before you commit any more.",
        ],
        [
            "Answer in German because my team reads it.",
            "Answer in English from now on.",
        ],
        [
            "Run the tests after every change.",
            "And scrap the tests after every change.",
        ],
        [
            "Run pytest after every change.",
            "Scrap pytest after every change.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [new]);
    }
}

#[test]
fn a_proposal_of_another_answer_is_quoted_with_the_rule() {
    for [old, new] in [
        ["Reply in German.", "Let's speak English now."],
        ["Please answer in German.", "Let's switch to English."],
        ["Always answer in Dutch.", "I'd rather speak French now."],
        ["Please write in Japanese.", "Can we switch to English?"],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    let rule = "Never use emojis.";
    assert_eq!(block(&[rule, "Let's translate it to English."]), [rule]);
}

#[test]
fn another_figure_is_quoted_with_the_earlier_one() {
    for [old, new] in [
        [
            "The budget is 31,500 euros in total.",
            "The budget is now 35,500.",
        ],
        [
            "Deadline is 12 May, it cannot move.",
            "The deadline moved to 26 May.",
        ],
        ["Target Python 3.8.", "We can drop 3.8 now; minimum is 3.11."],
        [
            "Rent must not exceed 1,200 a month.",
            "We can go up to 1,350 for the rent.",
        ],
        ["Coverage must be at least 80 percent.", "Make that 90 percent."],
        ["Never plan more than 25 km a day.", "It's 30 km now."],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    for [old, other] in [
        [
            "Deadline is 12 May, it cannot move.",
            "My flight moved to 26 May.",
        ],
        ["Keep answers under 100 words.", "There are 40 chairs now."],
    ] {
        assert_eq!(block(&[old, other]), [old]);
    }
}

#[test]
fn what_narrows_a_rule_is_quoted_with_it() {
    for [old, new] in [
        [
            "Please always give amounts in euros, and never suggest anything with nuts because my sister Lena has a severe nut allergy.",
            "Lena called: it's not all nuts, only peanuts and hazelnuts.",
        ],
        [
            "Avoid exercises for the knee, it hurts.",
            "It's only the left knee.",
        ],
        [
            "Never schedule anything on weekends.",
            "Not all weekends, only the ones with the kids.",
        ],
    ] {
        assert_eq!(block(&[old, new]), [old, new]);
    }
    let rule = "Never suggest nuts.";
    assert_eq!(
        block(&[rule, "Not all guests have answered yet, only Tom and Mia."]),
        [rule]
    );
}

#[test]
fn a_rule_that_names_nothing_is_quoted_with_the_sentence_before() {
    let [context, rule] = ["The recap is long.", "Only give it when I ask."];
    assert_eq!(block(&[&format!("Nice. {context} {rule}")]), [context, rule]);
    assert_eq!(block(&[context, rule]), [rule]);
    // The sentence before is an instruction itself.
    let both = "Use tabs. Always do that.";
    assert_eq!(block(&[both]), ["Use tabs.", "Always do that."]);
}

#[test]
fn a_demand_that_does_not_fit_with_its_change_is_not_quoted_elsewhere() {
    let [old, new] = [
        "Show me the full recipe each time we change something.",
        "And skip the full recipe, just the change is enough.",
    ];
    let long = "The plan has many parts that nobody has read. ".repeat(20);
    let sources = [old, new, &long].map(|text| source("m", Role::User, "", text));
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(60)
    };
    let text = extract(&sources, &sources, None, &options, &words).unwrap().text;
    assert!(!text.contains(old), "{text}");
}
