//! Tables of reports: aligned columns on a terminal, tab-separated values elsewhere.

use crate::output::{Output, columns, in_line};
use crate::terminal::measure::{columns_of, cut, cut_start, size, thousands};
use crate::terminal::time_format::Times;
use convo::error::Error;

/// Columns between two cells.
const GAP: usize = 2;

/// Minimum width of the column that takes the rest of the line, as long as other columns can be cut.
const LEAST_REST: usize = 20;

/// Its minimum width before names and ids are cut.
const LESS_REST: usize = 12;

/// Minimum width of other columns before whole columns are omitted.
const LEAST_TEXT: usize = 8;

/// A column: its header, alignment and style.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    header: &'static str,
    kind: CellKind,
    /// Minimum terminal width for which the column is shown.
    from: usize,
    /// Maximum width; wider cells are cut.
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Text,
    Dim,
    Number,
    Rest,
    Path,
}

impl Column {
    const fn new(header: &'static str, kind: CellKind) -> Column {
        Column {
            header,
            kind,
            from: 0,
            most: usize::MAX,
        }
    }

    /// Left-aligned text.
    pub const fn text(header: &'static str) -> Column {
        Column::new(header, CellKind::Text)
    }

    /// Dim text: metadata.
    pub const fn dim(header: &'static str) -> Column {
        Column::new(header, CellKind::Dim)
    }

    /// Right-aligned numbers.
    pub const fn number(header: &'static str) -> Column {
        Column::new(header, CellKind::Number)
    }

    /// Text that takes the rest of the line and is cut at its end. At most one column of a table.
    pub const fn rest(header: &'static str) -> Column {
        Column::new(header, CellKind::Rest)
    }

    /// Like [`Column::rest`] for paths, which are cut at their start.
    pub const fn path(header: &'static str) -> Column {
        Column::new(header, CellKind::Path)
    }

    /// Omits the column on terminals with fewer columns.
    pub const fn needs_width(self, columns: usize) -> Column {
        Column {
            from: columns,
            ..self
        }
    }

    /// Sets the maximum width.
    pub const fn at_most(self, columns: usize) -> Column {
        Column {
            most: columns,
            ..self
        }
    }
}

/// A value of a row.
#[derive(Clone, Debug)]
pub enum Cell {
    Text(String),
    /// An id: complete when piped, short on a terminal.
    Id {
        /// The complete id.
        id: String,
        /// The short id.
        short: String,
        /// Number of bytes of it that are bold.
        unique: usize,
        /// Depth in a tree.
        depth: usize,
    },
    /// A number, with thousands separators on a terminal.
    Number(Option<u64>),
    /// A number of bytes, on a terminal with a unit.
    Bytes(Option<u64>),
    /// An RFC 3339 time: see [`Times`].
    Time(Option<String>),
}

/// The text of a cell on a terminal, and its bold range.
struct Rendered {
    text: String,
    bold: std::ops::Range<usize>,
}

impl Cell {
    fn rendered(&self, times: &Times) -> Rendered {
        let plain = |text: String| Rendered { text, bold: 0..0 };
        match self {
            Cell::Text(text) => plain(in_line(text)),
            Cell::Id {
                short, unique, depth, ..
            } => {
                let indent = match depth {
                    0 => String::new(),
                    depth => format!("{}└ ", "  ".repeat(depth - 1)),
                };
                let start = indent.len();
                let short = in_line(short);
                let bold = start..start + (*unique).min(short.len());
                Rendered {
                    text: indent + &short,
                    bold,
                }
            }
            Cell::Number(number) => plain(number.map_or("-".to_string(), thousands)),
            Cell::Bytes(number) => plain(number.map_or("-".to_string(), size)),
            Cell::Time(time) => plain(time.as_deref().map_or("-".to_string(), |time| times.shown(time))),
        }
    }

    /// The cell as a tab-separated value.
    pub fn value(&self, times: &Times) -> String {
        match self {
            // Control characters would break the row for some readers.
            Cell::Text(text) => crate::output::visible(text).replace(['\t', '\n'], " "),
            Cell::Id { id, depth, .. } => format!("{}{}", "  ".repeat(*depth), in_line(id)),
            Cell::Number(number) | Cell::Bytes(number) => {
                number.map_or("-".to_string(), |number| number.to_string())
            }
            Cell::Time(time) => time
                .as_deref()
                .map_or("-".to_string(), |time| times.machine(time)),
        }
    }
}

/// A table: its columns, and how times are shown.
pub struct Table<'t> {
    columns: &'t [Column],
    times: &'t Times,
    /// Whether a terminal shows the headers.
    header: bool,
    /// Whether rows end with NUL. Then a terminal gets tab-separated values, too.
    null: bool,
    footer: Option<String>,
}

impl<'t> Table<'t> {
    /// A table with headers and without a footer.
    pub fn new(columns: &'t [Column], times: &'t Times) -> Table<'t> {
        Table {
            columns,
            times,
            header: true,
            null: false,
            footer: None,
        }
    }

    /// Shows or hides the headers.
    pub fn header(self, header: bool) -> Self {
        Table { header, ..self }
    }

    /// Ends rows with NUL instead of a newline.
    pub fn null(self, null: bool) -> Self {
        Table { null, ..self }
    }

    /// Adds a last line on a terminal, such as totals.
    pub fn footer(self, footer: String) -> Self {
        Table {
            footer: Some(footer),
            ..self
        }
    }

    /// Prints the rows. A row may have fewer or, when piped, more cells than there are columns.
    pub fn print(self, output: &Output, rows: impl Iterator<Item = Vec<Cell>>) -> anyhow::Result<()> {
        let failed = |error| Error::io("cannot write", error);
        match columns().filter(|_| !self.null) {
            Some(width) => {
                let rows: Vec<Vec<Rendered>> = rows
                    .map(|row| row.iter().map(|cell| cell.rendered(self.times)).collect())
                    .collect();
                output.page(&self.drawn(&rows, width, output.colored()))
            }
            None => output.stdout(|out| {
                let end = if self.null { '\0' } else { '\n' };
                for row in rows {
                    let values: Vec<String> = row.iter().map(|cell| cell.value(self.times)).collect();
                    let line = values.join("\t");
                    write!(out, "{}{end}", line.trim_end_matches(' ')).map_err(failed)?;
                }
                Ok(())
            }),
        }
    }

    /// Draws the table for a terminal of this width.
    fn drawn(&self, rows: &[Vec<Rendered>], width: usize, colored: bool) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len())
            .filter(|column| self.columns[*column].from <= width)
            .collect();
        let mut widths: Vec<usize> = shown
            .iter()
            .map(|column| {
                let header = if self.header {
                    self.columns[*column].header.len()
                } else {
                    0
                };
                let cells = rows.iter().filter_map(|row| row.get(*column));
                let widest = cells.map(|cell| columns_of(&cell.text)).max().unwrap_or(0);
                widest.min(self.columns[*column].most).max(header)
            })
            .collect();
        self.fit(&mut shown, &mut widths, width);
        let mut out = String::new();
        if self.header && !rows.is_empty() {
            let cells = shown
                .iter()
                .map(|column| (self.columns[*column].header, 0..0, self.columns[*column].kind));
            push_line(&mut out, cells, &widths, colored.then_some("1"));
        }
        for row in rows {
            let cells = shown.iter().map(|column| match row.get(*column) {
                Some(cell) => (&*cell.text, cell.bold.clone(), self.columns[*column].kind),
                None => ("", 0..0, self.columns[*column].kind),
            });
            push_line(&mut out, cells, &widths, colored.then_some(""));
        }
        if let Some(footer) = &self.footer {
            let footer = cut(footer, width);
            out.push_str(&if colored { paint("2", &footer) } else { footer });
            out.push('\n');
        }
        out
    }

    /// Narrows columns until a line fits: first the one that takes the rest, then metadata, then other text. Then omits
    /// columns from the right.
    fn fit(&self, shown: &mut Vec<usize>, widths: &mut Vec<usize>, width: usize) {
        loop {
            let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
            let over = total.saturating_sub(width);
            if over == 0 {
                return;
            }
            let kind = |at: usize| self.columns[shown[at]].kind;
            let rest = (0..shown.len()).find(|at| matches!(kind(*at), CellKind::Rest | CellKind::Path));
            let widest = |wanted: CellKind| {
                let cuttable = (0..shown.len()).filter(|at| kind(*at) == wanted && widths[*at] > LEAST_TEXT);
                cuttable.max_by_key(|at| widths[*at])
            };
            let (at, least) = match (rest, widest(CellKind::Dim), widest(CellKind::Text)) {
                (Some(rest), ..) if widths[rest] > LEAST_REST => (rest, LEAST_REST),
                (_, Some(dim), _) => (dim, LEAST_TEXT),
                (Some(rest), ..) if widths[rest] > LESS_REST => (rest, LESS_REST),
                (_, _, Some(text)) => (text, LEAST_TEXT),
                (Some(rest), ..) if widths[rest] > LEAST_TEXT => (rest, LEAST_TEXT),
                _ if shown.len() > 1 => {
                    // Keep the first column and the one that takes the rest; omit the last of the others.
                    let last = (1..shown.len()).rev().find(|at| Some(*at) != rest).unwrap_or(1);
                    shown.remove(last);
                    widths.remove(last);
                    continue;
                }
                _ => (0, 1),
            };
            let cut = over.min(widths[at].saturating_sub(least));
            if cut == 0 {
                return;
            }
            widths[at] -= cut;
        }
    }
}

/// Adds a line; `style` applies to the whole line, an empty one selects the style of each column, none no color.
fn push_line<'c>(
    out: &mut String,
    cells: impl Iterator<Item = (&'c str, std::ops::Range<usize>, CellKind)>,
    widths: &[usize],
    style: Option<&str>,
) {
    let start = out.len();
    let mut pending = 0;
    for ((text, bold, kind), width) in cells.zip(widths) {
        let text = match kind {
            CellKind::Path => cut_start(text, *width),
            _ => cut(text, *width),
        };
        let padding = width.saturating_sub(columns_of(&text));
        if kind == CellKind::Number {
            pending += padding;
        }
        if !text.is_empty() {
            out.extend(std::iter::repeat_n(' ', pending));
            pending = 0;
            let bold = bold.start.min(text.len())..bold.end.min(text.len());
            match (style, kind) {
                (Some(""), CellKind::Dim) => out.push_str(&paint("2", &text)),
                (Some(""), _) if !bold.is_empty() && text.is_char_boundary(bold.end) => {
                    out.push_str(&text[..bold.start]);
                    out.push_str(&paint("1", &text[bold.clone()]));
                    out.push_str(&text[bold.end..]);
                }
                (None | Some(""), _) => out.push_str(&text),
                (Some(style), _) => out.push_str(&paint(style, &text)),
            }
        }
        if kind != CellKind::Number {
            pending += padding;
        }
        pending += GAP;
    }
    let end = start + out[start..].trim_end_matches(' ').len();
    out.truncate(end);
    out.push('\n');
}

fn paint(style: &str, text: &str) -> String {
    format!("\x1b[{style}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 5] = [
        Column::text("ID"),
        Column::dim("UPDATED"),
        Column::number("MSGS").needs_width(45),
        Column::dim("PROJECT").needs_width(70),
        Column::rest("TITLE"),
    ];

    fn drawn(titles: &[&str], width: usize, colored: bool) -> String {
        let times = Times::fixed("2026-11-20T18:02:03Z");
        let rows: Vec<Vec<Rendered>> = titles
            .iter()
            .map(|title| {
                let cells = [
                    Cell::Id {
                        id: "019e19b4-aa".to_string(),
                        short: "019e19b4".to_string(),
                        unique: 3,
                        depth: 0,
                    },
                    Cell::Time(Some("2026-11-20T16:00:00Z".to_string())),
                    Cell::Number(Some(12_345)),
                    Cell::Text("demo".to_string()),
                    Cell::Text((*title).to_string()),
                ];
                cells.iter().map(|cell| cell.rendered(&times)).collect()
            })
            .collect();
        Table::new(&COLUMNS, &times)
            .footer(format!("{} sessions", titles.len()))
            .drawn(&rows, width, colored)
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let titles = [
            "Plain title of some length, which goes on and on and on and on and on and on and on",
            "\u{6f22}\u{5b57}\u{306e}\u{984c}\u{540d}\u{306f}\u{5e45}\u{304c}\u{5e83}\u{3044}\u{6f22}\u{5b57}\u{306e}\u{984c}\u{540d}\u{306f}\u{5e45}\u{304c}\u{5e83}\u{3044}",
            "\u{05e9}\u{05dc}\u{05d5}\u{05dd} \u{05e2}\u{05d5}\u{05dc}\u{05dd} and more of the same title to fill the line",
            "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
            "\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}",
            "one\ttwo\nthree\u{1b}[2J\u{7}\u{202e}",
        ];
        let long = "x".repeat(10_000);
        for width in 1..=200 {
            let text = drawn(&[&titles[..], &[&long, ""]].concat(), width, false);
            assert_eq!(text.lines().count(), titles.len() + 4, "{width}: {text}");
            for line in text.lines() {
                assert!(columns_of(line) <= width, "{width}: {line}");
                assert!(!line.contains(char::is_control), "{line:?}");
            }
        }
    }

    #[test]
    fn columns_are_omitted_by_width() {
        let header = |width| {
            drawn(&["Title"], width, false)
                .lines()
                .next()
                .unwrap()
                .to_string()
        };
        assert_eq!(header(80), "ID        UPDATED    MSGS  PROJECT  TITLE");
        assert_eq!(header(60), "ID        UPDATED    MSGS  TITLE");
        assert_eq!(header(44), "ID        UPDATED  TITLE");
        assert_eq!(header(20), "ID        TITLE");
        assert_eq!(
            drawn(&["A title"], 40, false),
            "ID        UPDATED  TITLE\n019e19b4  2h ago   A title\n1 sessions\n"
        );
    }

    #[test]
    fn headers_and_unique_beginnings_are_bold_and_metadata_is_dim() {
        let text = drawn(&["T"], 80, true);
        assert!(text.starts_with("\x1b[1mID\x1b[0m  "), "{text:?}");
        assert!(
            text.contains("\n\x1b[1m019\x1b[0me19b4  \x1b[2m2h ago\x1b[0m   12,345  \x1b[2mdemo"),
            "{text:?}"
        );
        assert!(text.ends_with("\x1b[2m1 sessions\x1b[0m\n"), "{text:?}");
        assert!(!drawn(&["T"], 80, false).contains('\x1b'));
    }
}
