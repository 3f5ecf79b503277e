//! Messages on stderr, where they do not mix with results. If they cannot be written, that is no error.

use super::paint::{BAD, DOUBT, painted};
use anstyle::Style;
use std::io::Write;

/// How much is said beside the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voice {
    /// Nothing: the caller is told by other means.
    Silent,
    /// Errors.
    Errors,
    /// Progress and warnings, too.
    All,
}

/// Says what makes the results doubtful.
pub fn warning(text: &str) {
    say(DOUBT, "warning", text);
}

/// Says what went wrong.
pub fn error(text: &str) {
    say(BAD, "error", text);
}

fn say(style: Style, kind: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", said(style, kind, text));
}

fn said(style: Style, kind: &str, text: &str) -> String {
    format!("{}: {text}", painted(style, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_yellow_and_errors_red() {
        assert_eq!(said(DOUBT, "warning", "busy"), "\x1b[33mwarning\x1b[0m: busy");
        assert_eq!(said(BAD, "error", "broken"), "\x1b[1m\x1b[31merror\x1b[0m: broken");
    }
}
