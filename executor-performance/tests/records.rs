//! The records in `docs/results` and the rows beside them, which the documentation shows in tables, agree.

use executor_performance::record::Record;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// All files with that `extension`, without it.
fn results(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    let parts = entries(&folder).into_iter().filter(|path| path.is_dir());
    let files = parts.flat_map(|part| entries(&part)).filter(|path| path.extension().is_some_and(|it| it == extension));
    let mut names: Vec<PathBuf> = files.map(|path| path.with_extension("")).collect();
    names.sort();
    names
}

#[test]
fn the_versions_of_peers_are_those_of_their_records() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results");
    let page = fs::read_to_string(folder.join("peers.md")).expect("the page of the peers");
    let records: Vec<PathBuf> =
        results("json").into_iter().filter(|path| path.parent().is_some_and(|it| it.ends_with("peers"))).collect();
    assert!(!records.is_empty());
    for path in records {
        let record = Record::read(&path.with_extension("json")).expect("a record");
        for version in &record.program.crates {
            assert!(page.contains(&format!("`{version}`")), "{version} of {} is not on the page", path.display());
        }
    }
}

/// If a later version writes other columns, `report RECORD.json -o ROWS.csv` writes the rows again.
#[test]
fn records_match_their_rows() {
    let records = results("json");
    assert!(records.len() >= 7, "there is one for each part of scripts/results.sh: {records:?}");
    assert_eq!(records, results("csv"), "each record has its rows");
    for path in records {
        let record = path.with_extension("json");
        let mut report = Command::new(env!("CARGO_BIN_EXE_executor-performance"));
        let output =
            report.arg("report").arg(&record).args(["--quiet", "-o", "csv:-"]).output().expect("the program starts");
        assert!(output.status.success(), "{}: {}", record.display(), String::from_utf8_lossy(&output.stderr));
        let (told, kept) = (output.stdout, fs::read(path.with_extension("csv")).expect("rows"));
        let lines = |text: &[u8]| String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&told), lines(&kept), "{}", path.display());
    }
}
