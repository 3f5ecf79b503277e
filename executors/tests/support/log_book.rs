//! Keeps what is logged, so that tests can read it.

use log::{Level, LevelFilter, Log, Metadata, Record};
use std::{
    sync::{Mutex, MutexGuard, Once},
    thread::{self, ThreadId},
};

type Entry = (ThreadId, Level, String);

struct LogBook(Mutex<Vec<Entry>>);

static BOOK: LogBook = LogBook(Mutex::new(Vec::new()));

impl LogBook {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().expect("no panic under this lock")
    }
}

impl Log for LogBook {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.entries().push((thread::current().id(), record.level(), record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// Begins to keep the log. Every test that reads it calls this first; nothing is kept before.
pub(crate) fn open() {
    static OPENED: Once = Once::new();
    OPENED.call_once(|| {
        log::set_logger(&BOOK).expect("there is no other logger");
        log::set_max_level(LevelFilter::Warn);
    });
}

/// Warnings and errors that this thread has caused.
pub(crate) fn of_this_thread() -> Vec<(Level, String)> {
    select(|thread, _| thread == thread::current().id())
}

/// Warnings and errors that contain `text`.
pub(crate) fn of_all_threads(text: &str) -> Vec<(Level, String)> {
    select(|_, entry| entry.contains(text))
}

fn select(wanted: impl Fn(ThreadId, &str) -> bool) -> Vec<(Level, String)> {
    let entries = BOOK.entries();
    entries
        .iter()
        .filter(|(thread, _, text)| wanted(*thread, text))
        .map(|(_, level, text)| (*level, text.clone()))
        .collect()
}
