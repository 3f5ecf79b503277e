/// Rows of names and figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its columns, of which the first has the names of the rows. All have the same number of cells.
    pub columns: Vec<Column>,
    /// The row that is best.
    pub best: Option<usize>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What it is, and the unit.
    pub title: [String; 2],
    /// Its cells.
    pub content: Content,
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// To be aligned at the left.
    Names(Vec<String>),
    /// To be aligned at the right.
    Figures(Vec<String>),
    /// To be drawn as bars, where 1 is the longest.
    Bars(Vec<Option<f64>>),
}

impl Column {
    /// A column of names.
    pub fn names(title: [&str; 2], names: impl IntoIterator<Item = String>) -> Self {
        Column { title: title.map(str::to_owned), content: Content::Names(names.into_iter().collect()) }
    }

    /// A column of figures that are formatted already.
    pub fn text(title: [&str; 2], cells: impl IntoIterator<Item = String>) -> Self {
        Column { title: title.map(str::to_owned), content: Content::Figures(cells.into_iter().collect()) }
    }

    /// A column of figures, all with the number of [`decimals`] that they need.
    pub fn figures(title: [&str; 2], figures: &[Option<f64>]) -> Self {
        Column::rounded(title, figures, decimals(figures))
    }

    fn rounded(title: [&str; 2], figures: &[Option<f64>], decimals: usize) -> Self {
        Column::text(title, figures.iter().map(|figure| figure.map_or("-".to_owned(), |it| format!("{it:.decimals$}"))))
    }

    /// A column of ratios. That of a single row to itself is written as those of several.
    pub fn ratios(title: [&str; 2], ratios: &[Option<f64>]) -> Self {
        const LEAST: usize = 2;
        Column::rounded(title, ratios, decimals(ratios).max(LEAST))
    }

    /// A column of bars as long as `figures`.
    pub fn bars(figures: &[Option<f64>]) -> Self {
        let longest = figures.iter().flatten().copied().fold(0.0, f64::max);
        let bars = figures.iter().map(|figure| figure.filter(|_| longest > 0.0).map(|figure| figure / longest));
        Column { title: [String::new(), String::new()], content: Content::Bars(bars.collect()) }
    }
}

/// As many decimals as the smallest figure needs for three digits, but at most four, unless the largest needs more;
/// none if all are whole numbers.
pub fn decimals(figures: &[Option<f64>]) -> usize {
    let known = || figures.iter().flatten().map(|figure| figure.abs());
    let (smallest, largest) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let whole = known().all(|figure| figure.fract() == 0.0);
    if whole { 0 } else { decimals_for(3, smallest).min(4).max(decimals_for(3, largest)) }
}

/// How many decimals `figure`, which is not negative, needs for so many `digits`, but at most nine.
pub fn decimals_for(digits: u8, figure: f64) -> usize {
    // The conversion saturates for what is no number of decimals: infinity needs none.
    (f64::from(digits) - 1.0 - figure.log10().floor()).min(9.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_one_row_look_like_those_of_two() {
        let expected = |cells: &[&str]| Content::Figures(cells.iter().map(|cell| (*cell).to_owned()).collect());
        assert_eq!(Column::ratios(["", ""], &[Some(1.0)]).content, expected(&["1.00"]));
        assert_eq!(Column::ratios(["", ""], &[Some(1.0), Some(2.5)]).content, expected(&["1.00", "2.50"]));
    }

    #[test]
    fn decimals_are_those_that_the_smallest_figure_needs() {
        let cells = |figures: &[f64]| {
            let figures: Vec<Option<f64>> = figures.iter().copied().map(Some).collect();
            match Column::figures(["", ""], &figures).content {
                Content::Figures(cells) => cells,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(cells(&[123.4, 20_000.0]), ["123", "20000"]);
        assert_eq!(cells(&[4.924, 32.04]), ["4.92", "32.04"]);
        assert_eq!(cells(&[0.0721, 381.0234]), ["0.0721", "381.0234"]);
        assert_eq!(cells(&[1.0, 2.0]), ["1", "2"]);
        assert_eq!(cells(&[0.002_345, 0.001_98]), ["0.00234", "0.00198"]);
        assert_eq!(cells(&[0.0, -0.3]), ["0.0000", "-0.3000"]);
        assert_eq!(cells(&[0.0, 1e-12]), ["0.000000000", "0.000000000"]);
    }
}
