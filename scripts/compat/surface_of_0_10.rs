//! A program written for `executors` 0.10.0 that uses every item of its public surface.
//!
//! `scripts/compat.sh` compiles it against the published 0.10.0 and, unchanged, against this repository, where it also
//! runs. It asserts what both promise, so it must not be changed to suit this repository.

use executors::{
    bichannel::{Endpoint, bichannel},
    crossbeam_channel_pool, crossbeam_workstealing_pool,
    parker::{
        DynParker, DynamicThreadData, LargeThreadData, ParkResult, Parker, SmallThreadData, StaticParker, ThreadData,
    },
    run_now::RunNowExecutor,
    threadpool_executor::ThreadPoolExecutor,
    *,
};
use std::{
    fmt::Debug,
    future::Future,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{
        Arc, Condvar, Mutex,
        mpsc::{Iter, Receiver, RecvError, RecvTimeoutError, SendError, TryIter, TryRecvError, channel},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn main() {
    usage_from_the_readme();
    root_exports_and_their_modules_are_the_same();
    auto_traits();
    pools();
    futures();
    parkers();
    custom_parker();
    custom_executor();
    channels_in_both_directions();
    limits_panic();
    closed_pools_tell_so();
    #[cfg(feature = "pinning")]
    pinned();
    #[cfg(feature = "numa")]
    near();
    println!("all that 0.10.0 offers was used");
}

fn usage_from_the_readme() {
    let n_workers = 4;
    let n_jobs = 8;
    let pool = crossbeam_workstealing_pool::small_pool(n_workers);

    let (tx, rx) = channel();
    for _ in 0..n_jobs {
        let tx = tx.clone();
        pool.execute(move || {
            tx.send(1).expect("channel will be there waiting for the pool");
        });
    }

    assert_eq!(rx.iter().take(n_jobs).fold(0, |a, b| a + b), 8);
    pool.shutdown().expect("shuts down");
}

fn root_exports_and_their_modules_are_the_same() {
    fn by_module<E: executors::common::Executor + executors::common::CanExecute>(executor: E) -> E {
        by_root(executor)
    }
    fn by_root<E: executors::Executor + executors::CanExecute>(executor: E) -> E {
        executor
    }
    fn futures_by_root<E: executors::FuturesExecutor>(executor: E) -> E {
        executor
    }
    fn futures_by_module<E: executors::futures_executor::FuturesExecutor>(executor: E) -> E {
        futures_by_root(executor)
    }
    let _ = by_module(RunNowExecutor::new());
    let pool = futures_by_module(crossbeam_channel_pool::ThreadPool::new(1));
    let handle: executors::JoinHandle<u8> = pool.spawn(async { 7 });
    let handle: executors::futures_executor::JoinHandle<u8> = handle;
    assert_eq!(block_on(handle), 7);
    pool.shutdown().expect("shuts down");
}

/// What every executor of 0.10 can do.
fn exercise<E: Executor + Clone + Debug + Send + 'static>(executor: E) {
    assert!(!format!("{executor:?}").is_empty());

    let (sender, receiver) = channel();
    {
        let sender = sender.clone();
        executor.execute(move || sender.send(1).expect("is awaited"));
    }
    {
        let sender = sender.clone();
        let object: &dyn CanExecute = &executor;
        object.execute_job(Box::new(move || sender.send(2).expect("is awaited")));
    }
    {
        // A job that gives jobs to its own executor, by handle and without.
        let (sender, handle) = (sender.clone(), executor.clone());
        executor.execute(move || {
            let nested = sender.clone();
            handle.execute(move || nested.send(3).expect("is awaited"));
            let local = move || sender.send(4).expect("is awaited");
            let refused = executors::try_execute_locally(local);
            assert!(refused.is_ok(), "this is a job of an executor");
        });
    }
    assert_eq!(received(&receiver, 4), [1, 2, 3, 4]);

    #[cfg(feature = "metrics")]
    executor.register_metrics();

    let result: Result<(), String> = executor.clone().shutdown_borrowed();
    result.expect("shuts down");
    executor.shutdown().expect_err("was shut down before");
}

fn pools() {
    let refused: Result<(), _> = try_execute_locally(|| ());
    assert!(refused.is_err(), "the main thread belongs to no executor");

    exercise(RunNowExecutor::new());
    exercise(RunNowExecutor::default());
    exercise(ThreadPoolExecutor::new(2));
    exercise(ThreadPoolExecutor::default());
    exercise(crossbeam_channel_pool::ThreadPool::new(2));
    exercise(crossbeam_channel_pool::ThreadPool::default());
    exercise(crossbeam_workstealing_pool::ThreadPool::new(2, parker::small()));
    exercise(crossbeam_workstealing_pool::ThreadPool::<DynParker>::default());
    exercise(crossbeam_workstealing_pool::small_pool(2));
    exercise(crossbeam_workstealing_pool::large_pool(2));
    exercise(crossbeam_workstealing_pool::dyn_pool(2));
    exercise(crossbeam_workstealing_pool::pool_with_auto_parker(2));

    // As users write the types down.
    struct Holder<P: Parker + Clone + 'static> {
        pool: crossbeam_workstealing_pool::ThreadPool<P>,
    }
    let small: Holder<StaticParker<SmallThreadData>> = Holder { pool: crossbeam_workstealing_pool::small_pool(1) };
    let large: Holder<StaticParker<LargeThreadData>> = Holder { pool: crossbeam_workstealing_pool::large_pool(1) };
    let dynamic: Holder<StaticParker<DynamicThreadData>> = Holder { pool: crossbeam_workstealing_pool::dyn_pool(1) };
    let boxed: Holder<DynParker> = Holder { pool: crossbeam_workstealing_pool::pool_with_auto_parker(1) };
    let make: fn(usize) -> crossbeam_channel_pool::ThreadPool = crossbeam_channel_pool::ThreadPool::new;
    make(1).shutdown().expect("shuts down");
    small.pool.shutdown().expect("shuts down");
    large.pool.shutdown().expect("shuts down");
    boxed.pool.shutdown().expect("shuts down");

    let (sender, receiver) = channel();
    dynamic.pool.execute(move || {
        let job = move || sender.send(5).expect("is awaited");
        let refused = crossbeam_workstealing_pool::execute_locally(job);
        assert!(refused.is_ok(), "this is a job of a work-stealing pool");
    });
    assert_eq!(received(&receiver, 1), [5]);
    dynamic.pool.shutdown_async();
}

/// Traits that are implemented without being written down, and so are lost without being noticed.
fn auto_traits() {
    fn shared<T: Send + Sync + Unpin>() {}
    shared::<RunNowExecutor>();
    shared::<ThreadPoolExecutor>();
    shared::<crossbeam_channel_pool::ThreadPool>();
    shared::<crossbeam_workstealing_pool::ThreadPool<DynParker>>();
    shared::<crossbeam_workstealing_pool::ThreadPool<StaticParker<SmallThreadData>>>();
    shared::<DynParker>();
    shared::<StaticParker<SmallThreadData>>();
    shared::<StaticParker<LargeThreadData>>();
    shared::<StaticParker<DynamicThreadData>>();
    shared::<JoinHandle<()>>();

    fn sent<T: Send + Unpin>() {}
    sent::<Endpoint<(), ()>>();

    fn caught<T: UnwindSafe + RefUnwindSafe>() {}
    caught::<RunNowExecutor>();
    caught::<ThreadPoolExecutor>();
    caught::<crossbeam_channel_pool::ThreadPool>();
    caught::<StaticParker<SmallThreadData>>();
    caught::<StaticParker<LargeThreadData>>();
    caught::<StaticParker<DynamicThreadData>>();
    caught::<Endpoint<(), ()>>();
    caught::<JoinHandle<()>>();
}

fn futures() {
    fn spawned<E: FuturesExecutor>(executor: &E) {
        let handle: JoinHandle<String> = executor.spawn(async { "six times seven".to_owned() });
        assert_eq!(block_on(handle), "six times seven");

        let (sender, receiver) = channel();
        executor.spawn(async move { sender.send(6).expect("is awaited") }).detach();
        assert_eq!(received(&receiver, 1), [6]);

        let boxed: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async {});
        block_on(executor.spawn(boxed));
        executor.shutdown_borrowed().expect("shuts down");
    }
    spawned(&crossbeam_channel_pool::ThreadPool::new(2));
    spawned(&crossbeam_workstealing_pool::small_pool(2));
    spawned(&crossbeam_workstealing_pool::pool_with_auto_parker(2));
}

fn parkers() {
    assert_eq!(SmallThreadData::MAX_THREADS, 32);
    assert_eq!(LargeThreadData::MAX_THREADS, 64);

    let small: StaticParker<SmallThreadData> = parker::small();
    let large: StaticParker<LargeThreadData> = parker::large();
    let dynamic: StaticParker<DynamicThreadData> = parker::dynamic();
    assert_eq!(small.max_threads(), Some(32));
    assert_eq!(large.max_threads(), Some(64));
    assert_eq!(dynamic.max_threads(), None);

    let shared = large.clone();
    let large: StaticParker<LargeThreadData> = large.dynamic().expect_err("a parker with clones stays what it is");
    drop(shared);
    let boxed: DynParker = large.dynamic().expect("the only handle");
    assert_eq!(boxed.max_threads(), Some(64));
    assert!(!format!("{boxed:?} {small:?}").is_empty());

    fn park_and_wake<P: Parker>(parker: P) {
        parker.init(0);
        parker.prepare_park(0);
        parker.abort_park(0);
        let waker = parker.clone();
        thread::scope(|scope| {
            let sleeper = scope.spawn(move || {
                loop {
                    parker.prepare_park(0);
                    loop {
                        match parker.park(0) {
                            ParkResult::Retry => {}
                            ParkResult::Abort => break,
                            ParkResult::Woken => return,
                        }
                    }
                }
            });
            while !sleeper.is_finished() {
                waker.unpark_one();
                waker.unpark_all();
                thread::yield_now();
            }
        });
    }
    park_and_wake(small);
    park_and_wake(dynamic);
    park_and_wake(boxed);

    fn state<T: ThreadData>(data: &T) -> (Option<usize>, bool) {
        data.init(0);
        data.prepare_park(0);
        data.abort_park(0);
        data.unpark_one();
        data.unpark_all();
        (data.max_threads(), data.all_awake())
    }
    assert_eq!(state(&Never), (Some(1), true));
}

/// A user's own `ThreadData`, with the methods that 0.10 requires and no other.
#[derive(Debug)]
struct Never;

impl ThreadData for Never {
    fn max_threads(&self) -> Option<usize> {
        Some(1)
    }
    fn init(&self, _thread_id: usize) {}
    fn prepare_park(&self, _thread_id: usize) {}
    fn abort_park(&self, _thread_id: usize) {}
    fn park(&self, _thread_id: usize) -> ParkResult {
        ParkResult::Abort
    }
    fn all_awake(&self) -> bool {
        true
    }
    fn unpark_one(&self) {}
    fn unpark_all(&self) {}
}

/// A user's own `Parker`, with the methods that 0.10 requires and no other.
#[derive(Clone, Debug, Default)]
struct NappingParker {
    /// Whether somebody was to be woken since the last look.
    called: Arc<(Mutex<bool>, Condvar)>,
}

impl Parker for NappingParker {
    fn max_threads(&self) -> Option<usize> {
        Some(4)
    }
    fn init(&self, _thread_id: usize) {}
    fn prepare_park(&self, _thread_id: usize) {}
    fn abort_park(&self, _thread_id: usize) {}
    fn park(&self, _thread_id: usize) -> ParkResult {
        let (called, bell) = &*self.called;
        let called = called.lock().expect("nobody panics with the lock");
        let (mut called, _) = bell.wait_timeout(called, Duration::from_millis(1)).expect("as above");
        *called = false;
        ParkResult::Woken
    }
    fn unpark_one(&self) {
        self.unpark_all();
    }
    fn unpark_all(&self) {
        let (called, bell) = &*self.called;
        *called.lock().expect("as above") = true;
        bell.notify_all();
    }
}

fn custom_parker() {
    exercise(crossbeam_workstealing_pool::ThreadPool::new(3, NappingParker::default()));
}

/// A user's own `Executor`, with the methods that 0.10 requires and no other.
#[derive(Clone, Debug)]
struct OneThreadPerJob;

impl CanExecute for OneThreadPerJob {
    fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
        thread::spawn(job);
    }
}

impl Executor for OneThreadPerJob {
    fn shutdown_async(&self) {}

    fn shutdown_borrowed(&self) -> Result<(), String> {
        Ok(())
    }

    #[cfg(feature = "metrics")]
    fn register_metrics(&self) {}
}

fn custom_executor() {
    let (sender, receiver) = channel();
    OneThreadPerJob.execute(move || sender.send(8).expect("is awaited"));
    assert_eq!(received(&receiver, 1), [8]);
    OneThreadPerJob.shutdown_async();
    OneThreadPerJob.shutdown().expect("does nothing");
    #[cfg(feature = "metrics")]
    OneThreadPerJob.register_metrics();
}

fn channels_in_both_directions() {
    let (left, right): (Endpoint<String, u32>, Endpoint<u32, String>) = bichannel::<u32, String>();
    left.send(1).expect("right is there");
    left.send(2).expect("right is there");
    let first: Result<u32, RecvError> = right.recv();
    assert_eq!(first, Ok(1));
    let second: Result<u32, TryRecvError> = right.try_recv();
    assert_eq!(second, Ok(2));
    let nothing: Result<u32, RecvTimeoutError> = right.recv_timeout(Duration::from_millis(1));
    assert_eq!(nothing, Err(RecvTimeoutError::Timeout));
    right.send("three".to_owned()).expect("left is there");
    let waiting: TryIter<'_, String> = left.try_iter();
    assert_eq!(waiting.count(), 1);
    left.send(4).expect("right is there");
    let mut coming: Iter<'_, u32> = right.iter();
    assert_eq!(coming.next(), Some(4));
    drop(left);
    let gone: Result<(), SendError<String>> = right.send("five".to_owned());
    assert!(gone.is_err());
}

fn limits_panic() {
    fn panics<R>(f: impl FnOnce() -> R + UnwindSafe) {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let result = std::panic::catch_unwind(f);
        std::panic::set_hook(hook);
        assert!(result.is_err());
    }
    panics(|| ThreadPoolExecutor::new(0));
    panics(|| crossbeam_channel_pool::ThreadPool::new(0));
    panics(|| crossbeam_workstealing_pool::small_pool(0));
    panics(|| crossbeam_workstealing_pool::small_pool(33));
    panics(|| crossbeam_workstealing_pool::large_pool(65));
}

fn closed_pools_tell_so() {
    let pool = crossbeam_workstealing_pool::small_pool(1);
    pool.shutdown_borrowed().expect("the first time");
    let error: String = pool.shutdown_borrowed().expect_err("the second time");
    assert!(error == "Pool was already shut down!" || error == "Pool is already shutting down!", "{error}");
}

#[cfg(feature = "pinning")]
fn pinned() {
    use core_affinity::CoreId;

    let cores: Vec<CoreId> = core_affinity::get_core_ids().expect("this system tells its cores");
    exercise(crossbeam_channel_pool::ThreadPool::with_affinity(&cores[..1], 1));
    exercise(crossbeam_workstealing_pool::ThreadPool::with_affinity(&cores[..1], 1, parker::small()));
}

#[cfg(feature = "numa")]
fn near() {
    use core_affinity::CoreId;
    use executors::numa_utils::{ProcessingUnitDistance, equidistance};

    let cores: Vec<CoreId> = core_affinity::get_core_ids().expect("this system tells its cores");
    let size = cores.iter().map(|core| core.id + 1).max().unwrap_or(0);
    let equal = ProcessingUnitDistance::from_function(size, equidistance);
    assert_eq!(equal.distance(CoreId { id: 0 }, CoreId { id: 0 }), 0);
    let rows = || vec![vec![0, 7], vec![7, 0]];
    let collected: ProcessingUnitDistance = rows().into_iter().collect();
    let boxed: ProcessingUnitDistance = rows().into_iter().map(Vec::into_boxed_slice).collect();
    let new = ProcessingUnitDistance::new(rows().into_iter().map(Vec::into_boxed_slice).collect());
    assert!(collected == boxed && boxed == new && new != ProcessingUnitDistance::empty());
    assert_eq!(new.distance(CoreId { id: 0 }, CoreId { id: 1 }), 7);
    assert!(!format!("{new:?}").is_empty());

    exercise(crossbeam_workstealing_pool::ThreadPool::with_numa_affinity(&cores, 0, parker::dynamic(), equal));
}

/// The next `n` numbers, sorted.
fn received(receiver: &Receiver<i32>, n: usize) -> Vec<i32> {
    let mut numbers: Vec<i32> = (0..n).map(|_| receiver.recv_timeout(PATIENCE).expect("jobs run")).collect();
    numbers.sort_unstable();
    numbers
}

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
