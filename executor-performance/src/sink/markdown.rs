//! Tables for documents.

use crate::{
    advice::Advice,
    compare::{self, Comparison},
    record::{Record, Run, Status},
    view::{self, Content, Table, sweeps},
};

/// The document.
pub(super) fn page(record: &Record, comparison: Option<&Comparison>) -> String {
    let mut text = "# Executors measured\n\n".to_owned();
    for (title, line) in view::facts(record) {
        text += &format!("- **{title}**: {}\n", escaped(&line));
    }
    if let Some(advice) = Advice::recorded(record) {
        text += &format!("\n## Recommended\n\n{advice}");
    }
    if let Some(comparison) = comparison {
        text += &format!("\n## Compared with the baseline\n\n{}", changes(comparison, "###"));
    }
    for sweep in sweeps(record) {
        text +=
            &format!("\n## {}\n\n{}\n{}.\n", escaped(&sweep.title()), table(&sweep.table()), escaped(&sweep.caption()));
    }
    for run in &record.runs {
        text += &section(run);
    }
    text + &format!("\n{}\n", view::footnote(record))
}

/// The document of a comparison alone.
pub(super) fn comparison_page(comparison: &Comparison) -> String {
    format!("# Executors compared\n\n{}", changes(comparison, "##"))
}

/// The changes of each run, under titles that begin with `level`.
fn changes(comparison: &Comparison, level: &str) -> String {
    let mut text = format!("- **old**: {}\n- **new**: {}\n", escaped(&comparison.old), escaped(&comparison.new));
    for run in &comparison.runs {
        text += &format!("\n{level} {}\n\n{}", escaped(&run.title), table(&compare::table(&run.changes)));
    }
    text + &comparison.remarks().iter().map(|line| format!("\n{}\n", escaped(line))).collect::<String>()
}

fn section(run: &Run) -> String {
    let mut text = format!("\n## {}: {}\n\n", escaped(view::experiment(run)), escaped(&view::settings(run)));
    for doubt in &run.warnings {
        text += &format!("> **Warning**: {}\n\n", escaped(doubt));
    }
    for (title, line) in &run.description {
        text += &format!("- {}: {}\n", escaped(title), escaped(line));
    }
    text += &view::results(run).map(|results| format!("\n{}", table(&results))).unwrap_or_default();
    for row in &run.rows {
        if let Some(why) = &row.error {
            let verdict = if row.status() == Status::Failed { "**Failed**: " } else { "" };
            text += &format!("\n{verdict}{} {}\n", escaped(&row.executor), escaped(why));
        }
    }
    text + &format!("\n{}. {}\n", run.began_utc, view::ending(run).as_deref().unwrap_or("Not finished yet."))
}

/// Bars are left out. The best row is bold.
fn table(table: &Table) -> String {
    let columns: Vec<(String, &[String], bool)> = table
        .columns
        .iter()
        .filter_map(|column| {
            let title = column.title.join(" ");
            match &column.content {
                Content::Names(cells) => Some((title, cells.as_slice(), true)),
                Content::Figures(cells) => Some((title, cells.as_slice(), false)),
                Content::Bars(_) => None,
            }
        })
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|(title, ..)| escaped(title.trim())).collect());
    text += &format!(
        "|{}|\n",
        columns.iter().map(|(_, _, left)| if *left { "---" } else { "---:" }).collect::<Vec<_>>().join("|")
    );
    for row in 0..columns.first().map_or(0, |(_, cells, _)| cells.len()) {
        let bold = |cell: &str, left: bool| {
            if left && table.best == Some(row) { format!("**{}**", escaped(cell)) } else { escaped(cell) }
        };
        text += &line(columns.iter().map(|(_, cells, left)| bold(&cells[row], *left)).collect());
    }
    text
}

/// `text` with Markdown's special characters escaped.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, letter| {
        if matches!(letter, '|' | '*' | '_' | '<' | '`' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::mock::record;

    #[test]
    fn a_document_has_a_table_for_each_run() {
        insta::assert_snapshot!(page(&record(), None));
    }

    #[test]
    fn names_are_escaped_wherever_they_stand() {
        let mut record = record();
        for run in &mut record.runs {
            run.experiment = "more_put".to_owned();
            run.description = vec![("the_load".to_owned(), "some".to_owned())];
            run.columns.iter_mut().for_each(|column| column.title = "a|b".to_owned());
            run.rows.iter_mut().for_each(|row| row.executor = "rusty_pool".to_owned());
        }
        let text = page(&record, None);
        for (name, escaped) in
            [("more_put", r"more\_put"), ("the_load", r"the\_load"), ("a|b", r"a\|b"), ("rusty_pool", r"rusty\_pool")]
        {
            assert!(text.contains(escaped) && !text.contains(name), "{name}: {text}");
        }
        assert!(text.contains(r"**Failed**: rusty\_pool "), "{text}");
    }
}
