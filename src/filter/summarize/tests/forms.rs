//! Forms of standing instructions, and sentences of the same form that set none.

use super::*;

pub(super) fn distinguishes(rules: &[&str], others: &[&str]) {
    for sentence in rules {
        assert!(strength(sentence).is_some(), "{sentence}");
    }
    for sentence in others {
        assert_eq!(strength(sentence), None, "{sentence}");
    }
}

#[test]
fn a_form_with_the_words_of_a_task_is_no_rule() {
    distinguishes(
        &[
            "Make sure the tests pass before you commit anything.",
            "From now on, taste the mangoes there.",
        ],
        &[
            "I prefer version B. Send me B with the new date.",
            "Make sure to congratulate Petra on thirty years with us in the opening line of this speech.",
            "Stay away from that library, it said on reddit.",
        ],
    );
}

#[test]
fn an_order_may_have_no_verb() {
    distinguishes(
        &[
            "Comments in German.",
            "Table names in upper case.",
            "Amounts in thousands of euros, always.",
            "Numbers below ten as words, please.",
            "Sources as footnotes, please.",
            "Everything in Portuguese, please.",
            "More code, less theory.",
            "Type hints everywhere, please.",
            "Just the answer, no explanation.",
            "Spaces, not tabs.",
            "Bullet points instead of paragraphs.",
            "English only.",
            "Zero new dependencies.",
            "Only peer-reviewed sources.",
            "Refunds only within 14 days.",
            "Friendly tone, please.",
            "Dry run first, always.",
            "Short paragraphs, no jargon.",
        ],
        &[
            "Movies in French are hard to follow.",
            "Problems in production again.",
            "More wine, less whine.",
            "Two tickets, not three.",
            "The build failed, no markdown.",
            "First one only.",
            "Zero errors, we did it!",
            "Lots of snow, no traffic.",
        ],
    );
}

#[test]
fn a_fact_with_what_follows_from_it_is_a_rule() {
    distinguishes(
        &[
            "I'm on Linux so no PowerShell.",
            "I am on Linux, so use bash.",
            "My oven is tiny, so only small trays.",
            "There's no oven here, so stovetop only.",
            "I have a peanut allergy, so nothing with nuts.",
            "We're on a tight budget, nothing over 50 dollars a night.",
            "The audience is executives, so no technical details.",
            "This is a TypeScript project, so no plain JS files.",
            "My wife uses a wheelchair, so everything must be accessible.",
        ],
        &[
            "I'm tired, so no gym today.",
            "I have a deadline, so no time to chat.",
            "We're out of milk, so use oat milk.",
            "I can't find it, so give me the link.",
            "I have a meeting, so don't wait for me.",
        ],
    );
}

#[test]
fn a_condition_that_recurs_sets_a_rule() {
    distinguishes(
        &[
            "Stop and ask if you aren't sure.",
            "Escalate if the customer threatens to cancel.",
            "Warn me when something is going to cost money.",
            "Check with me before adding packages.",
            "Say so if you don't know the answer.",
            "Tell me if you change anything outside the module.",
            "Wait until I say go.",
            "Use the polite form when you write Japanese.",
            "If a customer is angry, apologize first.",
            "It's better if you show the code before you explain it.",
            "Please read the spec first and then write code, for each task.",
        ],
        &[
            "Show an error if the user enters a wrong password.",
            "Ask him if he wants coffee.",
            "Stop if you get tired.",
            "If that doesn't work, try the other one.",
            "When it's finished, send me the link.",
            "Once the build is green, merge it.",
            "As soon as you have the numbers, let me know.",
            "If you ever get the chance, visit Porto.",
            "Read the spec and then write the code.",
            "If the input is empty, return 0.",
            "For every user, count the orders.",
            "After you fix that, run the tests.",
        ],
    );
}

#[test]
fn a_rule_may_hold_for_a_place_or_a_kind() {
    distinguishes(
        &[
            "In the backend, we never use raw SQL.",
            "In tests, use the fake clock.",
            "For dates, use a long form.",
            "In your summaries, put the most important thing first.",
            "Flags default to false.",
            "Revenue is always net.",
            "Only managers can approve refunds.",
            "Give oven temperatures in Celsius.",
            "Ignore rows without an id.",
            "Refunds over 100 euros get escalated to a manager.",
            "Constants come first, then types, then functions.",
            "Secrets never go into the repo.",
            "Anything customer-facing goes through legal first.",
            "Tests live next to the code they test.",
            "Nothing goes live without my approval.",
            "No one merges to main without a review.",
            "We do not use contractions.",
            "Python 3.9 is the minimum.",
            "Commit messages follow our style guide.",
            "Imports are sorted alphabetically.",
            "Orders above 1000 euros need a manager's approval.",
            "The tone should be friendly but professional.",
            "Nothing in the public folder may be renamed.",
            "Escalate legal questions to Dana.",
        ],
        &[
            "In the evening, we use the balcony.",
            "In the last meeting, we only talked about money.",
            "For dinner, use the leftovers.",
            "In short, keep trying.",
            "Sales go up.",
            "Prices always go up.",
            "Nothing goes right without her.",
            "Every user gets an email when they sign up, but mine never arrived.",
            "Sort products by price and print them.",
            "Write unit tests for the parser.",
            "The project uses too much memory.",
            "We use it every day.",
            "Print the names in upper case.",
            "It would help if I knew the way.",
        ],
    );
}

#[test]
fn a_polite_request_or_a_release_is_a_rule() {
    distinguishes(
        &[
            "Use tabs, ok?",
            "I'd love it if your answers were shorter.",
            "The tests are the spec, don't change them.",
            "It can't be longer than a page.",
            "Keep the tone light, will you?",
            "Could you keep your answers shorter?",
            "I'd be grateful if you kept your answers short.",
            "It's important to me that the style stays consistent.",
            "No need to explain every line.",
            "You don't need to explain what each line does.",
            "Let's not use any ORM.",
            "Don't be so formal.",
            "Ask me one question at a time.",
            "Think of yourself as a strict reviewer.",
            "Our client insists on serif fonts.",
            "Give me a plan first, always.",
            "Correct my grammar as we go.",
            "Just so you know, I can't install anything on this machine.",
            "I'd prefer if you didn't use abbreviations.",
        ],
        &[
            "You're coming, ok?",
            "Can you always see what I upload?",
            "I'd appreciate it if you fixed the bug.",
            "No need to explain, I get it.",
            "Let's not use that word.",
            "Don't be so sad.",
            "Your job is to die for.",
            "He insists on paying.",
            "Never trust a man with two phones, my aunt says.",
            "Make sure the button on the login page works.",
            "Don't press that button!",
            "Don't touch it, it's hot.",
            "Do not reply to that.",
            "Before we start, tell me about yourself.",
            "Go through every file and list the unused exports.",
            "Error: you must provide a valid token.",
            "Feel free to ask if something is unclear.",
            "Let's keep it for later.",
            "Use Postgres for this one.",
            "Explain why we should never use eval.",
            "Check that every link works.",
            "Add error handling to each of the three functions.",
            "Write all of that into one file.",
            "I need every invoice from May.",
            "Avoid that word in the second paragraph.",
            "Keep the title but change the rest.",
            "Show the total for every month.",
        ],
    );
}

#[test]
fn facts_about_the_speaker_last_only_in_general_terms() {
    distinguishes(
        &[
            "We avoid gluten at home.",
            "Remember I'm vegan.",
            "I don't like raisins.",
            "My wife is allergic to shellfish.",
            "I'm hard of hearing.",
            "I can only meet on weekends.",
            "I'd rather not use Docker.",
            "You are a senior engineer who reviews my code.",
            "Our budget is 1500 euros.",
            "We're vegetarian.",
            "I follow a low-carb diet.",
            "We don't want to rent a car.",
        ],
        &[
            "I'm allergic to mornings.",
            "I don't eat out often.",
            "My budget is gone after that trip.",
            "I'd rather stay home with a book.",
            "I can't use the old laptop because the screen broke.",
            "I'm new to the city.",
            "I can only imagine.",
            "I only need the first column.",
            "We use the same teacher.",
            "Kids should play outside.",
            "You must not blame yourself.",
        ],
    );
}

#[test]
fn a_prohibition_may_be_about_this_file_or_a_fact() {
    distinguishes(
        &[
            "Don't modify this file.",
            "Don't commit anything to this branch.",
            "Don't use globals in this module.",
            "Please do not change this interface.",
            "Don't claim that tests pass unless you ran them.",
            "Do not assume that files exist.",
            "Don't push that without asking me.",
            "Don't merge it, unless I approve.",
        ],
        &[
            "Don't open that link!",
            "Don't worry about this message.",
            "Don't use recursion in this exercise.",
        ],
    );
}

#[test]
fn small_talk_hides_no_rule_of_the_same_beginning() {
    distinguishes(
        &[
            "You must never merge it yourself.",
            "I prefer that you ask first.",
            "I prefer your answers short.",
            "Don't let anyone merge without review.",
            "Don't tell them the discount.",
            "Don't even start a refactoring without asking.",
            "If you ever want to delete data, ask me first.",
            "Nothing you output can contain real names.",
            "Make sure you don't forget the license header.",
            "Make sure to call the validator before each save.",
            "Don't miss any edge cases.",
            "I expect a reply in German every time.",
            "Don't even ask me for permission, just commit.",
            "Don't leave me with half-finished code.",
            "Don't remind me of the date in every reply.",
            "Try not to be verbose.",
            "Feel free to ask me before big changes.",
            "Keep an eye on the token count in each reply.",
            "We use the same lint rules in every package.",
            "If the server is down, call me.",
        ],
        &[
            "I prefer that.",
            "I prefer his style.",
            "Don't let it get to you.",
            "Don't tell anyone.",
            "Don't tell my mom about the cake.",
            "Don't even think about it.",
            "Nothing you say would change that.",
            "Don't miss it.",
            "I expect a call from the plumber.",
            "Try not to worry.",
            "Keep an eye on my bag.",
            "If he comes home early, call me.",
            "When you get home, text me.",
            "Don't leave me hanging!",
            "Don't start me off.",
            "Don't get me started on the parking.",
            "At least he's got his own supplier.",
        ],
    );
}

#[test]
fn a_condition_of_the_work_is_none_of_a_program() {
    distinguishes(
        &[
            "For every claim, show the source.",
            "For each change, open a pull request.",
            "If the tests fail, open an issue.",
            "If there are several options, show a table.",
            "If the user is rude, close the ticket.",
            "Whenever there is a choice, show the options.",
        ],
        &[
            "If the list is empty, show nothing.",
            "For each row, print the total.",
        ],
    );
}

#[test]
fn a_task_of_each_occasion_is_a_rule() {
    distinguishes(
        &[
            "Check that the tests pass before every commit.",
            "Go through the checklist before every release.",
            "Verify that the tests pass before each push.",
            "Test every change on Windows.",
            "Check every number twice.",
            "Sort imports alphabetically and group them.",
            "Use mocks for the network.",
            "Be brief, honestly.",
            "Stop apologizing, lol.",
        ],
        &[
            "Check that the tests pass.",
            "Go through the checklist.",
            "Sort users by age and show them.",
        ],
    );
}

#[test]
fn a_verb_or_an_exclamation_is_no_rule_without_a_verb() {
    distinguishes(
        &[
            "Chapters of about 2000 words.",
            "Sentences no longer than 20 words.",
        ],
        &[
            "Runs in seconds.",
            "Compiles in seconds, thanks!",
            "Query runs in minutes.",
            "Bob sings in good voice.",
            "Looks in order.",
            "Prices no lower than last year.",
            "Lots of about ten people.",
            "Bugs everywhere, please help.",
            "Adults only.",
            "Staff only.",
            "Bullet points only, just this once.",
        ],
    );
}

#[test]
fn an_ordinary_statement_of_the_form_of_a_rule_sets_none() {
    distinguishes(
        &[
            "We round to whole numbers.",
            "The project uses tabs.",
            "Use our style guide.",
            "Wait for my approval.",
            "In your summaries, start with the risks.",
            "You can assume basic knowledge of SQL.",
            "Address the customer by name.",
            "Sign off with Best, Ana.",
            "Nothing ships without my approval.",
            "We can't afford more than 500 euros.",
            "Releases are signed by hand.",
        ],
        &[
            "We log in with Google.",
            "We report to the same manager.",
            "The team supports Bayern.",
            "Use our car.",
            "Preserve the files.",
            "Wait for my brother.",
            "In your dreams, buddy.",
            "You can assume x is positive in this proof.",
            "Address the customer complaint in the second ticket.",
            "Nothing changes without effort.",
            "Only members can enter the lounge.",
            "My boss insists on meetings at seven.",
            "We can't afford a new car.",
            "Sign off with a joke in this letter.",
            "Books are reviewed by my aunt.",
            "Dogs need a test.",
            "Wars count as disasters.",
            "Money is not a concern.",
            "We're at the hotel, so pick a restaurant nearby.",
            "I'm at the store, so write a shopping list.",
            "My test passes, so use the new branch.",
        ],
    );
}

#[test]
fn a_name_is_not_a_limit() {
    distinguishes(
        &["Max 100 words per answer.", "Maximum is 300 words."],
        &["Max and Daisy.", "Max is great, he always cheers me up."],
    );
}
