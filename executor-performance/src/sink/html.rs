//! A page with tables and plots that needs nothing else.

use crate::{
    advice::Advice,
    chart::{Chart, Palette, STYLE, WIDTH, changes_of, charts_of, scaling_of},
    compare::{self, Comparison},
    record::{Record, Run, Status},
    view::{self, Content, Table, sweeps},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of a page, without that of its charts.
const PAGE_STYLE: &str = "\
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:60rem;background:var(--paper);color:var(--ink);\
font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
h1{font-size:1.5rem}h3{font-size:1rem;margin-top:2rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid var(--rule);padding-bottom:.3rem}\
figure{margin:1.2rem 0;overflow-x:auto}figure svg{width:100%;height:auto;max-width:760px;min-width:520px}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.8rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\
.table{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}\
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap}th{color:var(--soft);font-weight:500;vertical-align:bottom}\
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}tbody tr{border-top:1px solid var(--rule)}\
.best td:first-child{color:var(--good);font-weight:600}.failed{color:var(--bad)}\
.doubt{background:var(--panel);border-left:4px solid var(--c6);padding:.4rem .8rem;margin:.6rem 0}\
.remark{color:var(--soft)}summary{cursor:pointer}summary h2{display:inline-block;vertical-align:top;width:calc(100% - 1.5rem);margin-top:0;font-size:1rem}details{margin-top:1.5rem}";

/// The page.
pub(super) fn page(record: &Record, comparison: Option<&Comparison>) -> String {
    let (palette, sweeps) = (Palette::of(record), sweeps(record));
    let body = html! {
        dl { @for (title, line) in view::facts(record) { dt { (title) } dd { (line) } } }
        @for doubt in view::doubts(record) { p.doubt { (doubt) } }
        @if let Some(advice) = Advice::recorded(record) {
            h2 { "Recommended" }
            @for line in advice.sentences().lines() { p { (line) } }
            @if let Some(code) = advice.code() { div.table { pre { (code.join("\n")) } } }
        }
        @if let Some(comparison) = comparison {
            h2 { "Compared with the baseline" }
            (changes(comparison))
        }
        @for sweep in &sweeps {
            h2 { (sweep.title()) }
            @if let Some(chart) = scaling_of(sweep, &palette) { (figure(&chart)) }
            (table(&sweep.table()))
            p.remark { (sweep.caption()) }
        }
        @for run in &record.runs {
            // What is in a sweep is shown above.
            details open[!sweeps.iter().any(|sweep| sweep.has(run))] { (section(run, &palette)) }
        }
        p.remark { (view::footnote(record)) }
    };
    document(&format!("Executors measured: {}", experiments(record)), &body)
}

/// The page of a comparison alone.
pub(super) fn comparison_page(comparison: &Comparison) -> String {
    document("Executors compared", &changes(comparison))
}

fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(PAGE_STYLE)) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string() + "\n"
}

fn changes(comparison: &Comparison) -> Markup {
    html! {
        dl { dt { "old" } dd { (comparison.old) } dt { "new" } dd { (comparison.new) } }
        @for run in &comparison.runs {
            h3 { (run.title) }
            (figure(&changes_of(&run.changes, comparison.threshold)))
            (table(&compare::table(&run.changes)))
        }
        @for line in comparison.remarks() { p.remark { (line) } }
    }
}

fn experiments(record: &Record) -> String {
    let mut names: Vec<&str> = record.runs.iter().map(view::experiment).collect();
    names.dedup();
    names.join(", ")
}

fn section(run: &Run, palette: &Palette) -> Markup {
    html! {
        summary { h2 { (view::experiment(run)) ": " (view::settings(run)) } }
        dl { @for (title, line) in &run.description { dt { (title) } dd { (line) } } }
        @if let Some(results) = view::results(run) { (table(&results)) }
        @for row in &run.rows {
            @match (row.status(), &row.error) {
                (Status::Failed, Some(why)) => { p.failed { "Failed: " (row.executor) " " (why) } },
                (_, Some(why)) => { p { (row.executor) " " (why) } },
                (_, None) => {},
            }
        }
        @for chart in charts_of(run, palette) { (figure(&chart)) }
        p.remark { (run.began_utc) ". " (view::ending(run).as_deref().unwrap_or("Not finished yet.")) }
    }
}

fn figure(chart: &Chart) -> Markup {
    html! {
        figure {
            svg viewBox=(format!("0 0 {WIDTH} {}", chart.height)) role="img" aria-label=(chart.title) { (chart.content) }
        }
    }
}

/// Bars are left out: there are plots.
fn table(table: &Table) -> Markup {
    let columns: Vec<(&[String; 2], &[String])> = table
        .columns
        .iter()
        .filter_map(|column| match &column.content {
            Content::Names(cells) | Content::Figures(cells) => Some((&column.title, cells.as_slice())),
            Content::Bars(_) => None,
        })
        .collect();
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    html! {
        div.table {
            table {
                thead { tr { @for (title, _) in &columns { th { (title[0]) br; (title[1]) } } } }
                tbody {
                    @for row in 0..rows {
                        tr.best[table.best == Some(row)] { @for (_, cells) in &columns { td { (cells[row]) } } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::mock::record;

    #[test]
    fn a_page_has_everything_in_itself() {
        let page = page(&record(), None);
        for elsewhere in ["http:", "https:", "<script", "@import", "url("] {
            assert!(!page.contains(elsewhere), "{elsewhere} in {page}");
        }
        insta::assert_snapshot!(page);
    }

    #[test]
    fn names_are_no_markup() {
        let mut record = record();
        record.runs[0].rows[0].executor = "<b>&".to_owned();
        assert!(page(&record, None).contains("&lt;b&gt;&amp;") && !page(&record, None).contains("<b>&"));
    }
}
