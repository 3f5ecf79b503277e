//! Files, rows and records.

use crate::support::{
    BRIEF, documented_record, fresh, fresh_folder, json, measured, program, refused, refused_in, run, stderr, stdout,
};
use std::{fs, process::Stdio};

#[test]
fn rows_of_all_workloads_are_in_one_file() {
    let path = fresh("futures", "csv");
    measured(&format!("{BRIEF} -e channel -o {path} futures --operations 50 --workload chain,yield"));
    let text = fs::read_to_string(&path).expect("a file");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains(",chain,50,") && text.contains(",yield,50,"), "{text}");
}

#[test]
fn appends_rows_under_one_header() {
    let path = fresh("append", "csv");
    for (executors, messages) in [("channel", 10), ("channel,workstealing", 20)] {
        measured(&format!("{BRIEF} -t 2 -m {messages} -e {executors} -o {path} throughput --pre 7"));
    }

    let mut reader = csv::Reader::from_path(&path).expect("a file");
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|column| column == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let cells = |name: &str| rows.iter().map(|row| row[column(name)].to_owned()).collect::<Vec<_>>();

    assert_eq!(cells("executor"), ["channel", "channel", "workstealing"]);
    assert_eq!(cells("messages_per_producer"), ["10", "20", "20"]);
    for (name, value) in [
        ("experiment", "throughput"),
        ("status", "ok"),
        ("threads", "2"),
        ("pre_units", "7"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("error", ""),
    ] {
        assert!(cells(name).iter().all(|cell| cell == value), "{name}: {:?}", cells(name));
    }
    for name in ["median_jobs_per_s", "low95_jobs_per_s", "high95_jobs_per_s", "samples", "slowdown_to_best"] {
        assert!(
            cells(name).iter().all(|cell| cell.parse::<f64>().is_ok_and(|it| it > 0.0)),
            "{name}: {:?}",
            cells(name)
        );
    }
    assert!(cells("time_utc").iter().all(|time| time.len() == "2000-01-01T00:00:00Z".len() && time.ends_with('Z')));
}

#[test]
fn rows_of_latency_have_intervals_and_quantiles() {
    let path = fresh("latency", "csv");
    measured(&format!("{BRIEF} -m 10 -e channel --output-csv {path} latency -s 1"));
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.starts_with("time_utc,"), "{text}");
    assert!(text.contains(",mean_us,low95_mean_us,high95_mean_us,p50_us,p90_us,p99_us,max_us,"), "{text}");
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_failed_executor_has_a_row_with_the_reason_and_no_figures() {
    let path = fresh("failed", "csv");
    run(&format!("{BRIEF} --patience 0.001 -m 1 -a 0 -e channel -o {path} throughput --pre 2000000000"));
    let mut reader = csv::Reader::from_path(&path).expect("a file");
    let header = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("whole");
    for (column, cell) in header.iter().zip(&row) {
        match column {
            "status" => assert_eq!(cell, "failed"),
            "error" => assert!(cell.starts_with("stalled: "), "{cell}"),
            "median_jobs_per_s" | "cpu_ns_per_job" | "slowdown_to_best" => assert_eq!(cell, "", "{column}"),
            _ => {}
        }
    }
}

#[test]
fn refuses_a_file_with_other_columns() {
    let path = fresh("columns", "csv");
    for contents in ["a,b,c\n1,2,3\n", "no table at all"] {
        fs::write(&path, contents).expect("written");
        let complaint = refused(&format!("-m 10 -o {path} throughput"));
        assert!(complaint.contains("other columns"), "{complaint}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), contents);
    }
    fs::remove_file(&path).expect("removed");
    measured(&format!("{BRIEF} -m 10 -e channel -o {path} throughput"));
    assert!(refused(&format!("-m 10 -o {path} latency")).contains("other columns"));
}

#[test]
fn completes_the_last_line_of_a_file_before_appending() {
    let path = fresh("line", "csv");
    let line = format!("{BRIEF} -m 10 -e channel -o {path} throughput");
    measured(&line);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, text.trim_end()).expect("written");
    measured(&line);
    assert_eq!(csv::Reader::from_path(&path).expect("a file").records().filter(Result::is_ok).count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let output = run(&format!("{BRIEF} -m 10 -e channel -o /dev/full throughput"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("channel"));
    let told = "error: results could not be written: /dev/full: No space left on device";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));

    let folder = fresh_folder("full");
    fs::write(folder.join("run.json"), documented_record()).expect("written");
    // The tables are not read.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut report = program();
    report.current_dir(&folder).args("report run.json -o /dev/full".split(' ')).stdout(writer).stderr(Stdio::piped());
    let output = report.output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(told), "{}", stderr(&output));

    std::os::unix::fs::symlink("/dev/full", folder.join("full.md")).expect("linked");
    let line = "compare run.json run.json -o full.md -o page.html";
    let output = program().current_dir(&folder).args(line.split(' ')).output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(fs::read_to_string(folder.join("page.html")).is_ok_and(|page| page.contains("channel")));
}

/// Not even the file of an output that was checked before the refusal.
#[test]
fn what_is_refused_leaves_no_file_behind() {
    let folder = fresh_folder("nothing");
    fs::write(folder.join("other.csv"), "a,b\n").expect("written");
    for line in [
        "compare missing.json missing.json -o out.html",
        "-o run.json -o other.csv wake",
        "-o new.csv -o other.csv wake",
        "-o new.csv -o /no/such/directory/run.json wake",
    ] {
        refused_in(&folder, line);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "{line}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for line in [format!("{BRIEF} -m 10 -e channel throughput"), "list".to_owned(), "--help".to_owned()] {
        let mut child = program()
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{line}: {}", stderr(&output));
    }
}

#[test]
fn writes_every_format_at_once() {
    let paths = ["json", "csv", "md", "html", "svg"].map(|it| fresh("formats", it));
    let outputs: Vec<String> = paths.iter().map(|path| format!("-o {path}")).collect();
    measured(&format!("{BRIEF} -m 10 -e channel {} throughput", outputs.join(" ")));
    let starts = ["{\"schema\":1,", "time_utc,", "# Executors measured", "<!DOCTYPE html>", "<svg xmlns="];
    for (path, start) in paths.iter().zip(starts) {
        let text = fs::read_to_string(path).expect("written");
        assert!(text.starts_with(start) && text.contains("channel"), "{path}: {text}");
    }
    let record = json(&fs::read_to_string(&paths[0]).expect("a record"));
    let row = &record["runs"][0]["rows"][0];
    let length = |list: &str| row["samples"][list].as_array().map_or(0, Vec::len);
    assert!(length("values") >= 2 && length("values") == length("wall_ns"), "{row}");
    assert!(row["samples"]["wall_ns"][0].as_u64().is_some_and(|nanos| nanos > 0), "{row}");
    assert_eq!(record["runs"][0]["settings"]["messages_per_producer"], 10);
    assert!(record["machine"]["processor"]["cores"].as_u64() > Some(0), "{record}");
}

#[test]
fn a_record_on_the_standard_output_is_alone_there() {
    let output = run(&format!("{BRIEF} -m 10 -e channel -o - latency -s 1"));
    assert_eq!(json(&stdout(&output))["runs"][0]["experiment"], "latency");
    assert!(stderr(&output).contains("p99.9"), "{}", stderr(&output));
    let rows = measured(&format!("{BRIEF} -m 10 -e channel,workstealing -o csv:- throughput"));
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

/// In all formats, with and without colours. Pages and pictures have their own snapshots, where they are made.
#[test]
fn a_record_is_shown_again_without_measuring() {
    let folder = fresh_folder("again");
    fs::write(folder.join("run.json"), documented_record()).expect("written");
    let shown = |options: &str| {
        let line = format!("report run.json {options}");
        let output = program().current_dir(&folder).args(line.split_whitespace()).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        stdout(&output)
    };
    let told = ["", "--color always", "--quiet", "-o csv:-", "-o md:-"];
    let told = told.map(|options| format!("=== report run.json {options}\n{}", shown(options).replace('\x1b', "\\e")));
    insta::assert_snapshot!(told.concat());

    let warned = |options: &str| {
        let line = format!("report doubtful.json {options}");
        stderr(&program().current_dir(&folder).args(line.split_whitespace()).output().expect("the program starts"))
    };
    let mut doubtful = json(&documented_record());
    doubtful["runs"][0]["warnings"] = serde_json::json!(["the machine is busy"]);
    fs::write(folder.join("doubtful.json"), doubtful.to_string()).expect("written");
    assert!(warned("").contains("warning: the machine is busy"), "{}", warned(""));
    assert_eq!(warned("--quiet"), "");

    assert_eq!(json(&shown("-o -")), json(&documented_record()));
    let (page, picture) = (shown("-o html:-"), shown("-o svg:-"));
    for part in ["channel", "workstealing", "M jobs/s", ">12<", ">30<"] {
        assert!(page.contains(part) && picture.contains(part), "{part} in {page} and {picture}");
    }
}
