//! The charts that can show a record.

use super::{Axis, Bars, Chart, Kind, Palette, Plot, Point, Series};
use crate::{
    record::{Column, Row, Run, Times},
    stats::Interval,
    view::{self, Sweep},
};

/// Which direction is good.
fn aim(column: &Column) -> &'static str {
    if column.more_is_better { "more is better" } else { "less is better" }
}

fn labelled(column: &Column) -> String {
    if column.unit.is_empty() { column.title.clone() } else { format!("{}, {}", column.title, column.unit) }
}

fn good_rows(run: &Run) -> impl Iterator<Item = &Row> {
    run.rows.iter().filter(|row| row.is_ok())
}

/// All charts of one run, in the order of pages and pictures.
pub fn charts_of(run: &Run, palette: &Palette) -> impl Iterator<Item = Chart> {
    [bars_of(run, palette), times_of(run, palette), cpu_of(run, palette)].into_iter().flatten()
}

/// The first figures with their intervals.
fn bars_of(run: &Run, palette: &Palette) -> Option<Chart> {
    let column = run.first_column()?;
    let bars: Vec<_> = good_rows(run)
        .filter_map(|row| {
            let figure = row.first(run)?;
            Some((row.executor.clone(), figure, row.interval(run)))
        })
        .collect();
    let title = format!("{}: {}, and 95 % interval ({})", view::experiment(run), labelled(column), aim(column));
    (!bars.is_empty()).then(|| Bars { title, bars }.chart(palette))
}

/// CPU time against the first figure.
fn cpu_of(run: &Run, palette: &Palette) -> Option<Chart> {
    let (wall, cpu) = (run.first_column()?, run.cpu_column()?);
    let series: Vec<Series> = good_rows(run)
        .filter_map(|row| {
            let (x, y) = (row.figure(wall)? * wall.scale, row.figure(cpu)? * cpu.scale);
            Some(Series { executor: row.executor.clone(), points: vec![Point { x, y, interval: None }] })
        })
        .collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let x = Axis::around(Kind::Linear, points().map(|point| point.x), &format!("{} ({})", labelled(wall), aim(wall)));
    let y = Axis::around(Kind::Linear, points().map(|point| point.y), &labelled(cpu));
    let title = format!("{}: CPU time against {} (less CPU time is better)", view::experiment(run), wall.title);
    (!series.is_empty()).then(|| Plot { title, x, y, series, dots: true }.chart(palette))
}

/// Single times by percentile, both on logarithmic axes.
fn times_of(run: &Run, palette: &Palette) -> Option<Chart> {
    let series: Vec<Series> = good_rows(run)
        .filter_map(|row| Some(Series { executor: row.executor.clone(), points: percentiles(row.times.as_ref()?) }))
        .collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let x = Axis::of_percentiles(points().map(|point| point.x).fold(10.0, f64::max));
    let y = Axis::around(Kind::Log, points().map(|point| point.y), "us");
    let title = format!("{}: single times by percentile, us (less is better)", view::experiment(run));
    (!series.is_empty()).then(|| Plot { title, x, y, series, dots: false }.chart(palette))
}

/// As many points as can be told from each other. Of n times, the one with the rank r is at the fraction (r - 1/2) / n.
fn percentiles(times: &Times) -> Vec<Point> {
    const NEXT: f64 = 1.01;
    let (count, mut before) = (times.count as f64, 0_u64);
    let mut points: Vec<Point> = Vec::new();
    for &(y, number) in &times.histogram {
        for rank in [before + 1, before + number] {
            let x = 1.0 / (1.0 - (rank as f64 - 0.5) / count);
            if points.last().is_none_or(|last| x > last.x * NEXT) {
                points.push(Point { x, y, interval: None });
            }
        }
        before += number;
    }
    points
}

/// The first figure, by the setting that was varied.
pub fn scaling_of(sweep: &Sweep<'_>, palette: &Palette) -> Option<Chart> {
    let column = sweep.column()?;
    let series: Vec<Series> = sweep
        .executors()
        .into_iter()
        .map(|executor| Series { executor: executor.to_owned(), points: points_of(sweep, executor) })
        .filter(|series| !series.points.is_empty())
        .collect();
    let values: Vec<f64> = sweep.runs.iter().map(|(value, _)| *value as f64).collect();
    // On a linear axis, values that grow by factors would crowd at the left.
    let kind = if values[0] > 0.0 && values[values.len() - 1] >= 16.0 * values[0] { Kind::Log } else { Kind::Linear };
    let x = Axis::at(kind, &values, &sweep.axis_title());
    let y = Axis::around(
        Kind::Linear,
        series.iter().flat_map(|series| &series.points).flat_map(|point| {
            let Interval { low, high } = point.interval.unwrap_or(Interval { low: point.y, high: point.y });
            [low, point.y, high]
        }),
        &labelled(column),
    );
    let title = format!("{} ({})", sweep.title(), aim(column));
    (!series.is_empty()).then(|| Plot { title, x, y, series, dots: true }.chart(palette))
}

fn points_of(sweep: &Sweep<'_>, executor: &str) -> Vec<Point> {
    let rows = sweep.runs.iter().filter_map(|(value, run)| {
        let row = run.rows.iter().find(|row| row.executor == executor)?;
        Some(Point { x: *value as f64, y: row.first(run)?, interval: row.interval(run) })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{record::mock::record, view::sweeps};

    #[test]
    fn percentiles_rise_and_end_with_the_longest() {
        let record = record();
        let times = record.runs[2].rows[0].times.as_ref().expect("times");
        let points = percentiles(times);
        assert!(points.len() > 50 && points.len() <= 200, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y <= pair[1].y), "{points:?}");
        assert_eq!(points.last().expect("points").y, times.max_us);
    }

    #[test]
    fn each_chart_shows_all_that_was_measured() {
        let record = record();
        let palette = Palette::of(&record);
        let sweeps = sweeps(&record);
        let charts = [
            bars_of(&record.runs[0], &palette),
            cpu_of(&record.runs[0], &palette),
            times_of(&record.runs[2], &palette),
            scaling_of(&sweeps[0], &palette),
        ];
        for chart in charts {
            let content = chart.expect("a chart").content.into_string();
            assert!(content.contains("channel") && content.contains("workstealing"), "{content}");
            assert!(!content.contains("broken") && !content.contains("NaN") && !content.contains("inf"), "{content}");
        }
        assert!(times_of(&record.runs[0], &palette).is_none());
    }
}
