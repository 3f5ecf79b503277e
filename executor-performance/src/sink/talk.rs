//! Saying something on stderr, where it does not get mixed up with results. If nobody listens, that is no error.

use super::paint::{BAD, DOUBT, painted};
use anstyle::Style;
use std::io::Write;

/// Says what makes the results doubtful.
pub fn warning(text: &str) {
    say(DOUBT, "warning", text);
}

/// Says what went wrong.
pub fn error(text: &str) {
    say(BAD, "error", text);
}

fn say(style: Style, kind: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{}: {text}", painted(style, kind));
}
