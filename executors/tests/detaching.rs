//! No thread is detached by another one while it may be ending: glibc looks at it once more when it may be gone. This
//! test binary has a `pthread_detach` of its own, which counts the threads that are detached by others.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static"),
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "elastic-exec",
    feature = "burst-exec",
    feature = "dispatcher-exec"
))]

mod support;

use executors::{
    FuturesExecutor, Idle, Pool, burst_pool, crossbeam_channel_pool, crossbeam_workstealing_pool,
    dispatcher::Dispatcher, elastic_pool, run_now::RunNowExecutor, timer::Timer,
};
use futures::channel::oneshot;
use libc::{RTLD_NEXT, c_int, dlsym, pthread_equal, pthread_self, pthread_t};
use std::{
    mem,
    sync::{
        Arc, Barrier, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    time::Duration,
};
use support::{
    threads,
    watchdog::{until, within},
};

static BY_OTHERS: AtomicUsize = AtomicUsize::new(0);
static BY_THEMSELVES: AtomicUsize = AtomicUsize::new(0);

/// Replaces the C library's in this whole program.
#[unsafe(no_mangle)]
extern "C" fn pthread_detach(thread: pthread_t) -> c_int {
    // SAFETY: it compares two numbers.
    let is_itself = unsafe { pthread_equal(thread, pthread_self()) } != 0;
    if is_itself { &BY_THEMSELVES } else { &BY_OTHERS }.fetch_add(1, SeqCst);
    // SAFETY: the name is a string that ends with 0.
    let next = unsafe { dlsym(RTLD_NEXT, c"pthread_detach".as_ptr()) };
    assert!(!next.is_null(), "the C library has it");
    // SAFETY: this is its type.
    let next: unsafe extern "C" fn(pthread_t) -> c_int = unsafe { mem::transmute(next) };
    // SAFETY: the caller promises what the C library's function requires.
    unsafe { next(thread) }
}

/// Several times: lets `end` abandon a pool, whose threads are named [`NAME`], and waits until at least `themselves` of
/// them have detached themselves, and all are gone.
fn left_alone<P>(themselves: usize, pool: impl Fn() -> P, end: impl Fn(P)) {
    const ROUNDS: usize = 20;
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..ROUNDS {
        let [others, alone] = [&BY_OTHERS, &BY_THEMSELVES].map(|count| count.load(SeqCst));
        within(|| {
            end(pool());
            until("they have detached themselves", || BY_THEMSELVES.load(SeqCst) - alone >= themselves);
            until("its threads are gone", || threads::count_named(NAME) == Some(0));
        });
        assert_eq!(BY_OTHERS.load(SeqCst) - others, 0, "threads were detached by others");
    }
}

const NAME: &str = "left-alone";
const THREADS: usize = 16;

/// Lets all workers meet in jobs that end when the returned sender is dropped.
fn occupy(pool: &impl Pool) -> mpsc::Sender<()> {
    let (let_go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let meeting = Arc::new(Barrier::new(THREADS + 1));
    for _ in 0..THREADS {
        let (meeting, wait) = (Arc::clone(&meeting), Arc::clone(&wait));
        pool.execute(move || {
            meeting.wait();
            let _ = wait.lock().expect("no panic under this lock").recv();
        });
    }
    meeting.wait();
    let_go
}

fn when_idle<P: Pool>(pool: impl Fn() -> P) {
    left_alone(0, pool, |pool| {
        drop(occupy(&pool));
        pool.join().expect("this is no worker");
    });
}

fn when_busy<P: Pool>(pool: impl Fn() -> P) {
    left_alone(THREADS, pool, |pool| {
        let let_go = occupy(&pool);
        drop(pool);
        drop(let_go);
    });
}

/// Some threads have signed off before the last handle is dropped.
fn while_it_ends<P: Pool>(pool: impl Fn() -> P) {
    left_alone(0, pool, |pool| {
        let let_go = occupy(&pool);
        pool.shutdown_async();
        drop(let_go);
        until("one has signed off", || pool.stats().workers < THREADS);
    });
}

fn by_a_job<P: Pool + 'static>(pool: impl Fn() -> P) {
    left_alone(0, pool, |pool| {
        let let_go = occupy(&pool);
        let inside = pool.clone();
        pool.execute(move || drop(inside));
        drop(pool);
        drop(let_go);
    });
}

/// The last owner of the pool is a suspended future, and not one of the pool's threads.
fn before_a_future<P: Pool + FuturesExecutor>(pool: impl Fn() -> P) {
    left_alone(0, pool, |pool| {
        let (tell, told) = oneshot::channel::<()>();
        let task = pool.spawn(told);
        drop(occupy(&pool));
        drop(pool);
        until("its threads are gone", || threads::count_named(NAME) == Some(0));
        drop(tell);
        drop(task);
    });
}

macro_rules! pools {
    ($($name:ident: $pool:expr;)+) => { $(
        mod $name {
            use super::*;

            pools!(tests $pool => when_idle when_busy while_it_ends by_a_job before_a_future);
        }
    )+ };
    (tests $pool:expr => $($test:ident)+) => { $(
        #[test]
        fn $test() {
            crate::$test(|| $pool.name(NAME).build().expect("this many threads are possible"));
        }
    )+ };
}

/// In a module of their own, so that `scripts/sanitize.sh` can leave them out.
mod by_themselves {
    use super::*;

    pools! {
        channel: crossbeam_channel_pool::ThreadPool::builder().threads(THREADS);
        // Also with the feature by which its workers spin.
        stealing: crossbeam_workstealing_pool::ThreadPool::builder().threads(THREADS).idle(Idle::PARK);
        elastic: elastic_pool::ThreadPool::builder().core(THREADS).threads(THREADS);
        // Its workers are started for jobs and leave as soon as they are idle.
        leaving: elastic_pool::ThreadPool::builder().core(0).threads(THREADS).keep_alive(Duration::from_nanos(1));
        burst: burst_pool::ThreadPool::builder().threads(THREADS);
        dispatcher: Dispatcher::builder().threads(THREADS).cpu_limit(THREADS);
    }

    #[test]
    fn a_timer() {
        left_alone(1, Timer::new, |timer| {
            let due = timer.after(Duration::ZERO, &RunNowExecutor::new(), || ());
            due.expect("there is room for a thread").wait().expect("it runs");
        });
    }
}
