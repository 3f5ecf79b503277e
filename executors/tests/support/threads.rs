//! What the operating system says about the threads of this process.
//!
//! `None` on other systems than Linux. On Linux, a `/proc` that does not say it is an error, so that no test passes for
//! lack of it.

use crate::support::watchdog::until;
use std::{
    fs,
    path::PathBuf,
    process,
    sync::mpsc,
    thread::{self, Scope, ScopedJoinHandle},
    time::Duration,
};

/// How many threads this process has.
pub(crate) fn count() -> Option<usize> {
    on_linux(|| Some(fs::read_dir("/proc/self/task").ok()?.count()))
}

/// How many threads of this process have a name that begins with `prefix`.
pub(crate) fn count_named(prefix: &str) -> Option<usize> {
    on_linux(|| Some(read_of_each(prefix, "comm")?.count()))
}

/// The size of this process's address space in bytes, which includes the stacks of its threads.
pub(crate) fn address_space() -> Option<u64> {
    let kibibytes = |status: String| status.split_once("VmSize:")?.1.split_whitespace().next()?.parse::<u64>().ok();
    on_linux(|| Some(kibibytes(fs::read_to_string("/proc/self/status").ok()?)? << 10))
}

fn on_linux<T>(look: impl FnOnce() -> Option<T>) -> Option<T> {
    cfg!(target_os = "linux").then(|| look().expect("/proc tells about the threads of this process"))
}

/// The processor time that the threads whose name begins with `prefix` have used.
pub(crate) fn processor_time(prefix: &str) -> Option<Duration> {
    let nanoseconds = |schedstat: String| schedstat.split(' ').next()?.parse().ok();
    on_linux(|| Some(read_of_each(prefix, "schedstat")?.filter_map(nanoseconds).map(Duration::from_nanos).sum()))
}

/// Whether there are threads whose name begins with `prefix`, and all of them sleep.
pub(crate) fn all_asleep(prefix: &str) -> Option<bool> {
    on_linux(|| {
        let mut stats = read_of_each(prefix, "stat")?.peekable();
        Some(stats.peek().is_some() && stats.all(|stat| sleeps(&stat)))
    })
}

/// Whether a thread of which the system says `stat` sleeps.
fn sleeps(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_name, state)| state.starts_with('S'))
}

/// Blocks until there are threads whose name begins with `prefix`, and all of them sleep: what they have not done by
/// then they will not do, unless something wakes them. Where the system does not say so, for a time in which they most
/// likely fall asleep.
pub(crate) fn await_sleep(prefix: &str) {
    assert!(prefix.len() <= 15, "the system cuts off longer names");
    until("they sleep", || all_asleep(prefix).unwrap_or_else(most_likely_sleep));
}

/// Gives threads time to fall asleep.
fn most_likely_sleep() -> bool {
    thread::sleep(Duration::from_millis(20));
    true
}

/// A call that is made on a thread of its own, and may block.
pub(crate) struct Call<'scope, R> {
    thread: ScopedJoinHandle<'scope, R>,
    /// The file that says what the thread does.
    stat: Option<PathBuf>,
}

impl<'scope, R: Send + 'scope> Call<'scope, R> {
    pub(crate) fn begin(scope: &'scope Scope<'scope, '_>, call: impl FnOnce() -> R + Send + 'scope) -> Self {
        let (tell, told) = mpsc::channel();
        let thread = scope.spawn(move || {
            tell.send(on_linux(|| fs::canonicalize("/proc/thread-self/stat").ok())).expect("the caller listens");
            call()
        });
        Call { thread, stat: told.recv().expect("it has begun") }
    }

    /// Blocks until the call has, or it has ended; as [`await_sleep`] where the system does not say so.
    pub(crate) fn await_sleep(&self) {
        let is_asleep = |stat| fs::read_to_string(stat).is_ok_and(|stat| sleeps(&stat));
        until("the call blocks", || {
            self.thread.is_finished() || self.stat.as_ref().map_or_else(most_likely_sleep, is_asleep)
        });
    }

    pub(crate) fn join(self) -> R {
        self.thread.join().expect("the call does not panic")
    }
}

/// What `file` says of each of the threads whose name begins with `prefix`.
fn read_of_each(prefix: &str, file: &str) -> Option<impl Iterator<Item = String>> {
    let read = move |task: fs::DirEntry| {
        let read = |file| fs::read_to_string(task.path().join(file)).ok();
        if read("comm")?.starts_with(prefix) { read(file) } else { None }
    };
    Some(fs::read_dir("/proc/self/task").ok()?.flatten().filter_map(read))
}

/// The cores that the calling thread may run on, as the kernel lists them.
pub(crate) fn allowed_cores() -> Option<String> {
    on_linux(|| {
        let status = fs::read_to_string("/proc/thread-self/status").ok()?;
        Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
    })
}

/// Runs `act` on a thread that is pinned to one core. Returns `None`, and prints why the test is left out, where
/// pinning is impossible or makes no difference.
pub(crate) fn on_pinned_thread<R: Send>(act: impl FnOnce() -> R + Send) -> Option<R> {
    let pinned_act = || {
        if !pin_to_one_of_several_cores() {
            println!("skipped: this takes a thread that Linux lets run on several cores, and can pin to one");
            return None;
        }
        Some(act())
    };
    thread::scope(|scope| scope.spawn(pinned_act).join().expect("no panic"))
}

/// Whether threads can be pinned at all. If not, prints that the test is left out.
pub(crate) fn can_be_pinned() -> bool {
    if cfg!(target_vendor = "apple") {
        println!("skipped: this takes a system that pins threads");
    }
    !cfg!(target_vendor = "apple")
}

/// Pins the calling thread to one core. Returns whether it did so and the thread could run on several before.
pub(crate) fn pin_to_one_of_several_cores() -> bool {
    pin(0)
}

/// Pins the main thread, which runs no test, to the first of the caller's cores. Returns whether it did so and the
/// caller can run on several.
pub(crate) fn pin_main_thread() -> bool {
    pin(process::id())
}

/// The calling thread if `thread` is 0.
#[cfg(target_os = "linux")]
fn pin(thread: u32) -> bool {
    let cores = allowed_cores().expect("this is Linux");
    let first = cores.split([',', '-']).next().expect("there is a core").parse().expect("cores have numbers");
    if cores == usize::to_string(&first) {
        return false;
    }
    // SAFETY: the set is an array of integers, for which 0 is a valid value; the number of the core is checked before
    // it is set there; and the call reads as many bytes as the set has.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first, &mut set);
        libc::sched_setaffinity(thread as libc::pid_t, size_of_val(&set), &raw const set)
    };
    assert_eq!(failed, 0, "a process may pin its threads");
    true
}

#[cfg(not(target_os = "linux"))]
fn pin(_thread: u32) -> bool {
    false
}
