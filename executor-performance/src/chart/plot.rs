use super::{
    Axis, Chart, Palette,
    frame::{self, LEFT, RIGHT, TOP},
    px,
};
use crate::stats::Interval;
use maud::html;

/// Points of several executors over two axes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Whether single points are marked.
    pub dots: bool,
}

/// The points of one executor, joined by a line.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name.
    pub executor: String,
    /// The points, from left to right.
    pub points: Vec<Point>,
}

/// A position on both axes.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The value on the first axis.
    pub x: f64,
    /// The value on the second axis.
    pub y: f64,
    /// The interval of the value on the second axis.
    pub interval: Option<Interval>,
}

impl Plot {
    /// Draws it.
    pub fn chart(&self, palette: &Palette) -> Chart {
        let height = frame::height(self.series.len());
        let bottom = height - 48.0;
        let across = |value: f64| self.x.place(value, LEFT, RIGHT);
        let up = |value: f64| self.y.place(value, bottom, TOP);
        let path = |points: &[Point]| {
            let places = points.iter().map(|point| format!("{},{}", px(across(point.x)), px(up(point.y))));
            places.collect::<Vec<_>>().join(" ")
        };
        let executors: Vec<&str> = self.series.iter().map(|series| series.executor.as_str()).collect();
        let content = html! {
            (frame::title(&self.title))
            (frame::axes(&self.x, &self.y, bottom))
            @for Series { executor, points } in &self.series {
                g {
                    title { (executor) }
                    @if points.len() > 1 {
                        polyline.series points=(path(points)) style=(palette.painted("stroke", executor))
                            stroke-dasharray=(palette.dashes(executor)) {}
                    }
                    @if self.dots {
                        @for point in points {
                            @let x = px(across(point.x));
                            @if let Some(Interval { low, high }) = point.interval {
                                line x1=(x) x2=(x) y1=(px(up(low))) y2=(px(up(high)))
                                    style=(palette.painted("stroke", executor) + ";stroke-width:1.5") {}
                            }
                            @let tip = html! {
                                title { (executor) ": " (self.x.label) " " (short(point.x)) ", " (self.y.label) " " (short(point.y)) }
                            };
                            (frame::dot(palette, executor, (across(point.x), up(point.y)), &tip))
                        }
                    }
                }
            }
            (frame::names(&executors, palette, self.dots))
        };
        Chart { title: self.title.clone(), height, content }
    }
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    let decimals = (2.0 - value.abs().max(1e-6).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}
