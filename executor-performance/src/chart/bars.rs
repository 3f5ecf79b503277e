use super::{Axis, Chart, Kind, Palette, WIDTH, frame, px};
use crate::stats::Interval;
use maud::html;

/// A bar for each executor, with the interval of its value.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What it shows.
    pub title: String,
    /// Executor, value, interval if it is known.
    pub bars: Vec<(String, f64, Option<Interval>)>,
}

/// The distance from bar to bar.
const STEP: f64 = 26.0;
/// The area for bars: names are to the left, values to the right.
const LEFT: f64 = 200.0;
const RIGHT: f64 = WIDTH - 90.0;
const TOP: f64 = 34.0;

impl Bars {
    /// Draws it.
    pub fn chart(&self, palette: &Palette) -> Chart {
        let axis = Axis::around(
            Kind::Linear,
            self.bars.iter().map(|(_, value, interval)| interval.map_or(*value, |it| value.max(it.high))),
            "",
        );
        let across = |value: f64| axis.place(value, LEFT, RIGHT);
        let bottom = TOP + STEP * self.bars.len() as f64;
        let values: Vec<Option<f64>> = self.bars.iter().map(|(_, value, _)| Some(*value)).collect();
        let decimals = crate::view::decimals(&values);
        let content = html! {
            (frame::title(&self.title))
            @for (value, label) in &axis.ticks {
                @let x = px(across(*value));
                line.rule x1=(x) x2=(x) y1=(px(TOP)) y2=(px(bottom)) {}
                text.soft x=(x) y=(px(bottom + 16.0)) text-anchor="middle" { (label) }
            }
            @for (index, (executor, value, interval)) in self.bars.iter().enumerate() {
                @let middle = TOP + STEP * (index as f64 + 0.5);
                text x=(px(LEFT - 8.0)) y=(px(middle + 4.0)) text-anchor="end" { (executor) }
                rect.bar x=(px(LEFT)) y=(px(middle - 8.0)) width=(px(across(*value) - LEFT)) height="16" rx="2"
                    style=(palette.painted("fill", executor)) {
                    title {
                        (executor) ": " (format!("{value:.decimals$}"))
                        @if let Some(Interval { low, high }) = interval {
                            (format!(" ({low:.decimals$} to {high:.decimals$})"))
                        }
                    }
                }
                @if let Some(Interval { low, high }) = interval {
                    line.whisker x1=(px(across(*low))) x2=(px(across(*high))) y1=(px(middle)) y2=(px(middle)) {}
                    @for end in [*low, *high] {
                        line.whisker x1=(px(across(end))) x2=(px(across(end))) y1=(px(middle - 4.0)) y2=(px(middle + 4.0)) {}
                    }
                }
                text x=(px(RIGHT + 14.0)) y=(px(middle + 4.0)) { (format!("{value:.decimals$}")) }
            }
        };
        Chart { title: self.title.clone(), height: bottom + 28.0, content }
    }
}
