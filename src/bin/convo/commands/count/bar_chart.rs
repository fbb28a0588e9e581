//! Draws tokens as a bar chart on a terminal.

use crate::output::in_line;
use convo::tokens::usage::UsageGroup;
use textwrap::core::display_width;

/// Maximum width of a name, in columns.
const NAME: usize = 24;

/// Blocks of 0 to 7 eighths of a column.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws one bar for each group with tokens in the view, as wide as the terminal.
pub fn bars(groups: &[UsageGroup], by: &str, tokenizer: &str, columns: usize, colored: bool) -> String {
    let shown: Vec<&UsageGroup> = groups.iter().filter(|group| group.view.tokens > 0).collect();
    let total: u64 = shown.iter().map(|group| group.view.tokens).sum();
    let Some(most) = shown.iter().map(|group| group.view.tokens).max() else {
        return String::new();
    };
    let names: Vec<String> = shown.iter().map(|group| short(&in_line(&group.name))).collect();
    let name_width = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
    let number_width = most.to_string().len();
    // Name, bar, number and percentage, separated by blanks, and one free column, which some terminals need.
    let room = columns.saturating_sub(name_width + number_width + 10).max(1);
    let mut out = format!("\ntokens in view by {by}, {tokenizer}\n");
    for (group, name) in shown.iter().zip(&names) {
        let tokens = group.view.tokens;
        let bar = bar(tokens, most, room);
        let padding = " ".repeat(name_width - display_width(name));
        let space = " ".repeat(room - display_width(&bar));
        let bar = if colored {
            format!("\x1b[36m{bar}\x1b[0m")
        } else {
            bar
        };
        let share = tokens as f64 * 100.0 / total as f64;
        out.push_str(&format!(
            "{name}{padding} {bar}{space} {tokens:>number_width$} {share:>5.1}%\n"
        ));
    }
    out
}

/// Shortens a name to its column.
fn short(name: &str) -> String {
    if display_width(name) <= NAME {
        return name.to_string();
    }
    let (mut kept, mut width) = (String::new(), 0);
    for character in name.chars() {
        width += display_width(character.encode_utf8(&mut [0; 4]));
        if width >= NAME {
            break;
        }
        kept.push(character);
    }
    kept + "…"
}

/// Draws a bar of `room * tokens / most` columns, at least one eighth.
fn bar(tokens: u64, most: u64, room: usize) -> String {
    let eighths = (u128::from(tokens) * room as u128 * 8).div_ceil(u128::from(most)) as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use convo::tokens::usage::TokenFigure;

    fn group(name: &str, tokens: u64) -> UsageGroup {
        let view = TokenFigure { messages: 1, tokens };
        UsageGroup {
            name: name.to_string(),
            view,
            ..UsageGroup::default()
        }
    }

    #[test]
    fn bars_are_as_wide_as_the_terminal() {
        let groups = [
            group("user", 100),
            group("assistant", 50),
            group("日本語の道具", 1),
            group("gone", 0),
        ];
        for columns in [20, 40, 80, 200] {
            let picture = bars(&groups, "role", "o200k_base", columns, false);
            let lines: Vec<&str> = picture.lines().skip(2).collect();
            assert_eq!(lines.len(), 3, "{picture}");
            let width = columns.max(12 + 3 + 11) - 1;
            assert!(
                lines.iter().all(|line| display_width(line) == width),
                "{columns}\n{picture}"
            );
        }
        let plain = bars(&groups, "tool", "chars4", 40, false);
        let blocks = |line: &str| line.chars().filter(|block| *block == '█').count();
        let counts: Vec<usize> = plain.lines().skip(2).map(blocks).collect();
        assert_eq!(counts, [15, 7, 0]);
        assert!(plain.starts_with("\ntokens in view by tool, chars4\n") && !plain.contains('\x1b'));
        assert!(bars(&groups, "role", "chars4", 40, true).contains("\x1b[36m"));
        assert_eq!(bars(&groups[3..], "role", "chars4", 40, true), "");
        assert_eq!(bars(&[], "role", "chars4", 40, true), "");
    }

    #[test]
    fn long_and_unusual_names_fit_their_column() {
        for name in ["a".repeat(100), "日".repeat(100), "x\u{1b}[2J\n".repeat(10)] {
            let picture = bars(&[group(&name, 3)], "tool", "chars4", 60, false);
            let line = picture.lines().nth(2).unwrap();
            assert!(line.contains('…') && display_width(line) == 59, "{line}");
            assert_eq!(picture.lines().count(), 3);
        }
    }
}
