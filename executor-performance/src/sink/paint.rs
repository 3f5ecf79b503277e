//! Colours of the terminal.

use anstyle::{AnsiColor, Style};

/// What is best, and good news.
pub(super) const BEST: Style = AnsiColor::Green.on_default().bold();
/// What failed, and bad news.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What makes figures doubtful.
pub(super) const DOUBT: Style = AnsiColor::Yellow.on_default();
/// Bars.
pub(super) const BAR: Style = AnsiColor::Cyan.on_default();
/// Titles.
pub(super) const TITLE: Style = Style::new().bold();

/// `text` in `style`, except for the spaces at its ends.
pub(super) fn painted(style: Style, text: &str) -> String {
    let word = text.trim();
    if word.is_empty() { text.to_owned() } else { text.replacen(word, &format!("{style}{word}{style:#}"), 1) }
}
