//! Configuration files, and those that the documentation shows.

use crate::support::{fresh, fresh_folder, json, measured, refused_in, run};
use std::{
    fs,
    path::{Path, PathBuf},
};
#[cfg(target_os = "linux")]
use {
    crate::support::stderr,
    std::{
        io::Write,
        process::{Command, Stdio},
        sync::mpsc,
        thread,
        time::Duration,
    },
};

#[test]
fn follows_a_configuration_file() {
    let (config, record) = (fresh("bench", "toml"), fresh("bench", "json"));
    let text = format!(
        "executor = \"channel\"\nbudget = 0.01\nmin-samples = 2\nnoise-threshold = 10\noutput = \"{record}\"\n\
         [[run]]\nexperiment = \"throughput\"\nthreads = [1, 2]\nmessages = 10\npre = 5\n\
         [[run]]\nexperiment = \"latency\"\nmessages = 10\nsleep_time = 1\n"
    );
    fs::write(&config, text).expect("written");
    measured(&format!("--config {config} --warm-up 0"));
    let written = json(&fs::read_to_string(&record).expect("a record"));
    let runs = written["runs"].as_array().expect("runs");
    let names: Vec<&str> = runs.iter().map(|run| run["experiment"].as_str().expect("a name")).collect();
    assert_eq!(names, ["throughput", "throughput", "latency"]);
    assert_eq!(runs[0]["settings"]["pre_units"], 5);
}

/// The executable is replaced while the program waits for its configuration file, a pipe that can be read only once.
#[cfg(target_os = "linux")]
#[test]
fn what_is_read_or_built_anew_is_not_of_the_run() {
    let folder = fresh_folder("anew");
    let (program, config, other) = (folder.join("program"), folder.join("bench.toml"), folder.join("other"));
    // Not a copy, which the fork of another thread may hold open for writing when it is to be run.
    fs::hard_link(env!("CARGO_BIN_EXE_executor-performance"), &program).expect("on the same file system");
    fs::write(&other, "#!/bin/sh\nexit 7\n").expect("written");
    fs::set_permissions(&other, fs::metadata(&program).expect("it is there").permissions()).expect("changed");
    assert!(Command::new("mkfifo").arg(&config).status().expect("mkfifo").success());
    let line = "--timeout 5 --budget 0.01 --min-samples 2 --config bench.toml";
    let child = Command::new(&program)
        .args(line.split(' '))
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // This blocks until the pipe is read: for ever, if it is not.
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(fs::OpenOptions::new().write(true).open(&config)));
    let mut pipe = told.recv_timeout(Duration::from_secs(60)).expect("the program reads").expect("a pipe");
    fs::rename(&other, &program).expect("replaced");
    pipe.write_all(b"executor = \"channel\"\n[[run]]\nexperiment = \"wake\"\nthreads = 1\n").expect("read");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn each_run_has_its_own_limits() {
    let (config, record) = (fresh("limits", "toml"), fresh("limits", "json"));
    let text = "executor = \"channel\"\nbudget = 0.01\nmin-samples = 2\nmessages = 1\nmessage-amplification = 0\n\
                [[run]]\nexperiment = \"throughput\"\nin-process = true\n\
                [[run]]\nexperiment = \"throughput\"\npre = 1000000000\ntimeout = 0.01\n";
    fs::write(&config, text).expect("written");
    assert_eq!(run(&format!("--config {config} -o {record}")).status.code(), Some(1));
    let written = json(&fs::read_to_string(&record).expect("a record"));
    let error = |run: usize| written["runs"][run]["rows"][0]["error"].as_str();
    assert_eq!(error(0), None);
    assert!(error(1).is_some_and(|why| why.starts_with("hung: a sample took more than 0.01 s")), "{:?}", error(1));
}

/// As who debugs it wants, without changing a file that others use.
#[test]
fn what_a_file_says_of_processes_gives_way_to_in_process() {
    let (config, record) = (fresh("in-process", "toml"), fresh("in-process", "json"));
    let text = "executor = \"channel\"\nbudget = 0.01\nprocesses = 3\n[[run]]\nexperiment = \"wake\"\ntimeout = 60\n";
    fs::write(&config, text).expect("written");
    measured(&format!("--config {config} --in-process -o {record}"));
    let written = json(&fs::read_to_string(&record).expect("a record"));
    let processes = written["runs"][0]["rows"][0]["samples"]["process"].as_array().expect("a list").clone();
    assert!(processes.iter().all(|process| process == 0), "{processes:?}");
}

/// README, the documentation, and the example for a team.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut documents = vec![root.join("README.md"), root.join("executor-performance/examples/bench.toml")];
    for folder in ["docs", "docs/results"] {
        let files = fs::read_dir(root.join(folder)).expect(folder).map(|file| file.expect(folder).path());
        documents.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    documents
}

/// All TOML in the file at `path`.
fn tables(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    if path.extension().is_some_and(|extension| extension == "toml") {
        return vec![text];
    }
    let blocks = text.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("there is text before the end").to_owned()).collect()
}

#[test]
fn what_the_documentation_shows_is_accepted() {
    let folder = fresh_folder("documented");
    let mut accepted = 0;
    for path in documents() {
        for text in tables(&path) {
            let table: toml::Table = text.parse().unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            if table.contains_key("dependencies") {
                // For Cargo, not for the program.
                assert!(table.keys().all(|key| key == "dependencies"), "{}: {text}", path.display());
                continue;
            }
            fs::write(folder.join("bench.toml"), &text).expect("written");
            // That this file is missing is noticed after everything else, but before anything is measured.
            let complaint = refused_in(&folder, "--config bench.toml --baseline none.json");
            assert!(complaint.contains("cannot read none.json"), "{}: {complaint}{text}", path.display());
            accepted += 1;
        }
    }
    assert!(accepted >= 2, "the example, and what explains it");
}
