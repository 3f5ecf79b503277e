//! Waiting for events without waiting for ever.

use crate::support::case;
use std::{
    fmt, fs,
    io::{self, Write},
    process,
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long an event may be late on a loaded machine before it counts as lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `body`, and aborts the process if that takes longer than [`PATIENCE`]: a lost wake-up must not hang the suite.
pub(crate) fn within<R>(body: impl FnOnce() -> R) -> R {
    let _watchdog = watch();
    body()
}

/// As [`within`], for as long as the watchdog lives.
pub(crate) fn watch() -> Watchdog {
    Watchdog::new(Box::new(String::new))
}

/// Describes what hangs. (Boxed, here and below, so that the watchdog is compiled once and not for each test.)
pub(crate) type Describe = Box<dyn FnOnce() -> String + Send>;

/// Aborts the process if it lives longer than [`PATIENCE`].
pub(crate) struct Watchdog {
    kennel: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Watchdog {
    /// `describe` is called when the process is about to be aborted, for its last words.
    pub(crate) fn new(describe: Describe) -> Self {
        let test = case::name();
        let (done, wait) = mpsc::channel();
        let watch = move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                give_up(&test, describe);
            }
        };
        let thread = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
        Watchdog { kennel: Some((done, thread.expect("the watchdog needs a thread"))) }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.kennel.take() {
            drop(done);
            // Tests count threads, so this one has to be gone when the test goes on. It never panics.
            drop(thread.join());
        }
    }
}

/// Calls `condition` until it holds, for states that have no event to wait for. Aborts like [`within`].
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > PATIENCE {
            let what = what.to_owned();
            give_up(&case::name(), Box::new(move || format!("still waiting until {what}")));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until as many threads wait at a bell of `pool`. No call tells that to users, but `Debug` does: a bell's lock
/// is shown free (`data`) when its waiters sleep, so that only ringing it lets them go on.
pub(crate) fn until_waiting(pool: &impl fmt::Debug, waiters: usize) {
    let free = format!("listeners: {waiters}, releases: Mutex {{ data: ");
    until("threads wait", || {
        let shown = format!("{pool:?}");
        shown.contains(&free) && !shown.contains(&format!("{free}<locked>"))
    });
}

/// Says which test is stuck, and how, and ends the process.
fn give_up(test: &str, describe: Describe) -> ! {
    // Not `eprintln!`: the harness would capture it, and the process does not live to print the capture.
    let say = |text: &str| drop(writeln!(io::stderr(), "{text}"));
    say(&format!("\n{test}: not finished after {PATIENCE:?}"));
    let (tell, told) = mpsc::channel();
    // On a thread of its own, because a pool that is stuck may hold the lock that a description needs.
    let teller = thread::Builder::new().spawn(move || drop(tell.send(describe())));
    match teller.map(|_| told.recv_timeout(Duration::from_secs(2))) {
        Ok(Ok(text)) => say(&text),
        _ => say("(the pool does not answer)"),
    }
    say(&thread_states());
    process::abort();
}

/// Name, state and system call of each thread, as far as the operating system tells.
fn thread_states() -> String {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return String::new() };
    let line = |task: fs::DirEntry| {
        let read = |file| fs::read_to_string(task.path().join(file)).unwrap_or_default().trim().to_owned();
        let status = read("status");
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default();
        format!("  thread {}{state} {}\n", read("comm"), read("wchan"))
    };
    tasks.flatten().map(line).collect()
}
