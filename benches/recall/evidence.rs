//! Evidence recall: the share of the text with the answers to the questions that is kept.

use super::BUDGETS;
use super::dialogue::Dialogue;
use super::methods::Method;

pub fn print(dialogues: &[Dialogue], methods: &[Box<dyn Method>]) {
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.turns.len()).sum();
    let tokens: u64 = dialogues.iter().map(Dialogue::tokens).sum();
    let questions: usize = dialogues.iter().map(|dialogue| dialogue.questions.len()).sum();
    println!(
        "Evidence recall, % (all evidence kept, % of questions; budget used, %): {} conversations, {turns} turns, {tokens} tokens, \
         {questions} questions\n",
        dialogues.len()
    );
    print!("{:32}", "method");
    for budget in BUDGETS {
        print!("{:>21}", format!("{budget} %"));
    }
    println!();
    for method in methods {
        print!("{:32}", method.name());
        for budget in BUDGETS {
            let (mut recall, mut whole, mut used) = (0.0, 0usize, 0.0);
            for dialogue in dialogues {
                let kept = method.keep(dialogue, dialogue.budget(budget));
                used += kept.tokens as f64 / dialogue.budget(budget) as f64;
                for evidence in &dialogue.questions {
                    let found: f64 = evidence.iter().map(|turn| kept.shares[*turn]).sum();
                    recall += found / evidence.len() as f64;
                    whole += usize::from(evidence.iter().all(|turn| kept.shares[*turn] == 1.0));
                }
            }
            let share = |sum: f64| 100.0 * sum / questions.max(1) as f64;
            print!(
                "{:>21}",
                format!(
                    "{:.1} ({:.1}) {:.0}",
                    share(recall),
                    share(whole as f64),
                    100.0 * used / dialogues.len() as f64
                )
            );
        }
        println!();
    }
    println!();
}
