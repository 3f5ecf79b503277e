use super::{Column, Table};
use crate::record::{Row, Run};

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
    let intervals = rows
        .iter()
        .map(|row| row.slowdown.map_or("-".to_owned(), |slowdown| format!("{:.2}-{:.2}", slowdown.low, slowdown.high)));
    [Column::ratios(["slower", "x best"], &slowdowns), Column::text(["95%", "interval"], intervals)]
}
