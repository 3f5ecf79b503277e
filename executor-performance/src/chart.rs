//! Plots, as SVG. Colours are classes that [`STYLE`] defines, for the light and the dark colour scheme.

mod axis;
mod bars;
mod changes;
mod frame;
mod gallery;
mod palette;
mod plot;

pub use self::{
    axis::{Axis, Kind},
    bars::Bars,
    changes::changes_of,
    gallery::{charts_of, scaling_of},
    palette::Palette,
    plot::{Plot, Point, Series},
};

use maud::Markup;

/// The width of each chart.
pub const WIDTH: f64 = 760.0;

/// How many letters of a title fit into that.
pub const LETTERS: usize = 90;

/// A picture that is [`WIDTH`] wide.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Its height.
    pub height: f64,
    /// What goes into an `<svg>`.
    pub content: Markup,
}

/// The style of charts and pages. The literal light colour precedes each colour that comes from a variable: most
/// programs other than browsers do not know variables, and would draw everything in black.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--rule:#d8dee4;--paper:#fff;--panel:#f6f8fa;--good:#1a7f37;--bad:#cf222e;\
--c0:#0969da;--c1:#bc4c00;--c2:#1a7f37;--c3:#8250df;--c4:#cf222e;--c5:#0a7a83;--c6:#9a6700;--c7:#bf3989;--c8:#57606a;--c9:#4d7c0f}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--rule:#3d444d;--paper:#0d1117;--panel:#151b23;--good:#3fb950;--bad:#f85149;\
--c0:#58a6ff;--c1:#f0883e;--c2:#3fb950;--c3:#bc8cff;--c4:#ff7b72;--c5:#39c5cf;--c6:#d29922;--c7:#f778ba;--c8:#9198a1;--c9:#a3d65c}}\
svg text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328;fill:var(--ink)}\
svg .soft{fill:#59636e;fill:var(--soft)}svg .title{font-size:14px;font-weight:600}svg .rule{stroke:#d8dee4;stroke:var(--rule)}svg .axis{stroke:#59636e;stroke:var(--soft)}\
svg .band{fill:#d8dee4;fill:var(--rule);opacity:.6}svg .slower{fill:#cf222e;fill:var(--bad);stroke:#cf222e;stroke:var(--bad)}svg .faster{fill:#1a7f37;fill:var(--good);stroke:#1a7f37;stroke:var(--good)}\
svg .same,svg .unsure{fill:#59636e;fill:var(--soft);stroke:#59636e;stroke:var(--soft)}svg .range{stroke-width:2}svg .whisker{stroke:#1f2328;stroke:var(--ink);stroke-width:1.5}svg .series{fill:none;stroke-width:2}svg .dot{stroke:none}svg .bar{opacity:.85}\
svg .paper{fill:#fff;fill:var(--paper)}";

/// The colour that the variable `name` has in the light colour scheme.
#[cfg(test)]
pub(crate) fn light(name: &str) -> Option<&'static str> {
    let (_, value) = STYLE.split_once(&format!("--{name}:"))?;
    value.split([';', '}']).next()
}

/// A length or a position, in few digits.
fn px(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
