use super::{Axis, Chart, WIDTH, frame, px};
use crate::{
    compare::{Change, Verdict},
    view::percent,
};
use maud::html;

/// The distance from row to row.
const STEP: f64 = 26.0;

/// The area for intervals: names are to the left, verdicts to the right.
const LEFT: f64 = 200.0;
const RIGHT: f64 = WIDTH - 90.0;
const TOP: f64 = 34.0;

/// How much more or less each executor costs, with its interval. Changes within `threshold` are shaded, because they do
/// not matter.
pub fn changes_of(changes: &[Change], threshold: f64) -> Chart {
    let title =
        format!("change of cost, and 95 % interval (less is better; up to {} % do not matter)", percent(threshold));
    let band = (1.0 / (1.0 + threshold), 1.0 + threshold);
    let ends = changes.iter().filter_map(|change| change.cost).flat_map(|cost| [cost.low, cost.high]);
    let axis = Axis::of_changes(ends.chain([band.0, band.1]));
    let across = |value: f64| axis.place(value, LEFT, RIGHT);
    let bottom = TOP + STEP * changes.len() as f64;
    let content = html! {
        (frame::title(&title))
        rect.band x=(px(across(band.0))) y=(px(TOP)) width=(px(across(band.1) - across(band.0))) height=(px(bottom - TOP)) {}
        @for (value, label) in &axis.ticks {
            @let x = px(across(*value));
            line.rule x1=(x) x2=(x) y1=(px(TOP)) y2=(px(bottom)) {}
            text.soft x=(x) y=(px(bottom + 16.0)) text-anchor="middle" { (label) }
        }
        line.axis x1=(px(across(1.0))) x2=(px(across(1.0))) y1=(px(TOP)) y2=(px(bottom)) {}
        @for (index, Change { executor, cost, verdict, .. }) in changes.iter().enumerate() {
            @let middle = TOP + STEP * (index as f64 + 0.5);
            @let class = class(*verdict);
            text x=(px(LEFT - 8.0)) y=(px(middle + 4.0)) text-anchor="end" { (executor) }
            @if let Some(cost) = cost {
                line.range.(class) x1=(px(across(cost.low))) x2=(px(across(cost.high))) y1=(px(middle)) y2=(px(middle)) {}
                circle.(class) cx=(px(across(cost.value))) cy=(px(middle)) r="4.5" {
                    title { (executor) ": " (format!("{:.3} times ({:.3} to {:.3})", cost.value, cost.low, cost.high)) }
                }
            }
            text x=(px(RIGHT + 14.0)) y=(px(middle + 4.0)) { (verdict) }
        }
    };
    Chart { title, height: bottom + 28.0, content }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Slower | Verdict::Failed => "slower",
        Verdict::Unsure => "unsure",
    }
}
