//! What pools and jobs take from the heap, counted by the allocator of this test binary, and from the system.
#![cfg(all(
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "threadpool-exec",
    feature = "elastic-exec",
    feature = "burst-exec",
    feature = "dispatcher-exec"
))]

mod support;

#[cfg(feature = "compat-burst-pool")]
use executors::compat::burst_pool::{Receiver, Sender};
use executors::{
    FuturesExecutor, INLINE_BYTES, Pool,
    burst_pool::{self, BurstPool},
    crossbeam_channel_pool, crossbeam_workstealing_pool,
    dispatcher::{Dispatcher, Subpool},
    elastic_pool,
    run_now::RunNowExecutor,
    threadpool_executor::ThreadPoolExecutor,
    try_execute_locally,
};
use futures::executor::block_on;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    future::{pending, poll_fn},
    hint::black_box,
    sync::{
        Arc, Barrier, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Poll, Waker},
    thread,
    time::Duration,
};
use support::{gate::Gate, suspend::yield_once, watchdog::within};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The allocations of this thread.
    static OWN_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is passed to the system's allocator as it came; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, SeqCst);
        OWN_ALLOCATIONS.set(OWN_ALLOCATIONS.get() + 1);
        BYTES.fetch_add(layout.size(), SeqCst);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), SeqCst);
        // SAFETY: as above, and the pointer came from there.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The heap belongs to one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Requires that what `use_up` allocates is freed, by itself or by threads that it leaves behind.
fn leave_nothing(use_up: impl Fn()) {
    const SLACK: usize = 2000;
    let is_given_back = |_attempt| {
        let before = BYTES.load(SeqCst);
        use_up();
        // Threads of pools that were only dropped may need a moment to leave.
        (0..1000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            BYTES.load(SeqCst) < before + SLACK
        })
    };
    // The harness, which starts and ends tests meanwhile, may keep some memory, but not in every attempt.
    assert!((0..5).any(is_given_back), "more than {SLACK} bytes are left");
}

/// After some pools for warming up, `pools` more, each of which is made and ended by `live`, leave nothing allocated:
/// a few bytes for each at most.
fn lives_leave_nothing(pools: usize, live: impl Fn(usize)) {
    let _alone = alone();
    within(|| {
        (0..50).for_each(&live);
        leave_nothing(|| (0..pools).for_each(&live));
    });
}

/// Pools leave nothing, whether they are shut down or only dropped.
fn dropped_pools_leave_nothing<P: Pool>(pool: impl Fn() -> P) {
    lives_leave_nothing(1000, |round| {
        let pool = pool();
        for _ in 0..100 {
            pool.execute(|| assert!(try_execute_locally(|| ()).is_ok(), "this is a job"));
        }
        assert_eq!(pool.submit(|| 1).wait().expect("no panic"), 1);
        if round.is_multiple_of(2) {
            pool.shutdown().expect("nothing blocks");
        }
    });
}

/// Nor do pools for values, or what their handlers own; and values that are discarded are freed.
#[test]
fn dropped_pools_of_values_leave_nothing() {
    lives_leave_nothing(1000, |round| {
        let (mut pool, gate) = (BurstPool::new(), Gate::default());
        for _ in 0..2 {
            let (owned, gate) = (Box::new(1), gate.clone());
            pool.spawn(move |_value: Box<i32>| {
                let _owned = &owned;
                gate.pass();
            });
        }
        assert_eq!(pool.send_all([(); 100].map(|()| Box::new(1))).expect("two workers"), 100);
        if round.is_multiple_of(3) {
            assert!(pool.shutdown_now().discarded > 0, "all wait for the gate");
        }
        gate.open();
        if round.is_multiple_of(2) {
            pool.shutdown().expect("nothing blocks");
        }
    });
}

/// Whatever ends a future last (a worker, the pool's end, or a waker long after) frees everything that the future kept.
fn futures_leave_nothing<P: Pool + FuturesExecutor>(pool: impl Fn() -> P) {
    lives_leave_nothing(200, |_round| {
        let pool = pool();
        let (keep, wakers) = mpsc::channel();
        for _ in 0..10 {
            let (own, keep) = (pool.clone(), keep.clone());
            let sleeper = |keep: mpsc::Sender<Waker>| {
                poll_fn(move |context| {
                    keep.send(context.waker().clone()).expect("the test keeps it");
                    Poll::<()>::Pending
                })
            };
            pool.spawn(sleeper(keep.clone())).detach();
            pool.spawn_detached(sleeper(keep.clone()));
            pool.spawn_detached(yield_once());
            // Nobody can wake these.
            pool.spawn(pending::<()>()).detach();
            pool.spawn_detached(pending());
            pool.submit_future(pending::<()>()).detach();
            block_on(pool.spawn(async move {
                own.spawn(sleeper(keep.clone())).detach();
                own.spawn_detached(sleeper(keep));
                own.spawn(async {}).await;
            }));
        }
        drop(keep);
        pool.shutdown().expect("suspended futures delay nothing");
        wakers.into_iter().for_each(Waker::wake);
    });
}

/// Closures of up to `INLINE_BYTES` are submitted without an allocation of their own: queues allocate blocks for many
/// jobs.
#[cfg_attr(feature = "produce-metrics", expect(dead_code, reason = "see `without_metrics`"))]
fn small_jobs_allocate_nothing<P: Pool + 'static>(pool: impl Fn() -> P) {
    const JOBS: usize = 10_000;
    let _alone = alone();
    within(|| {
        let pool = pool();
        let inside = pool.clone();
        let rounds = move || {
            for _ in 0..JOBS {
                let captured = [0_u8; INLINE_BYTES];
                inside.execute(move || black_box(captured).fill(1));
            }
        };
        let count = |give: &dyn Fn()| {
            let before = ALLOCATIONS.load(SeqCst);
            give();
            pool.join().expect("this is no worker");
            ALLOCATIONS.load(SeqCst) - before
        };
        let outside = rounds.clone();
        let from_outside = count(&outside);
        let from_inside = count(&|| pool.execute(rounds.clone()));
        for (allocations, origin) in [(from_outside, "outside"), (from_inside, "inside")] {
            assert!(allocations < JOBS / 16, "{allocations} allocations for {JOBS} jobs from {origin}");
        }
        let large = || {
            let captured = [0_u8; INLINE_BYTES + 1];
            pool.execute(move || black_box(captured).fill(1));
        };
        assert!(count(&large) >= 1, "the count works");
        pool.shutdown().expect("nothing blocks");
    });
}

/// The heap of a large pool that has nothing to do: what it has for each worker is small, whether or not it is used.
fn idle_workers_take_little<P: Pool>(pool: impl Fn() -> P) {
    const LIMIT: usize = 1 << 20;
    let _alone = alone();
    within(|| {
        let before = BYTES.load(SeqCst);
        let pool = pool();
        meet(&pool, WORKERS, || ());
        let taken = BYTES.load(SeqCst) - before;
        assert!(taken < LIMIT, "{taken} bytes for {WORKERS} workers");
        pool.shutdown().expect("nothing blocks");
    });
}

const WORKERS: usize = 64;

/// Lets `workers` of a pool's workers meet, and calls `meanwhile` when all of them are there.
fn meet<R>(pool: &impl Pool, workers: usize, meanwhile: impl FnOnce() -> R) -> R {
    let meeting = Arc::new(Barrier::new(workers + 1));
    for _ in 0..workers {
        let meeting = Arc::clone(&meeting);
        pool.execute(move || {
            meeting.wait();
            meeting.wait();
        });
    }
    meeting.wait();
    let result = meanwhile();
    meeting.wait();
    pool.join().expect("this is no worker");
    result
}

/// Small jobs that wait in a queue take about as many words as they need.
fn waiting_jobs_take_little<P: Pool + 'static>(pool: impl Fn() -> P) {
    const JOBS: usize = 100_000;
    const LIMIT: usize = 64;
    /// For what a queue allocates at first.
    const SLACK: usize = 16 * 1024;
    fn give(pool: &impl Pool) -> usize {
        let (allocated, mapped) = (BYTES.load(SeqCst), advised_bytes());
        for number in 0..JOBS {
            pool.execute(move || assert!(black_box(number) < JOBS));
        }
        BYTES.load(SeqCst).saturating_sub(allocated) + advised_bytes().saturating_sub(mapped)
    }

    let _alone = alone();
    within(|| {
        let pool = pool();
        let from_outside = meet(&pool, 2, || give(&pool));
        let inside = pool.clone();
        let from_inside = meet(&pool, 1, || pool.submit(move || give(&inside)).wait().expect("no panic"));
        for (taken, origin) in [(from_outside, "outside"), (from_inside, "inside")] {
            assert!(taken <= JOBS * LIMIT + SLACK, "{taken} bytes for {JOBS} jobs from {origin}");
            assert!(taken >= JOBS * size_of::<usize>() / 2, "{taken} bytes: the jobs from {origin} did not wait");
        }
        pool.shutdown().expect("nothing blocks");
    });
}

/// The memory of a queue that was very long goes back to the system, at the latest while further jobs come.
fn long_queues_leave_little<P: Pool + 'static>(pool: impl Fn() -> P) {
    const MANY: usize = 400_000;
    let _alone = alone();
    within(|| {
        let (pool, before) = (pool(), advised_bytes());
        let give = |jobs| (0..jobs).for_each(|_| pool.execute(|| ()));
        meet(&pool, 2, || {
            give(MANY);
            assert!(!are_huge_pages_known() || advised_bytes() > before, "{before} bytes as before");
        });
        for _ in 0..100 {
            give(100);
            pool.join().expect("this is no worker");
        }
        assert!(advised_bytes() <= before, "{} bytes, before {before}", advised_bytes());
        pool.shutdown().expect("nothing blocks");
    });
}

/// How many bytes the process has asked the system to put on huge pages, or not to, in whole pieces of that size. Long
/// queues do so, bypassing the allocator. New kernels mark the stacks of threads like that, too; those are not aligned,
/// and do not count.
#[cfg(target_os = "linux")]
fn advised_bytes() -> usize {
    const PIECE: usize = 2 << 20;
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux tells of a process's memory");
    let (mut bytes, mut size) = (0, 0);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let range = first.split_once('-').map(|ends| <[&str; 2]>::from(ends).map(|end| usize::from_str_radix(end, 16)));
        if let Some([Ok(start), Ok(end)]) = range {
            size = if [start, end].iter().all(|end| end.is_multiple_of(PIECE)) { end - start } else { 0 };
        } else if first == "VmFlags:" && words.any(|flag| ["hg", "nh"].contains(&flag)) {
            bytes += size;
        }
    }
    bytes
}

#[cfg(not(target_os = "linux"))]
fn advised_bytes() -> usize {
    0
}

fn are_huge_pages_known() -> bool {
    cfg!(all(target_os = "linux", target_pointer_width = "64"))
        && std::fs::exists("/sys/kernel/mm/transparent_hugepage").is_ok_and(|it| it)
}

/// Long enough that no worker leaves meanwhile.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// A dispatcher whose subpools may each have this many threads, and beside these the one that has the `bound` subpool.
fn dispatcher(threads: usize) -> Dispatcher {
    let builder = Dispatcher::builder().threads(threads + 1).cpu_limit(threads).subpool("limited", threads);
    builder.bound_subpool("bound").build().expect("possible")
}

fn subpool(name: &str) -> Subpool {
    dispatcher(2).subpool(name).expect("it was built")
}

macro_rules! pools {
    ($($name:ident: $pool:expr => $($test:ident)+;)+) => { $(
        mod $name {
            use super::*;

            $(
                #[test]
                fn $test() {
                    crate::$test(|| $pool);
                }
            )+
        }
    )+ };
}

pools! {
    channel: crossbeam_channel_pool::ThreadPool::new(2) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    stealing: crossbeam_workstealing_pool::small_pool(2) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    elastic: elastic_pool::ThreadPool::new(2, 2, KEEP_ALIVE) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    // Its workers come with jobs and leave as soon as they are idle.
    leaving: elastic_pool::ThreadPool::new(0, 2, Duration::from_nanos(1)) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    burst: burst_pool::ThreadPool::new(2) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little;
    // Its jobs wait as in the work-stealing pool, those of the subpools below in queues of the dispatcher's own.
    dispatcher: dispatcher(2) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    limited: subpool("limited") =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little
            long_queues_leave_little;
    // It runs one job at a time.
    bound: subpool("bound") => dropped_pools_leave_nothing futures_leave_nothing;
    threadpool: ThreadPoolExecutor::new(2) =>
        dropped_pools_leave_nothing futures_leave_nothing waiting_jobs_take_little;
    run_now: RunNowExecutor::new() => dropped_pools_leave_nothing;
}

/// So a job that owns a handle to its pool, and little else, needs no allocation; nor does one in an elastic pool with
/// a bound, which has a pointer beside it.
#[test]
fn handles_are_small() {
    let bound = size_of::<usize>();
    let sizes = [
        size_of::<crossbeam_channel_pool::ThreadPool>(),
        size_of::<crossbeam_workstealing_pool::ThreadPool>(),
        size_of::<elastic_pool::ThreadPool>() + bound,
        size_of::<burst_pool::ThreadPool>(),
        size_of::<Dispatcher>(),
        size_of::<Subpool>(),
        size_of::<ThreadPoolExecutor>(),
        size_of::<RunNowExecutor>(),
    ];
    assert!(sizes.iter().all(|&size| size <= INLINE_BYTES), "{sizes:?}");
}

mod large {
    use super::*;

    pools! {
        channel: crossbeam_channel_pool::ThreadPool::new(WORKERS) => idle_workers_take_little;
        stealing: crossbeam_workstealing_pool::large_pool(WORKERS) => idle_workers_take_little;
        elastic: elastic_pool::ThreadPool::new(WORKERS, WORKERS, KEEP_ALIVE) => idle_workers_take_little;
        burst: burst_pool::ThreadPool::new(WORKERS) => idle_workers_take_little;
        dispatcher: dispatcher(WORKERS) => idle_workers_take_little;
        threadpool: ThreadPoolExecutor::new(WORKERS) => idle_workers_take_little;
    }
}

/// A sender allocates for the first value of each receiver, and when it enqueues more values at once than ever before.
#[cfg(feature = "compat-burst-pool")]
#[test]
fn receivers_that_had_a_value_get_the_next_without_allocation() {
    const RECEIVERS: usize = 4;
    let _alone = alone();
    within(|| {
        let mut sender = Sender::new();
        let receive = |mut receiver: Receiver<usize>| thread::spawn(move || while receiver.recv().is_ok() {});
        let threads = [(); RECEIVERS].map(|()| receive(sender.mk_receiver()));
        let mut allocations_of_a_round = || {
            let values: [_; RECEIVERS] = std::array::from_fn(Box::new);
            let before = OWN_ALLOCATIONS.get();
            for mut value in values {
                while let Some(back) = sender.enqueue(value) {
                    value = back;
                    thread::yield_now();
                }
            }
            let enqueued = OWN_ALLOCATIONS.get();
            sender.wake_all();
            (enqueued - before, OWN_ALLOCATIONS.get() - enqueued)
        };
        let (enqueuing, waking) = allocations_of_a_round();
        assert!(enqueuing >= 1 && waking >= RECEIVERS, "the count works: {enqueuing} and {waking}");
        for _ in 0..10 {
            assert_eq!(allocations_of_a_round(), (0, 0));
        }
        drop(sender);
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

/// With metrics, a worker that runs out of jobs allocates labels, which these tests are not about. The wrapper of
/// `threadpool` is missing, because that crate puts each job into a box.
#[cfg(not(feature = "produce-metrics"))]
mod without_metrics {
    use super::*;

    pools! {
        channel: crossbeam_channel_pool::ThreadPool::new(2) => small_jobs_allocate_nothing;
        stealing: crossbeam_workstealing_pool::small_pool(2) => small_jobs_allocate_nothing;
        elastic: elastic_pool::ThreadPool::new(2, 2, KEEP_ALIVE) => small_jobs_allocate_nothing;
        burst: burst_pool::ThreadPool::new(2) => small_jobs_allocate_nothing;
        dispatcher: dispatcher(2) => small_jobs_allocate_nothing;
        limited: subpool("limited") => small_jobs_allocate_nothing;
        bound: subpool("bound") => small_jobs_allocate_nothing;
    }
}
