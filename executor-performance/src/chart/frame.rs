//! What is around the data: titles, axes, names.

use super::{Axis, LETTERS, Palette, palette::Marker, px};
use crate::view;
use maud::{Markup, html};

/// The area for data, from left to right and from the top. The longest name must fit to the right of it.
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 516.0;
pub(super) const TOP: f64 = 42.0;

/// The distance between the lines of names.
const LINE: f64 = 18.0;

/// The smallest height of a chart with that many names beside it.
pub(super) fn height(names: usize) -> f64 {
    (TOP + names as f64 * LINE + 56.0).max(320.0)
}

/// In one line, or in two, into which all titles fit.
pub(super) fn title(title: &str) -> Markup {
    let lines = view::lines(title, LETTERS);
    let first = if lines.len() > 1 { 13.0 } else { 18.0 };
    html! {
        @for (line, number) in lines.iter().zip(0_u8..) {
            text.title x="8" y=(px(first + LINE * f64::from(number))) { (line) }
        }
    }
}

/// Both axes, with lines through the data at the marks.
pub(super) fn axes(x: &Axis, y: &Axis, bottom: f64) -> Markup {
    html! {
        @for (value, label) in &y.ticks {
            @let place = y.place(*value, bottom, TOP);
            line.rule x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(place)) y2=(px(place)) {}
            text.soft x=(px(LEFT - 8.0)) y=(px(place + 4.0)) text-anchor="end" { (label) }
        }
        @for (value, label) in &x.ticks {
            @let place = x.place(*value, LEFT, RIGHT);
            line.axis x1=(px(place)) x2=(px(place)) y1=(px(bottom)) y2=(px(bottom + 5.0)) {}
            text.soft x=(px(place)) y=(px(bottom + 19.0)) text-anchor="middle" { (label) }
        }
        line.axis x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(bottom)) y2=(px(bottom)) {}
        text.soft x=(px((LEFT + RIGHT) / 2.0)) y=(px(bottom + 38.0)) text-anchor="middle" { (x.label) }
        text.soft x="14" y=(px((TOP + bottom) / 2.0)) text-anchor="middle"
            transform=(format!("rotate(-90 14 {})", px((TOP + bottom) / 2.0))) { (y.label) }
    }
}

/// The marker of a point of `executor` at that position, with its tooltip.
pub(super) fn dot(palette: &Palette, executor: &str, (x, y): (f64, f64), tip: &Markup) -> Markup {
    let style = palette.painted("fill", executor);
    let corners = |corners: &[(f64, f64)]| {
        let corners = corners.iter().map(|(right, down)| format!("{},{}", px(x + right), px(y + down)));
        corners.collect::<Vec<_>>().join(" ")
    };
    let polygon = match palette.marker(executor) {
        Marker::Circle => return html! { circle.dot cx=(px(x)) cy=(px(y)) r="4" style=(style) { (tip) } },
        Marker::Square => corners(&[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)]),
        Marker::Diamond => corners(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
        Marker::Triangle => corners(&[(0.0, -5.0), (4.5, 3.5), (-4.5, 3.5)]),
    };
    html! { polygon.dot points=(polygon) style=(style) { (tip) } }
}

/// The legend to the right: the colour of each executor, and its marker if there are `dots`.
pub(super) fn names(names: &[&str], palette: &Palette, dots: bool) -> Markup {
    let x = RIGHT + 18.0;
    html! {
        @for (index, name) in names.iter().enumerate() {
            @let y = TOP + 8.0 + index as f64 * LINE;
            line.series x1=(px(x)) x2=(px(x + 18.0)) y1=(px(y)) y2=(px(y))
                style=(palette.painted("stroke", name)) stroke-dasharray=(palette.dashes(name)) {}
            @if dots { (dot(palette, name, (x + 9.0, y), &html! {})) }
            text x=(px(x + 24.0)) y=(px(y + 4.0)) { (name) }
        }
    }
}
