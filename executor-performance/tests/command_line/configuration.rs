//! Files that say what to measure, and those that the documentation shows.

use crate::support::{fresh, fresh_folder, json, measured, refused_in};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn follows_a_configuration_file() {
    let (config, record) = (fresh("bench", "toml"), fresh("bench", "json"));
    let text = format!(
        "executor = \"channel\"\nbudget = 0.01\nmin-samples = 2\noutput = \"{record}\"\n\
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

/// All that is TOML in the text of `path`.
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
                // For Cargo. The program is not asked.
                assert!(table.keys().all(|key| key == "dependencies"), "{}: {text}", path.display());
                continue;
            }
            fs::write(folder.join("bench.toml"), &text).expect("written");
            // That this is not there is seen after everything else, and before anything is measured.
            let complaint = refused_in(&folder, "--config bench.toml --baseline none.json");
            assert!(complaint.contains("cannot read none.json"), "{}: {complaint}{text}", path.display());
            accepted += 1;
        }
    }
    assert!(accepted >= 2, "the example, and what explains it");
}
