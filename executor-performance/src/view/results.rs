use super::{Column, Table};
use crate::{
    record::{Row, Run},
    stats::Ratio,
};

/// All figures of the rows that have some; none if there are no such rows. The comparison with the best stands after
/// the first figure, which is what is compared.
pub fn results(run: &Run) -> Option<Table> {
    let rows: Vec<&Row> = run.rows.iter().filter(|row| row.is_ok()).collect();
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec![Column::names(["executor", ""], rows.iter().map(|row| row.executor.clone()))];
    for (index, column) in run.columns.iter().enumerate() {
        let figures: Vec<Option<f64>> =
            rows.iter().map(|row| row.figure(column).map(|figure| figure * column.scale)).collect();
        columns.push(Column::figures([&column.title, &column.unit], &figures));
        if index == 0 {
            columns.push(Column::bars(&figures));
            columns.extend(comparison(&rows));
        }
    }
    let of = |figure: &dyn Fn(&Row) -> Option<f64>| rows.iter().map(|row| figure(row)).collect::<Vec<_>>();
    columns.extend([
        Column::figures(["samples", ""], &of(&|row| Some(row.samples.count() as f64))),
        Column::figures(["outliers", ""], &of(&|row| Some(row.outliers.count() as f64))),
        Column::figures(["switches", "/sample"], &of(&|row| row.samples.switches())),
        Column::figures(["memory", "peak MiB"], &of(&|row| row.samples.peak_mib())),
    ]);
    let best = rows.iter().position(|row| row.slowdown.is_some_and(|slowdown| slowdown.value <= 1.0));
    Some(Table { columns, best })
}

fn comparison(rows: &[&Row]) -> [Column; 2] {
    let slowdowns: Vec<Option<f64>> = rows.iter().map(|row| row.slowdown.map(|slowdown| slowdown.value)).collect();
    let intervals = rows.iter().map(|row| row.slowdown.map_or("-".to_owned(), interval));
    [Column::ratios(["slower", "x best"], &slowdowns), Column::text(["95%", "interval"], intervals)]
}

/// The ends of the interval, unless these say no more than that nothing is known.
fn interval(Ratio { value, low, high }: Ratio) -> String {
    const FAR: f64 = 10.0;
    if value > FAR * low || high > FAR * value { "unsure".to_owned() } else { format!("{low:.2}-{high:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_says_nothing_is_not_shown() {
        let told = |value, low, high| interval(Ratio { value, low, high });
        assert_eq!(told(5.07, 0.04, 580.45), "unsure");
        assert_eq!(told(5.07, 0.6, 60.0), "unsure");
        assert_eq!(told(5.07, 0.6, 48.0), "0.60-48.00");
        assert_eq!(told(1.0, 1.0, 1.0), "1.00-1.00");
    }
}
