//! Tables for people, as wide as the terminal; elsewhere 80 columns, so that files and pipes get the same everywhere.

use super::{
    Sink, Target,
    paint::{BAD, BAR, BEST, TITLE, painted},
    place::located,
};
use crate::{
    compare::{self, Comparison},
    record::{Record, Run, Status},
    view::{self, Column, Content, Table},
};
use std::io::{self, Write};

/// The width where there is no terminal. Text is never wider, because long lines are hard to read.
const WIDTH: usize = 80;

/// The gap between columns.
const GAP: usize = 2;

/// The width of titles before text.
const INDENT: usize = 12;

/// The width of the longest bar.
const BAR_WIDTH: usize = 8;

/// Writes results as text, with colours, which `out` may have to remove.
#[derive(Debug)]
pub struct Terminal<W> {
    out: W,
    /// Whether to leave out everything but results.
    quiet: bool,
    /// How many columns there are.
    width: usize,
}

impl<W: Write> Terminal<W> {
    /// A sink that writes to `out`.
    pub fn new(out: W, quiet: bool) -> Self {
        Terminal { out, quiet, width: WIDTH }
    }

    /// The same for a terminal that has so many `columns`.
    pub fn wide(self, columns: u16) -> Self {
        Terminal { width: columns.into(), ..self }
    }

    /// Writes `text` as it is.
    ///
    /// # Errors
    ///
    /// If it cannot be written: a broken pipe if the reader has gone away, such as `head`.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        // It may be the standard error, but then this cannot be read anyway.
        written.map_err(|why| located(&Target::Output, &why))
    }

    /// Writes a comparison: what is compared, a table for each run, and remarks on the tables.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn comparison(&mut self, comparison: &Comparison) -> io::Result<()> {
        let mut text = String::new();
        if !self.quiet {
            text += &(self.titled("old", &comparison.old) + &self.titled("new", &comparison.new) + "\n");
        }
        for run in &comparison.runs {
            text += &self.wrapped(&format!("compared: {}", run.title), 0);
            text += &format!("\n{}", self.drawn(&compare::table(&run.changes)));
        }
        text.extend(comparison.remarks().iter().map(|line| self.wrapped(line, 0)));
        self.write(&text)
    }

    /// Writes `text` in lines that fit. Lines that are indented, such as code, are left as they are.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn prose(&mut self, text: &str) -> io::Result<()> {
        let fitted = |line: &str| if line.starts_with(' ') { format!("{line}\n") } else { self.wrapped(line, 0) };
        self.write(&text.lines().map(fitted).collect::<String>())
    }

    /// Figures, and why there are none.
    fn results(&self, run: &Run) -> String {
        let mut text = view::results(run).map(|table| self.drawn(&table)).unwrap_or_default();
        for row in &run.rows {
            if let Some(why) = &row.error {
                let line = format!("{} {why}", row.executor);
                text += &match row.status() {
                    Status::Failed => {
                        self.wrapped(&format!("FAILED: {line}"), 0).replacen("FAILED:", &painted(BAD, "FAILED:"), 1)
                    }
                    Status::Measured | Status::NotMeasured => self.wrapped(&line, 0),
                };
                text.push('\n');
            }
        }
        text
    }

    /// `table`, in as many pieces as the width requires, each with the names at the left.
    fn drawn(&self, table: &Table) -> String {
        let mut columns = table.columns.iter().map(|column| Drawn::new(column, table.best));
        let Some(names) = columns.next() else { return String::new() };
        let (mut text, mut piece, mut width) = (String::new(), Vec::new(), names.width);
        for column in columns {
            if width + GAP + column.width > self.width && !piece.is_empty() {
                text += &drawn_piece(&names, &piece);
                piece.clear();
                width = names.width;
            }
            width += GAP + column.width;
            piece.push(column);
        }
        text + &drawn_piece(&names, &piece)
    }

    fn titled(&self, title: &str, text: &str) -> String {
        let text = self.wrapped(text, INDENT);
        format!("{}{}", painted(TITLE, &format!("{title:INDENT$}")), &text[INDENT..])
    }

    /// The words of `text` in lines that fit, each indented.
    fn wrapped(&self, text: &str, indent: usize) -> String {
        let lines = view::lines(text, self.width.min(WIDTH).saturating_sub(indent));
        lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
    }
}

impl<W: Write> Sink for Terminal<W> {
    fn begin(&mut self, record: &Record) -> io::Result<()> {
        let (run, before) = match &record.runs[..] {
            [.., before, run] => (run, Some(before)),
            [run] => (run, None),
            [] => return Ok(()),
        };
        let mut text = String::new();
        if before.is_none() && !self.quiet {
            text.extend(view::facts(record).into_iter().map(|(title, line)| self.titled(title, &line)));
        }
        if before.is_none_or(|before| before.experiment != run.experiment) {
            text += &self.titled("experiment", view::experiment(run));
        }
        text.extend(view::news(run, before).into_iter().map(|(title, line)| self.titled(title, line)));
        if text.is_empty() { Ok(()) } else { self.write(&format!("{text}\n")) }
    }

    /// What was printed cannot be replaced by a newer state.
    fn update(&mut self, _record: &Record) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, record: &Record) -> io::Result<()> {
        let Some(run) = record.runs.last() else { return Ok(()) };
        let mut text = self.results(run);
        if let Some(ending) = view::ending(run).filter(|_| !self.quiet) {
            text += &self.wrapped(&ending, 0);
            text.push('\n');
        }
        self.write(&text)
    }

    fn finish(&mut self, record: &Record) -> io::Result<()> {
        let mut text = String::new();
        for sweep in view::sweeps(record) {
            text += &self.wrapped(&sweep.caption(), 0);
            text += &format!("\n{}", self.drawn(&sweep.table()));
        }
        if !self.quiet {
            text += &self.wrapped(&view::footnote(record), 0);
        }
        self.write(&text)
    }
}

/// A column as it is drawn.
struct Drawn {
    /// Its title, in as many lines as all titles have, and a cell for each row, all as wide as the widest.
    lines: Vec<String>,
    width: usize,
}

impl Drawn {
    fn new(column: &Column, best: Option<usize>) -> Self {
        let (cells, left): (Vec<String>, bool) = match &column.content {
            Content::Names(cells) => (cells.clone(), true),
            Content::Figures(cells) => (cells.clone(), false),
            Content::Bars(bars) => (bars.iter().map(|bar| bar.map(drawn_bar).unwrap_or_default()).collect(), true),
        };
        let lines: Vec<String> = column.title.iter().cloned().chain(cells).collect();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let aligned = |line: &String| if left { format!("{line:width$}") } else { format!("{line:>width$}") };
        let style = |index: usize| match (&column.content, index.checked_sub(column.title.len())) {
            (_, None) => Some(TITLE),
            (Content::Bars(_), _) => Some(BAR),
            (Content::Names(_), Some(row)) if Some(row) == best => Some(BEST),
            _ => None,
        };
        let styled = |(index, line)| match style(index) {
            Some(style) => painted(style, &aligned(line)),
            None => aligned(line),
        };
        Drawn { lines: lines.iter().enumerate().map(styled).collect(), width }
    }
}

/// A bar of the fraction `part` of the width, to an eighth of a character.
fn drawn_bar(part: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * (BAR_WIDTH * 8) as f64).round() as usize;
    let eighths = eighths.max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Names to the left, figures to the right.
fn drawn_piece(names: &Drawn, columns: &[Drawn]) -> String {
    let mut text = String::new();
    for (index, name) in names.lines.iter().enumerate() {
        let line =
            columns.iter().fold(name.clone(), |line, column| format!("{line}{:GAP$}{}", "", column.lines[index]));
        text += line.trim_end();
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::mock::{TERMS, faster, of_processes},
        record::mock::record,
    };

    /// All that a terminal shows of `record`.
    fn coloured(record: &Record) -> String {
        let mut text = Vec::new();
        let mut terminal = Terminal::new(&mut text, false);
        for runs in 1..=record.runs.len() {
            let record = Record { runs: record.runs[..runs].to_vec(), ..record.clone() };
            terminal.begin(&record).expect("memory");
            terminal.end(&record).expect("memory");
        }
        terminal.finish(record).expect("memory");
        String::from_utf8(text).expect("text")
    }

    /// What is left of that if it has no colours.
    fn shown(record: &Record) -> String {
        anstream::adapter::strip_str(&coloured(record)).to_string()
    }

    /// Each style as a word in braces.
    #[test]
    fn colours_tell_the_best_from_what_failed() {
        let mut text = coloured(&record());
        for (style, name) in [(BEST, "best"), (BAD, "bad"), (BAR, "bar"), (TITLE, "title")] {
            text = text.replace(&style.to_string(), &format!("{{{name} "));
        }
        let text = text.replace("\x1b[0m", "}");
        assert!(!text.contains('\x1b'), "{text:?}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn everything_is_told_once_within_the_width() {
        let text = shown(&record());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_comparison_is_a_table_for_each_run() {
        let mut text = Vec::new();
        let comparison = Comparison::of(&of_processes(), &faster(0.7), &TERMS).expect("alike");
        let mut terminal = Terminal::new(anstream::StripStream::new(&mut text), false);
        terminal.comparison(&comparison).expect("memory");
        let text = String::from_utf8(text).expect("text");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_wide_table_goes_on_below_itself() {
        let column = Column::text(["median", "M jobs/s"], ["1.00".to_owned()]);
        let mut columns = vec![Column::names(["executor", ""], ["workstealing-spin-counted".to_owned()])];
        columns.extend(vec![column; 7]);
        let table = Table { columns, best: None };
        for (width, pieces) in [(40, 7), (80, 2), (94, 2), (95, 1), (200, 1)] {
            let text = Terminal::new(Vec::new(), false).wide(width).drawn(&table);
            let text = anstream::adapter::strip_str(&text).to_string();
            assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{text}");
            assert_eq!(text.matches("workstealing-spin-counted").count(), pieces, "{text}");
            assert_eq!(text.matches("median").count(), 7);
        }
    }

    #[test]
    fn long_lines_are_wrapped() {
        let mut record = record();
        record.program.command = "x ".repeat(100);
        record.runs[0].description = vec![("load".to_owned(), "heavy ".repeat(30))];
        let text = shown(&record);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn text_is_as_narrow_as_the_terminal_but_not_as_wide() {
        for (columns, longest) in [(1, 1), (40, 39), (80, 79), (200, 79)] {
            let mut text = Vec::new();
            Terminal::new(&mut text, false).wide(columns).prose(&"x ".repeat(200)).expect("memory");
            let text = String::from_utf8(text).expect("text");
            assert_eq!(text.lines().map(str::len).max(), Some(longest), "{columns}: {text}");
        }
    }

    #[test]
    fn bars_are_as_long_as_what_they_stand_for() {
        assert_eq!(drawn_bar(1.0), "████████");
        assert_eq!(drawn_bar(0.5), "████");
        assert_eq!(drawn_bar(0.02), "▏");
    }

    #[test]
    fn a_reader_that_has_gone_can_be_told_from_a_full_disk() {
        use std::io::ErrorKind;

        struct Broken(ErrorKind);

        impl Write for Broken {
            fn write(&mut self, _text: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        for kind in [ErrorKind::BrokenPipe, ErrorKind::StorageFull] {
            let told = Terminal::new(Broken(kind), false).begin(&record());
            let why = told.expect_err("it is broken");
            assert_eq!(why.kind(), kind);
            assert!(why.to_string().starts_with("the standard output: "), "{why}");
        }
    }
}
