//! The lists of executors and experiments, made from the registry and from what the planner accepts.

use crate::{
    cli,
    once_each::once_each,
    plan::{Planned, plan},
    registry::{Ability, ENTRIES, Entry},
    view,
};
use std::ffi::OsString;

/// Options of the load, each with its mark, and with a value that every experiment accepts that uses the option.
const LOADS: [(char, &str, &str); 3] =
    [('p', "--producers", "1"), ('m', "--messages", "1"), ('a', "--message-amplification", "1")];

/// The executors, and what they can do besides running jobs, after an indented legend of the marks.
pub fn executors() -> String {
    let mut text = "executors\n  * is measured if no executor is named\n".to_owned();
    for ability in Ability::MARKED {
        text += &format!("  {} can {}\n", ability.mark(), ability.phrase());
    }
    text += "\n";
    for entry in ENTRIES {
        let by_default = mark_if(entry.by_default, '*');
        let abilities: String =
            Ability::MARKED.iter().map(|ability| mark_if(entry.can(*ability), ability.mark())).collect();
        text += &format!("{by_default}{abilities} {:25} {}\n", entry.name, entry.summary);
    }
    text + "\n" + &modules()
}

/// The modules of the library, and which executors are of each.
fn modules() -> String {
    let mut text = "modules of the library `executors`\n".to_owned();
    for module in once_each(ENTRIES.iter().filter_map(Entry::module)) {
        let names = ENTRIES.iter().filter(|entry| entry.module() == Some(module)).map(|entry| entry.name);
        let line = format!("{module}: {}", names.collect::<Vec<_>>().join(", "));
        let lines = view::lines(&line, 74);
        text += &format!("  {}\n", lines.join("\n    "));
    }
    text
}

/// The experiments, what they need of an executor, and which options of the load they take: those that are not refused.
///
/// # Errors
///
/// If one cannot be planned with its defaults: a line that says why.
pub fn experiments() -> Result<String, String> {
    let (mut lines, mut needed) = (String::new(), Vec::new());
    for (name, about) in cli::experiments() {
        let ability = planned(&[&name])?.first().map_or(Ability::Jobs, |run| run.ability());
        if ability != Ability::Jobs && !needed.contains(&ability) {
            needed.push(ability);
        }
        let takes = |option, value| planned(&[option, value, &name]).is_ok();
        let loads: String = LOADS.iter().map(|(mark, option, value)| mark_if(takes(option, value), *mark)).collect();
        lines += &format!("{loads}{} {name:10} {}\n", ability.mark(), about.trim_start_matches("Measures "));
    }
    let mut text = "experiments\n".to_owned();
    for (mark, option, _) in LOADS {
        text += &format!("  {mark} takes {option}\n");
    }
    for ability in needed {
        text += &format!("  {} is for executors with that mark\n", ability.mark());
    }
    Ok(format!("{text}\n{lines}"))
}

fn mark_if(is_so: bool, mark: char) -> char {
    if is_so { mark } else { ' ' }
}

/// What `words` would run.
fn planned(words: &[&str]) -> Result<Vec<Box<dyn Planned>>, String> {
    let line = ["executor-performance"].iter().chain(words).map(OsString::from);
    let orders = cli::parse(line).map_err(|refusal| format!("{refusal:?}"))?;
    plan(&orders, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_one_letter_each_and_no_two_are_the_same() {
        let mut marks: Vec<char> = Ability::MARKED.map(Ability::mark).into_iter().collect();
        marks.extend(LOADS.map(|(mark, ..)| mark));
        let mut others = marks.clone();
        others.sort_unstable();
        others.dedup();
        assert!(others.len() == marks.len() && !marks.contains(&' ') && !marks.contains(&'*'), "{marks:?}");
    }

    /// Which executors there are depends on features and on the compiler's flags.
    #[test]
    fn executors_and_experiments_are_listed() {
        insta::assert_snapshot!("experiments", experiments().expect("they can be planned"));
        if !cfg!(feature = "published") {
            insta::assert_snapshot!("executors", executors());
        }
    }

    #[test]
    fn experiments_take_what_the_planner_does_not_refuse() {
        let text = experiments().expect("they can be planned");
        let marked = |name: &str| {
            let line = text.lines().find(|line| line.get(5..).is_some_and(|it| it.split(' ').next() == Some(name)));
            line.unwrap_or_else(|| panic!("{name} in {text}"))[..4].to_owned()
        };
        for (name, marks) in [
            ("throughput", "pma "),
            ("submit", "pm  "),
            ("wake", " m  "),
            ("repost", "    "),
            ("futures", "   f"),
            ("fork-join", "   j"),
        ] {
            assert_eq!(marked(name), marks, "{name}");
        }
    }

    #[test]
    fn the_help_of_an_experiment_shows_the_options_of_the_load_that_it_takes() {
        let definition = cli::definition();
        for (name, _) in cli::experiments() {
            let command = definition.find_subcommand(&name).expect("a command");
            for (_, option, value) in LOADS {
                let known = command.get_arguments().find(|it| it.get_long() == option.strip_prefix("--"));
                let shown = known.is_some_and(|it| !it.is_hide_set());
                assert_eq!(shown, planned(&[option, value, &name]).is_ok(), "{option} of {name}");
            }
        }
    }
}
