//! Charts of a session as inline SVG: tokens per message, and a timeline. Tables have the same figures.

use super::escape::escaped;
use super::outline::{HtmlOutline, OutlineEntry, ROLES};
use crate::model::time;
use crate::model::visible::thousands;
use std::fmt::Write as _;

/// Maximum bars of a chart; with more messages, several share a bar.
const BARS: usize = 200;

/// Width of a chart in SVG units.
const WIDTH: f64 = 1000.0;

/// Height of the bars in SVG units.
const HEIGHT: f64 = 100.0;

/// Minimum seconds without a message that count as a pause.
const PAUSE: i64 = 30 * 60;

/// Width of a pause in SVG units.
const GAP: f64 = 24.0;

/// Writes both charts; `address` returns the link to an entry.
pub fn push(out: &mut String, outline: &HtmlOutline, address: &dyn Fn(usize) -> String) {
    if outline.entries.is_empty() {
        return;
    }
    out.push_str("<section class=\"charts\" aria-label=\"Charts\">\n");
    tokens(out, outline, address);
    time_line(out, outline, address);
    out.push_str("</section>\n");
}

fn tokens(out: &mut String, outline: &HtmlOutline, address: &dyn Fn(usize) -> String) {
    let entries = &outline.entries;
    let share = entries.len().div_ceil(BARS);
    let bars: Vec<[u64; 4]> = entries
        .chunks(share)
        .map(|entries| {
            let mut bar = [0; 4];
            entries.iter().for_each(|entry| bar[entry.role] += entry.tokens);
            bar
        })
        .collect();
    let sum = |bar: &[u64; 4]| bar.iter().sum::<u64>();
    let highest = bars.iter().map(sum).max().unwrap_or(0).max(1);
    let what = match (share, outline.is_recorded) {
        (1, true) => "Tokens of each message".to_string(),
        (1, false) => "Tokens of each message, estimated from its length where none are recorded".to_string(),
        (share, true) => format!("Tokens, {share} messages a bar"),
        (share, false) => {
            format!("Tokens, {share} messages a bar, estimated from their length where none are recorded")
        }
    };
    let _ = write!(out, "<figure><figcaption>{what}; highest: {}", thousands(highest));
    for role in ROLES {
        let _ = write!(out, " <span class=\"key {role}\">{role}</span>");
    }
    let _ = write!(
        out,
        "</figcaption>\n<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{what}\">"
    );
    let step = (WIDTH / bars.len() as f64).min(40.0);
    let width = step * 0.8;
    for (nth, bar) in bars.iter().enumerate() {
        let first = nth * share;
        let label = label(entries, first, share, bar);
        let _ = write!(
            out,
            "<a href=\"{}\" tabindex=\"-1\"><title>{label}</title>",
            address(first)
        );
        // The whole height responds to the pointer.
        let left = nth as f64 * step;
        let _ = write!(
            out,
            "<path class=\"hit\" d=\"M{left:.1} 0h{step:.1}v100h-{step:.1}z\"/>"
        );
        let mut bottom = HEIGHT;
        for (role, part) in ROLES.iter().zip(bar).filter(|(_, part)| **part > 0) {
            let height = (*part as f64 / highest as f64 * HEIGHT).max(0.5);
            bottom -= height;
            let _ = write!(
                out,
                "<path class=\"{role}\" d=\"M{left:.1} {bottom:.1}h{width:.1}v{height:.1}h-{width:.1}z\"/>"
            );
        }
        out.push_str("</a>\n");
    }
    out.push_str("</svg>\n<details><summary>Figures</summary><table><thead><tr><th>messages</th>");
    ROLES.iter().for_each(|role| {
        let _ = write!(out, "<th class=\"right\">{role}</th>");
    });
    out.push_str("</tr></thead>\n");
    for (nth, bar) in bars.iter().enumerate() {
        let first = nth * share;
        let _ = write!(
            out,
            "<tr><td><a href=\"{}\">{}</a></td>",
            address(first),
            span(entries, first, share)
        );
        bar.iter().for_each(|part| {
            let _ = write!(out, "<td class=\"right\">{}</td>", thousands(*part));
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</table></details></figure>\n");
}

/// The messages of a bar.
fn span(entries: &[OutlineEntry], first: usize, share: usize) -> String {
    let last = (first + share).min(entries.len()) - 1;
    match first == last {
        true => format!("#{}", number(&entries[first])),
        false => format!("#{}-{}", number(&entries[first]), number(&entries[last])),
    }
}

fn label(entries: &[OutlineEntry], first: usize, share: usize, bar: &[u64; 4]) -> String {
    let mut label = format!("{}:", span(entries, first, share));
    for (role, part) in ROLES.iter().zip(bar).filter(|(_, part)| **part > 0) {
        let _ = write!(label, " {role} {}", thousands(*part));
    }
    label
}

/// The name of a message.
pub fn number(entry: &OutlineEntry) -> &str {
    entry.anchor.strip_prefix('m').unwrap_or(&entry.anchor)
}

/// A run of messages without a pause.
struct MessageRun {
    start: i64,
    end: i64,
    entries: Vec<usize>,
}

fn stretches(entries: &[OutlineEntry]) -> Vec<MessageRun> {
    let mut timed: Vec<(i64, usize)> = Vec::new();
    timed.extend(
        entries
            .iter()
            .enumerate()
            .filter_map(|(nth, entry)| Some((entry.time?, nth))),
    );
    timed.sort_unstable();
    let mut all: Vec<MessageRun> = Vec::new();
    for (time, nth) in timed {
        match all.last_mut() {
            Some(last) if time - last.end <= PAUSE => {
                last.end = time;
                last.entries.push(nth);
            }
            _ => all.push(MessageRun {
                start: time,
                end: time,
                entries: vec![nth],
            }),
        }
    }
    all
}

fn time_line(out: &mut String, outline: &HtmlOutline, address: &dyn Fn(usize) -> String) {
    let entries = &outline.entries;
    let stretches = stretches(entries);
    let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else {
        return;
    };
    if first.start == last.end {
        return;
    }
    let gap = GAP.min(WIDTH / 2.0 / stretches.len() as f64);
    let pauses = stretches.len() - 1;
    let active: i64 = stretches.iter().map(|stretch| stretch.end - stretch.start).sum();
    let room = WIDTH - gap * pauses as f64 - 2.0;
    // A run of a single instant needs a width, too.
    let total = active as f64 + stretches.len() as f64;
    let what = format!(
        "Time line: {} of messages, pauses over 30 minutes are cut",
        duration(active.max(1))
    );
    let _ = write!(
        out,
        "<figure><figcaption>{what}</figcaption>\n<svg viewBox=\"0 0 1000 46\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{what}\">"
    );
    let mut left = 1.0;
    let mut labeled = -1000.0_f64;
    let mut last_end = None;
    let mut marks: [String; 4] = Default::default();
    let mut drawn: [Option<i64>; 4] = [None; 4];
    let mut links = String::new();
    let mut linked = 0;
    for stretch in &stretches {
        if let Some(end) = last_end {
            let middle = left + gap / 2.0;
            let _ = write!(
                out,
                "<path class=\"cut\" d=\"M{:.1} 30l4 -14M{:.1} 30l4 -14\"/>",
                middle - 5.0,
                middle
            );
            if middle - labeled > 60.0 {
                labeled = middle;
                let _ = write!(
                    out,
                    "<text x=\"{middle:.1}\" y=\"44\" text-anchor=\"middle\">{}</text>",
                    duration(stretch.start - end)
                );
            }
            left += gap;
        }
        let width = room * ((stretch.end - stretch.start) as f64 + 1.0) / total;
        let _ = write!(out, "<path class=\"base\" d=\"M{left:.1} 23h{width:.1}\"/>");
        for nth in &stretch.entries {
            let entry = &entries[*nth];
            let Some(time) = entry.time else { continue };
            let at = left
                + width * ((time - stretch.start) as f64 + 0.5)
                    / ((stretch.end - stretch.start) as f64 + 1.0);
            // Skip a second mark of the same role at the same position.
            let place = (at * 2.0) as i64;
            if drawn[entry.role].replace(place) == Some(place) {
                continue;
            }
            let is_question = entry.role == 1 && linked < BARS;
            let (top, height) = if entry.role == 1 { (8, 30) } else { (16, 14) };
            let mark = format!("M{at:.1} {top}v{height}");
            if is_question {
                linked += 1;
                let _ = writeln!(
                    links,
                    "<a href=\"{}\" tabindex=\"-1\"><title>#{} {}</title><path class=\"user\" d=\"{mark}\"/></a>",
                    address(*nth),
                    number(entry),
                    escaped(entry.question.as_deref().unwrap_or("user")),
                );
            } else {
                marks[entry.role].push_str(&mark);
            }
        }
        left += width;
        last_end = Some(stretch.end);
    }
    for (role, marks) in ROLES.iter().zip(&marks).filter(|(_, marks)| !marks.is_empty()) {
        let _ = writeln!(out, "<path class=\"{role}\" d=\"{marks}\"/>");
    }
    out.push_str(&links);
    out.push_str(
        "</svg>\n<details><summary>Figures</summary><table><thead><tr><th>from (UTC)</th><th>to</th>\
         <th class=\"right\">messages</th><th class=\"right\">length</th><th class=\"right\">pause before</th></tr></thead>\n",
    );
    let mut last_end = None;
    for stretch in stretches.iter().take(BARS) {
        let pause = last_end.map_or(String::new(), |end| duration(stretch.start - end));
        let first = stretch.entries.first().map_or(String::new(), |nth| address(*nth));
        let _ = writeln!(
            out,
            "<tr><td><a href=\"{first}\">{}</a></td><td>{}</td><td class=\"right\">{}</td><td class=\"right\">{}</td><td class=\"right\">{pause}</td></tr>",
            moment(stretch.start),
            moment(stretch.end),
            thousands(stretch.entries.len() as u64),
            duration(stretch.end - stretch.start),
        );
        last_end = Some(stretch.end);
    }
    out.push_str("</table></details></figure>\n");
}

/// A time in UTC for human readers.
pub fn moment(seconds: i64) -> String {
    let time = time::from_epoch(seconds as f64).unwrap_or_default();
    time.trim_end_matches('Z').replace('T', " ")
}

/// A duration in its largest units: `45 s`, `12 min`, `2 h 5 min`, `3 d 4 h`.
pub fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let two = |large: i64, unit: &str, small: i64, below: &str| match small {
        0 => format!("{large} {unit}"),
        small => format!("{large} {unit} {small} {below}"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => two(hours, "h", minutes % 60, "min"),
        (days, hours, _) => two(days, "d", hours % 24, "h"),
    }
}
