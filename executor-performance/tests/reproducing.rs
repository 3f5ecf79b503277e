//! The command lines of `docs/reproducing.md` work: as they stand they are accepted, and with tiny loads they measure.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// A command line of the document: the words after the name of the program without executors, and the executors.
#[derive(Debug)]
struct Line {
    words: Vec<String>,
    executors: Vec<String>,
}

/// All command lines in tables, which have them in the last column.
fn lines() -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reproducing.md");
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let rows = text.lines().filter(|line| line.starts_with("| ")).filter_map(|line| {
        let (_, arguments) = line.trim_end_matches([' ', '|', '`']).rsplit_once("| `")?;
        // In rows without a command line, figures follow a name in backticks.
        Some(arguments).filter(|arguments| !arguments.contains('`'))
    });
    rows.map(Line::of).collect()
}

fn run(words: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_executor-performance")).args(words).output().expect("the program starts")
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Line {
    fn of(arguments: &str) -> Self {
        let mut words = words(arguments);
        let place = words.iter().position(|word| word == "-e").unwrap_or_else(|| panic!("{arguments} names executors"));
        let executors = words.drain(place..place + 2).next_back().expect("two words");
        Line { words, executors: executors.split(',').map(str::to_owned).collect() }
    }

    /// The command line with only those executors that this build has.
    fn command(&self, known: &str, words: &[String]) -> Vec<String> {
        let known = |name: &&String| known.lines().any(|line| line.split_whitespace().any(|word| word == *name));
        let executors: Vec<String> = self.executors.iter().filter(known).cloned().collect();
        assert!(!executors.is_empty(), "{self:?} names executors");
        if cfg!(feature = "peers") {
            assert_eq!(executors, self.executors, "all that are named are there");
        }
        [&["-e".to_owned(), executors.join(",")], words].concat()
    }

    /// The same with at most ten of everything, times in the units of their options, and only the ends of ranges.
    fn shrunk(&self) -> Vec<String> {
        const MANY: [&str; 8] = ["-m", "-a", "--jobs", "--hops", "--pre", "--post", "-s", "--work"];
        let mut words: Vec<String> = self.words.iter().filter(|word| *word != "--full-size").cloned().collect();
        for index in 1..words.len() {
            if MANY.contains(&words[index - 1].as_str()) {
                let digits = words[index].trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
                let number: u64 = digits.parse().expect("a number");
                words[index] = number.min(10).to_string();
            }
            words[index] = words[index].replace("..", ",");
        }
        words
    }
}

#[test]
fn every_line_is_accepted_as_it_stands() {
    let known = String::from_utf8(run(&words("list")).stdout).expect("text");
    let lines = lines();
    assert!(lines.len() >= 13, "the document has tables: {lines:?}");
    for line in &lines {
        // That this file is missing is noticed after everything else, but before anything is measured.
        let mut command = line.command(&known, &line.words);
        command.extend(words("--baseline /no/such/record.json"));
        let complaint = String::from_utf8(run(&command).stderr).expect("text");
        assert!(complaint.contains("cannot read /no/such/record.json"), "{command:?}: {complaint}");
    }
}

#[test]
fn every_line_measures_what_it_says() {
    let known = String::from_utf8(run(&words("list")).stdout).expect("text");
    for line in lines() {
        let mut command = words("--budget 0.01 --min-samples 1 --warm-up 0");
        command.extend(line.command(&known, &line.shrunk()));
        let output = run(&command);
        let (text, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{command:?}: {text}{complaint}");
        for executor in command[command.iter().position(|word| word == "-e").expect("executors") + 1].split(',') {
            let has_row = text.lines().any(|row| row.split(' ').next() == Some(executor));
            assert!(has_row, "{executor} of {command:?} in {text}");
        }
    }
}
