//! Panics of user code stay within the job that panicked.

use crate::{
    error::{error_of, message_of},
    options::PanicHandler,
};
use std::{
    any::Any,
    cell::Cell,
    io, mem,
    ops::{Deref, DerefMut},
    panic::{AssertUnwindSafe, catch_unwind},
    process,
};

/// Runs `f`, and returns the payload of its panic as an error.
///
/// Unwind safety is asserted, as `std::thread::spawn` does by its signature: after a panic hardly any code sees the
/// closure's own state any more, and state that it shares is protected by its own means (a poisoned mutex, for
/// example). The exceptions are what is called again: a repeated job, a handler, the function of a sequence, and a
/// hook. What these have left half-changed is their own affair.
#[inline]
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f))
}

/// Asks the system for a thread by `start`. If the standard library panics over that, as it does for some sizes of
/// stacks on some systems, the thread counts as refused. (In a model a panic is that of the model checker.)
pub(crate) fn or_refused<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if cfg!(executors_loom) { start() } else { contain(start).unwrap_or_else(|payload| Err(error_of(payload))) }
}

/// Ends the process, because calls on this thread have not ended innermost first, and what is on their stacks is not
/// what it is taken for. Coroutines that have stacks of their own can cause that with safe code.
#[cold]
#[inline(never)]
pub(crate) fn abort_out_of_turn() -> ! {
    // Printing panics where it fails: nothing may unwind from here.
    mem::forget(contain(|| {
        eprintln!("executors: a coroutine was suspended inside a job, and calls on its thread have ended out of turn");
    }));
    process::abort()
}

/// Drops a user's value, even if its `Drop` panics.
///
/// Through a `dyn`, so that little of it is compiled for each type of job that a user has.
pub(crate) fn discard<V>(value: V) {
    let mut value = Some(value);
    let discard: &mut dyn FnMut() = &mut || drop(value.take());
    guard(discard);
}

/// A user's value whose `Drop` may panic. That panic goes no further, because the thread that happens to drop the value
/// has nothing to do with it.
pub(crate) struct Contained<V>(Option<V>);

impl<V> Contained<V> {
    pub(crate) fn new(value: V) -> Self {
        Contained(Some(value))
    }

    /// Calls `f`, and returns the value, contained no longer, with what `f` returns. If `f` panics, the value is
    /// dropped here, and what that panics with goes no further.
    #[inline(always)]
    pub(crate) fn beside<R>(mut self, f: impl FnOnce() -> R) -> (V, R) {
        let result = f();
        (self.0.take().expect("it is there until the drop"), result)
    }
}

impl<V> Drop for Contained<V> {
    fn drop(&mut self) {
        // The compiler sees that after `beside` there is none, and leaves this out.
        if let Some(value) = self.0.take() {
            discard(value);
        }
    }
}

impl<V> Deref for Contained<V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        self.0.as_ref().expect("it is there until the drop")
    }
}

impl<V> DerefMut for Contained<V> {
    fn deref_mut(&mut self) -> &mut V {
        self.0.as_mut().expect("it is there until the drop")
    }
}

/// Users' values that are dropped one by one. In the drop of a vector, a second `Drop` that panics would end the
/// process.
pub(crate) struct Each<V>(Vec<V>);

impl<V> Each<V> {
    pub(crate) const fn of(values: Vec<V>) -> Self {
        Each(values)
    }

    pub(crate) fn take(&mut self) -> Vec<V> {
        mem::take(&mut self.0)
    }
}

impl<V> Drop for Each<V> {
    fn drop(&mut self) {
        if mem::needs_drop::<V>() {
            self.take().into_iter().for_each(discard);
        }
    }
}

impl<V> Deref for Each<V> {
    type Target = Vec<V>;

    fn deref(&self) -> &Vec<V> {
        &self.0
    }
}

impl<V> DerefMut for Each<V> {
    fn deref_mut(&mut self) -> &mut Vec<V> {
        &mut self.0
    }
}

/// Drops a job that was submitted to a closed executor of that name, with a warning.
#[cold]
pub(crate) fn ignore<J>(job: J, executor: &str) {
    tell(|| log::warn!("Ignoring a job, as {executor} is closed."));
    discard(job);
}

/// Drops a panic's payload. The `Drop` of a payload may panic with another payload, and so may that one's; after a few
/// the last is leaked.
pub(crate) fn discard_payload(mut payload: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match contain(|| drop(payload)) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    mem::forget(payload);
}

/// Reports a panic to the log and to the user's handler, once. Panics of these go no further.
#[cold]
pub(crate) fn report(payload: &(dyn Any + Send), place: std::fmt::Arguments<'_>, handler: Option<&PanicHandler>) {
    tell(|| log::error!("{place} panicked: {}", message_of(payload)));
    if let Some(handler) = handler
        && let Err(second) = contain(|| handler(payload))
    {
        tell(|| log::error!("{place} panicked, and the panic handler, too: {}", message_of(&*second)));
        discard_payload(second);
    }
}

/// Logs something. A panic of the logger goes no further. What this thread would log in the course of logging is left
/// out: a logger that submits its lines to a closed pool would otherwise cause another line for each.
pub(crate) fn tell(log: impl FnOnce()) {
    thread_local! {
        static IS_TELLING: Cell<bool> = const { Cell::new(false) };
    }

    if !IS_TELLING.replace(true) {
        guard(log);
        IS_TELLING.set(false);
    }
}

/// Calls code whose panic is to go no further: a logger, a recorder of metrics, a waker, a destructor of a user's
/// value. The payload of a panic is dropped.
pub(crate) fn guard(f: impl FnOnce()) {
    if let Err(payload) = contain(f) {
        discard_payload(payload);
    }
}

#[cfg(all(test, not(executors_loom)))]
pub(crate) mod tests {
    use super::*;

    /// Asserts that `body` returns, as [`in_child`] runs it.
    #[cfg(target_os = "linux")]
    pub(crate) fn assert_return(name: &str, body: impl FnOnce()) {
        let status = in_child(name, process::Stdio::inherit(), body);
        assert_eq!(status.code(), Some(HAS_RETURNED), "{status}");
    }

    /// Asserts that `body` aborts its process, as [`in_child`] runs it.
    #[cfg(target_os = "linux")]
    pub(crate) fn assert_abort(name: &str, errors: impl Into<process::Stdio>, body: impl FnOnce()) {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(in_child(name, errors, body).signal(), Some(libc::SIGABRT));
    }

    /// The exit code of a child whose body has returned. The harness has others, also if it finds no test.
    #[cfg(target_os = "linux")]
    const HAS_RETURNED: i32 = 77;

    /// Runs `body` in a process of its own: a child, in which the test of this `name` runs once more, until it calls
    /// this. The child writes to `errors` what it has to say.
    #[cfg(target_os = "linux")]
    fn in_child(name: &str, errors: impl Into<process::Stdio>, body: impl FnOnce()) -> process::ExitStatus {
        use std::env;

        const IN_CHILD: &str = "EXECUTORS_TEST_IN_CHILD";
        if env::var_os(IN_CHILD).is_some() {
            body();
            process::exit(HAS_RETURNED);
        }
        process::Command::new(env::current_exe().expect("this is a program"))
            .args(["--nocapture", name])
            .env(IN_CHILD, "1")
            .stderr(errors)
            .status()
            .expect("the test runs once more")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn calls_out_of_turn_end_the_process_though_nothing_can_be_printed() {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        assert_abort("calls_out_of_turn_end_the_process", full, || abort_out_of_turn());
    }

    #[test]
    fn nested_log_messages_are_suppressed() {
        let said = Cell::new(0);
        let say = || said.set(said.get() + 1);
        for time in 1..=2 {
            tell(|| {
                say();
                tell(say);
                panic!("a logger may panic");
            });
            assert_eq!(said.get(), time);
        }
    }
}
