//! A timer queue: what is to be done when, and the thread that does it.
//!
//! All state is behind one mutex. No foreign code runs under it: entries that become due, or are struck off, are taken
//! out first.

use super::{TimerError, clock::Clock};
use crate::{
    containment::{discard, guard},
    daemon,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
    time::Duration,
};

/// Later than a clock can tell, and so never due, even if a clock says that it is this time.
const NEVER: Duration = Duration::MAX;

/// When, by the timer's clock; and a number, because entries that are due at the same time come up in the order in
/// which they were scheduled.
pub(crate) type Key = (Duration, u64);

/// What is to be done at its time.
pub(crate) type Entry = Box<dyn FnOnce() + Send>;

pub(crate) struct Agenda {
    clock: Box<dyn Clock>,
    page: Mutex<Page>,
    /// Notified when the thread has something else to wait for.
    changed: Condvar,
    /// Notified when the thread begins to wait, or ends.
    caught_up: Condvar,
}

#[derive(Default)]
struct Page {
    entries: BTreeMap<Key, Entry>,
    /// How many keys were made.
    keys: u64,
    /// Handles that users have, and jobs that are to be entered again: reasons for the thread to wait even though
    /// nothing is entered.
    holders: usize,
    thread: Option<ThreadId>,
    /// Whether the thread is running an entry that was due.
    is_busy: bool,
}

impl Page {
    /// The time of the first entry.
    fn first(&self) -> Option<Duration> {
        self.entries.first_key_value().map(|((time, _), _)| *time)
    }

    fn is_due(&self, now: Duration) -> bool {
        self.first().is_some_and(|time| time <= now && time != NEVER)
    }
}

impl Agenda {
    pub(crate) fn new(clock: Box<dyn Clock>) -> Self {
        Agenda { clock, page: Mutex::default(), changed: Condvar::new(), caught_up: Condvar::new() }
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    pub(crate) fn len(&self) -> usize {
        self.page().entries.len()
    }

    /// A key for an entry that is due when `delay` has passed.
    pub(crate) fn key(&self, delay: Duration) -> Key {
        self.key_at(self.now().saturating_add(delay))
    }

    /// A key for an entry that is due at `time`.
    pub(crate) fn key_at(&self, time: Duration) -> Key {
        let mut page = self.page();
        page.keys += 1;
        (time, page.keys)
    }

    /// Keeps the thread from ending.
    pub(crate) fn take_handle(&self) {
        self.page().holders += 1;
    }

    pub(crate) fn drop_handle(&self) {
        let mut page = self.page();
        page.holders -= 1;
        if page.holders == 0 {
            self.changed.notify_one();
        }
    }

    /// Enters what is to be done at `key`. Starts the thread if there is none.
    pub(crate) fn enter(self: &Arc<Self>, key: Key, entry: Entry) -> Result<(), TimerError> {
        let mut page = self.page();
        if page.thread.is_none()
            && let Err(error) = self.start(&mut page)
        {
            drop(page);
            discard(entry);
            return Err(TimerError::ThreadRefused(error));
        }
        page.entries.insert(key, entry);
        if page.entries.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Strikes off what was entered at `key`, unless it has become due.
    pub(crate) fn strike(&self, key: Key) {
        let struck = {
            let mut page = self.page();
            let struck = page.entries.remove(&key);
            if struck.is_some() && page.entries.is_empty() {
                self.changed.notify_one();
            }
            struck
        };
        discard(struck);
    }

    /// Changes the clock, and waits until everything that is due by then is done.
    pub(crate) fn change_and_catch_up(&self, change: impl FnOnce()) {
        let mut page = self.page();
        change();
        self.changed.notify_one();
        // Without a thread nothing is entered.
        while page.thread.is_some_and(|thread| thread != thread::current().id())
            && (page.is_busy || page.is_due(self.now()))
        {
            page = self.caught_up.wait(page).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn start(self: &Arc<Self>, page: &mut Page) -> std::io::Result<()> {
        let agenda = Arc::clone(self);
        page.thread = Some(daemon::spawn("executors-timer", None, move || agenda.run())?);
        Ok(())
    }

    /// What the thread does.
    fn run(&self) {
        let mut page = self.page();
        loop {
            let now = self.now();
            match page.first() {
                Some(_) if page.is_due(now) => {
                    let entry = page.entries.pop_first();
                    page.is_busy = true;
                    drop(page);
                    // The entry gives a job to an executor; if that panics, the other entries still have to come up.
                    guard(|| entry.into_iter().for_each(|(_key, entry)| entry()));
                    page = self.page();
                    page.is_busy = false;
                }
                None if page.holders == 0 => {
                    page.thread = None;
                    return self.caught_up.notify_all();
                }
                first => {
                    self.caught_up.notify_all();
                    page = self.wait(page, first.and_then(|time| self.clock.patience(time - now)));
                }
            }
        }
    }

    fn wait<'a>(&self, page: MutexGuard<'a, Page>, patience: Option<Duration>) -> MutexGuard<'a, Page> {
        match patience {
            None => self.changed.wait(page).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => self.changed.wait_timeout(page, patience).unwrap_or_else(PoisonError::into_inner).0,
        }
    }
}
