//! Plots, one below the other, in one picture.

use crate::{
    chart::{Chart, LETTERS, Palette, STYLE, WIDTH, changes_of, charts_of, scaling_of},
    compare::{ComparedRun, Comparison},
    record::Record,
    view::{self, sweeps},
};
use maud::{PreEscaped, html};

/// Space around charts.
const MARGIN: f64 = 12.0;

/// The picture: all plots of the page, in the same order.
pub(super) fn picture(record: &Record, comparison: Option<&Comparison>) -> String {
    let palette = Palette::of(record);
    let mut charts = comparison.map(changes).unwrap_or_default();
    charts.extend(sweeps(record).iter().filter_map(|sweep| scaling_of(sweep, &palette)));
    for run in &record.runs {
        // The titles of charts do not tell runs of one experiment apart.
        let heading =
            (record.runs.len() > 1).then(|| heading(format!("{}: {}", view::experiment(run), view::settings(run))));
        charts.extend(heading.into_iter().chain(charts_of(run, &palette)));
    }
    drawn(&charts)
}

/// The picture of a comparison alone.
pub(super) fn comparison_picture(comparison: &Comparison) -> String {
    drawn(&changes(comparison))
}

fn changes(comparison: &Comparison) -> Vec<Chart> {
    let of_run = |run: &ComparedRun| {
        [heading(format!("compared: {}", run.title)), changes_of(&run.changes, comparison.threshold)]
    };
    comparison.runs.iter().flat_map(of_run).collect()
}

/// A heading that says what the charts below it are of.
fn heading(title: String) -> Chart {
    const LINE: f64 = 20.0;
    let lines = view::lines(&title, LETTERS);
    let height = 8.0 + LINE * lines.len() as f64;
    let content = html! {
        line.rule x1="0" x2=(WIDTH) y1="0" y2="0" {}
        @for (line, number) in lines.iter().zip(1_u8..) {
            text.title x="8" y=(8.0 + LINE * f64::from(number)) { (line) }
        }
    };
    Chart { title, height, content }
}

fn drawn(charts: &[Chart]) -> String {
    let tops =
        charts.iter().scan(MARGIN, |top, chart| Some(std::mem::replace(top, *top + chart.height + 2.0 * MARGIN)));
    let (width, height) = (WIDTH + 2.0 * MARGIN, charts.iter().map(|chart| chart.height + 2.0 * MARGIN).sum::<f64>());
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) {
            style { (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            @for (chart, top) in charts.iter().zip(tops) {
                g transform=(format!("translate({MARGIN} {top})")) { (chart.content) }
            }
        }
    };
    picture.into_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chart::light,
        compare::mock::{TERMS, faster, of_processes},
        record::mock::record,
    };

    #[test]
    fn all_charts_of_the_page_are_in_the_picture() {
        let record = record();
        let (picture, page) = (picture(&record, None), crate::sink::html::page(&record, None));
        let of_page: Vec<&str> = page.split("aria-label=\"").skip(1).filter_map(|it| it.split('"').next()).collect();
        assert!(of_page.len() > 5, "{of_page:?}");
        for title in of_page {
            let shown = picture.matches(&format!(">{title}<")).count();
            assert_eq!(shown, page.matches(&format!("aria-label=\"{title}\"")).count(), "{title}");
        }
    }

    /// Not all programs know variables.
    #[test]
    fn every_colour_is_there_as_it_is_in_light_surroundings_before_its_variable() {
        let compared = Comparison::of(&of_processes(), &faster(0.7), &TERMS).expect("alike");
        let picture = picture(&record(), Some(&compared));
        let colours: Vec<&str> = picture.split("var(--").collect();
        assert!(colours.len() > 20, "{picture}");
        for pair in colours.windows(2) {
            let name = pair[1].split(')').next().expect("a name");
            let (_, before) = pair[0].rsplit_once(['{', '"', ')']).expect("a style");
            let declarations: Vec<&str> = before.split(';').filter(|it| !it.is_empty()).collect();
            let [.., literal, variable] = declarations[..] else { panic!("{before}var(--{name})") };
            assert_eq!(Some(literal), light(name).map(|light| format!("{variable}{light}")).as_deref(), "{before}");
        }
    }

    #[test]
    fn sweeps_and_single_runs_are_drawn() {
        insta::assert_snapshot!(picture(&record(), None));
    }
}
