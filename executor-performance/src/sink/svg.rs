//! Plots, one below the other, in one picture.

use crate::{
    chart::{Chart, Palette, STYLE, WIDTH, bars_of, cpu_of, scaling_of, times_of},
    record::{Record, Run},
    view::sweeps,
};
use maud::{PreEscaped, html};

/// Space around charts.
const MARGIN: f64 = 12.0;

/// The picture. Runs that belong to a sweep have no charts of their own.
pub(super) fn picture(record: &Record) -> String {
    let (palette, sweeps) = (Palette::of(record), sweeps(record));
    let swept = |run: &Run| sweeps.iter().any(|sweep| sweep.runs.iter().any(|(_, other)| std::ptr::eq(*other, run)));
    let mut charts: Vec<Chart> = sweeps.iter().filter_map(|sweep| scaling_of(sweep, &palette)).collect();
    for run in record.runs.iter().filter(|run| !swept(run)) {
        charts.extend([bars_of(run, &palette), times_of(run, &palette), cpu_of(run, &palette)].into_iter().flatten());
    }
    let tops: Vec<f64> = charts
        .iter()
        .scan(MARGIN, |top, chart| Some(std::mem::replace(top, *top + chart.height + 2.0 * MARGIN)))
        .collect();
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
    use crate::record::mock::record;

    #[test]
    fn sweeps_and_single_runs_are_drawn() {
        insta::assert_snapshot!(picture(&record()));
    }
}
