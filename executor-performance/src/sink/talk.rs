//! Saying something on stderr, where it does not get mixed up with results. If nobody listens, that is no error.

use std::io::{self, Write};

/// Says what makes the results doubtful.
pub fn warning(text: &str) {
    say("warning", text);
}

/// Says what went wrong.
pub fn error(text: &str) {
    say("error", text);
}

fn say(kind: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {text}");
}
