//! The interface of version 0.10.0, used as a program written for it would use it. All of this must go on compiling,
//! and go on meaning the same. (This file compiles with the published 0.10.0 in place of this crate.)

mod support;

#[allow(unused_imports, reason = "which of the names are needed depends on the features; all must be there")]
use executors::*;
use std::{
    any::Any,
    fmt::Debug,
    panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{channel, sync_channel},
    },
    thread,
    time::Duration,
};
#[allow(unused_imports, reason = "not all is needed with all features")]
use support::{
    case,
    child::{Child, ballast},
    log_book, threads,
    watchdog::{until, within},
};

/// Any executor, through the trait alone.
fn use_executor<E: Executor + Debug + 'static>(executor: E) {
    within(|| {
        assert!(!format!("{executor:?}").is_empty());
        #[cfg(feature = "produce-metrics")]
        executor.register_metrics();
        let (sender, receiver) = channel();
        for number in 0..4 {
            let sender = sender.clone();
            executor.execute(move || sender.send(number).unwrap());
        }
        let (boxed, local) = (sender.clone(), sender.clone());
        executor.execute_job(Box::new(move || boxed.send(4).unwrap()));
        executor.execute(move || {
            if let Err(job) = try_execute_locally(move || local.send(5).unwrap()) {
                job();
            }
        });
        assert_eq!(receiver.iter().take(6).sum::<i32>(), 15);
        let other = executor.clone();
        executor.shutdown().expect("the executor is open, and nothing blocks");
        let error = other.shutdown_borrowed().expect_err("it is closed already");
        assert!(error == "Pool is already shutting down!" || error == "Pool was already shut down!", "{error}");
        other.shutdown_async();
        other.execute(move || sender.send(6).unwrap());
        drop(other);
        assert!(receiver.recv().is_err(), "a job given to a closed executor is dropped");
    });
}

/// An executor that can be borrowed by, and moved into, closures whose panics are caught.
fn use_where_panics_are_caught<E: Executor + UnwindSafe + RefUnwindSafe + 'static>(executor: E) {
    let (sender, receiver) = sync_channel(1);
    assert!(catch_unwind(|| executor.execute(move || sender.send(()).unwrap())).is_ok());
    within(|| receiver.recv().unwrap());
    assert!(catch_unwind(move || executor.shutdown().unwrap()).is_ok());
}

/// The `Default` that some features provide.
#[cfg(feature = "defaults")]
#[allow(dead_code, reason = "for the pools that there are")]
fn use_default<E: Executor + Debug + Default + 'static>() {
    use_executor(E::default());
}

#[allow(dead_code, reason = "only pools can be built wrongly")]
fn assert_panics(construct: impl FnOnce(), word: &str) {
    let payload: Box<dyn Any + Send> =
        catch_unwind(AssertUnwindSafe(construct)).expect_err("this pool cannot be built");
    let message = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    assert!(message.is_some_and(|message| message.contains(word)), "the message should tell of {word}: {message:?}");
}

/// The system has room for a few threads only: the constructor says so and what to do, and no part of a pool is left.
#[allow(dead_code, reason = "only pools have threads")]
fn assert_refused_threads_panic<P>(test: &'static str, room: Room, construct: impl FnOnce(usize) -> P) {
    case::begin(test);
    // The stacks of four threads fit into the address space, those of twelve do not.
    let child = Child::default().address_space(2 << 30).variable("RUST_MIN_STACK", "268435456");
    child.run(|| {
        let Some(before) = threads::count() else { return };
        let ballast = if room == Room::None { ballast(128 << 20) } else { Vec::new() };
        assert_panics(|| drop(construct(12)), "fewer threads");
        until("the threads that there were are gone again", || threads::count() == Some(before));
        drop(ballast);
    });
}

#[allow(dead_code, reason = "only pools have threads")]
#[derive(PartialEq)]
enum Room {
    None,
    ForSome,
}

#[test]
fn run_now() {
    use executors::run_now::RunNowExecutor;

    use_executor(RunNowExecutor::new());
    use_executor(RunNowExecutor::default());
    use_where_panics_are_caught(RunNowExecutor::new());
    let here = thread::current().id();
    let (tell, told) = channel();
    RunNowExecutor::new().execute(move || tell.send(thread::current().id()).unwrap());
    assert_eq!(told.try_recv(), Ok(here), "the job has run when the call returns, on its thread");
}

#[test]
fn trait_objects() {
    fn run_on(executor: &dyn CanExecute) {
        let (sender, receiver) = sync_channel(1);
        executor.execute_job(Box::new(move || sender.send(7).unwrap()));
        assert_eq!(receiver.recv(), Ok(7));
    }

    run_on(&executors::run_now::RunNowExecutor::new());
    let boxed: Box<dyn common::CanExecute> = Box::new(executors::run_now::RunNowExecutor::new());
    run_on(&*boxed);
}

#[test]
fn outside_of_executors_a_local_job_comes_back() {
    let (sender, receiver) = channel();
    try_execute_locally(move || sender.send(5).unwrap()).expect_err("this thread belongs to no executor")();
    assert_eq!(receiver.recv(), Ok(5));
}

/// An executor of the user's own implements three methods; the rest is provided.
#[test]
fn executors_can_be_written() {
    #[derive(Clone, Debug, Default)]
    struct ThreadPerJob {
        closed: Arc<Mutex<bool>>,
        begun: Arc<AtomicUsize>,
    }

    impl CanExecute for ThreadPerJob {
        fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
            if !*self.closed.lock().unwrap() {
                self.begun.fetch_add(1, SeqCst);
                thread::spawn(job);
            }
        }
    }

    impl Executor for ThreadPerJob {
        fn shutdown_async(&self) {
            drop(self.shutdown_borrowed());
        }

        fn shutdown_borrowed(&self) -> Result<(), String> {
            let was_closed = std::mem::replace(&mut *self.closed.lock().unwrap(), true);
            if was_closed { Err("Pool was already shut down!".to_owned()) } else { Ok(()) }
        }

        #[cfg(feature = "produce-metrics")]
        fn register_metrics(&self) {}
    }

    let executor = ThreadPerJob::default();
    use_executor(executor.clone());
    assert_eq!(executor.begun.load(SeqCst), 6);
}

#[test]
fn bichannel() {
    use executors::bichannel::{Endpoint, bichannel};
    use std::sync::mpsc::{Iter, RecvError, RecvTimeoutError, SendError, TryIter, TryRecvError};

    let (left, right): (Endpoint<String, u8>, Endpoint<u8, String>) = bichannel::<u8, String>();
    assert_eq!(left.send(1), Ok(()));
    assert_eq!(right.recv(), Ok(1));
    assert_eq!(right.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(right.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    right.send("two".to_owned()).unwrap();
    right.send("three".to_owned()).unwrap();
    let mut arrived: TryIter<'_, String> = left.try_iter();
    assert_eq!(arrived.next().as_deref(), Some("two"));
    drop(right);
    let rest: Iter<'_, String> = left.iter();
    assert_eq!(rest.collect::<Vec<_>>(), ["three"]);
    assert_eq!(left.recv(), Err(RecvError));
    assert_eq!(left.send(4), Err(SendError(4)));
}

mod parkers {
    use crate::support::{naive_parker::NaiveParker, watchdog::within};
    use executors::parker::{
        self, DynParker, DynamicThreadData, LargeThreadData, ParkResult, Parker, SmallThreadData, StaticParker,
        ThreadData,
    };
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// A thread prepares to sleep and is called before it sleeps; another time it changes its mind.
    fn use_parker(parker: impl Parker, limit: Option<usize>) {
        within(|| {
            assert_eq!(parker.max_threads(), limit);
            parker.init(0);
            parker.prepare_park(0);
            parker.clone().unpark_one();
            while let ParkResult::Retry = parker.park(0) {}
            parker.prepare_park(0);
            parker.abort_park(0);
            parker.prepare_park(0);
            parker.unpark_all();
            assert_eq!(parker.park(0), ParkResult::Woken);
        });
    }

    #[test]
    fn parkers_of_the_crate() {
        let small: StaticParker<SmallThreadData> = parker::small();
        let large: StaticParker<LargeThreadData> = parker::large();
        let dynamic: StaticParker<DynamicThreadData> = parker::dynamic();
        use_parker(small, Some(SmallThreadData::MAX_THREADS));
        use_parker(large, Some(LargeThreadData::MAX_THREADS));
        use_parker(dynamic, None);
        assert_eq!((SmallThreadData::MAX_THREADS, LargeThreadData::MAX_THREADS), (32, 64));
        let dynamic: DynParker = parker::small().dynamic().expect("it has no clones");
        use_parker(dynamic.clone(), Some(32));
        assert!(format!("{:?} {dynamic:?}", parker::large()).contains("Parker"));
        let parker = parker::large();
        let _clone = parker.clone();
        let parker: StaticParker<LargeThreadData> = parker.dynamic().expect_err("the clone would not know");
        assert_eq!(parker.max_threads(), Some(64));
    }

    #[test]
    fn parkers_can_be_written() {
        use_parker(NaiveParker::default(), Some(1000));
    }

    /// Workers of all pools have the same numbers, and sleep again and again.
    #[test]
    #[cfg(feature = "workstealing-exec")]
    fn clones_of_a_parker_or_a_builder_serve_a_pool_each() {
        use executors::{Executor, Idle, crossbeam_workstealing_pool::ThreadPool};
        use std::{sync::mpsc, time::Duration};

        within(|| {
            let parker = parker::small();
            let builder = ThreadPool::builder().threads(1).idle(Idle::Park { spin: Duration::ZERO });
            let builders = [builder.clone().parker(parker.clone()), builder.parker(parker)];
            let builders = builders.into_iter().flat_map(|builder| [builder.clone(), builder]);
            let pools: Vec<_> = builders.map(|builder| builder.build().expect("one thread")).collect();
            for _round in 0..100 {
                let (tell, told) = mpsc::channel();
                for pool in &pools {
                    let tell = tell.clone();
                    pool.execute(move || tell.send(()).expect("the test listens"));
                }
                told.iter().take(pools.len()).for_each(drop);
            }
            pools.into_iter().for_each(|pool| pool.shutdown().expect("nothing blocks"));
        });
    }

    /// The state of a parker can be written by users, too.
    #[test]
    fn thread_data_can_be_written() {
        #[derive(Debug, Default)]
        struct Insomnia(AtomicUsize);

        impl ThreadData for Insomnia {
            fn max_threads(&self) -> Option<usize> {
                None
            }

            fn init(&self, _thread_id: usize) {}

            fn prepare_park(&self, _thread_id: usize) {
                self.0.fetch_add(1, SeqCst);
            }

            fn abort_park(&self, _thread_id: usize) {
                self.0.fetch_sub(1, SeqCst);
            }

            fn park(&self, _thread_id: usize) -> ParkResult {
                self.0.fetch_sub(1, SeqCst);
                ParkResult::Abort
            }

            fn all_awake(&self) -> bool {
                self.0.load(SeqCst) == 0
            }

            fn unpark_one(&self) {}

            fn unpark_all(&self) {}
        }

        fn use_data<T: ThreadData + Sync + Send + 'static>(data: &T) {
            data.prepare_park(0);
            assert!(!data.all_awake());
            assert_eq!(data.park(0), ParkResult::Abort);
            assert!(data.all_awake());
        }

        // A parker with such a state can be named, though none can be made.
        const _: Option<StaticParker<Insomnia>> = None;

        use_data(&Insomnia::default());
    }
}

#[cfg(feature = "cb-channel-exec")]
mod channel_pool {
    use super::*;
    use executors::crossbeam_channel_pool::ThreadPool;

    #[test]
    fn new() {
        use_executor(ThreadPool::new(2));
        use_where_panics_are_caught(ThreadPool::new(2));
        assert_panics(|| drop(ThreadPool::new(0)), "0 threads");
    }

    #[test]
    fn refused_threads() {
        assert_refused_threads_panic(concat!(module_path!(), "::refused_threads"), Room::None, ThreadPool::new);
    }

    #[cfg(feature = "defaults")]
    #[test]
    fn default() {
        use_default::<ThreadPool>();
    }

    #[test]
    fn thread_names() {
        let (sender, receiver) = channel();
        let pool = ThreadPool::new(1);
        pool.execute(move || sender.send(thread::current().name().map(str::to_owned)).unwrap());
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("cb-channel-pool-worker"));
    }

    #[test]
    fn spawn() {
        use_futures(&ThreadPool::new(2));
    }

    #[cfg(feature = "thread-pinning")]
    #[test]
    fn with_affinity() {
        let cores = core_affinity::get_core_ids().expect("core ids");
        assert_pinned(&ThreadPool::with_affinity(&cores[..1], 0), cores[0]);
        use_executor(ThreadPool::with_affinity(&cores, 1));
        log_book::open();
        use_executor(ThreadPool::with_affinity(&[core_affinity::CoreId { id: 5000 }], 0));
        let told = log_book::of_all_threads("core 5000");
        assert!(matches!(told[..], [(log::Level::Warn, _)]), "it runs nevertheless, and says so: {told:?}");
        use_executor(ThreadPool::with_affinity(&[], 1));
        assert_panics(|| drop(ThreadPool::with_affinity(&[], 0)), "0 threads");
    }
}

#[cfg(feature = "workstealing-exec")]
mod workstealing_pool {
    use super::*;
    use crate::support::naive_parker::NaiveParker;
    use executors::{
        crossbeam_workstealing_pool::{
            self, ThreadPool, dyn_pool, execute_locally, large_pool, pool_with_auto_parker, small_pool,
        },
        parker::{self, DynParker, LargeThreadData, Parker, SmallThreadData, StaticParker},
    };

    /// As in a program that stores its pool in a struct.
    struct Holder<P: Parker + Clone + 'static> {
        pool: ThreadPool<P>,
    }

    #[test]
    fn new() {
        use_executor(ThreadPool::new(2, parker::small()));
        use_executor(ThreadPool::new(2, parker::large().dynamic().unwrap()));
        let holder: Holder<StaticParker<SmallThreadData>> = Holder { pool: small_pool(2) };
        use_executor(holder.pool);
        let holder: Holder<StaticParker<LargeThreadData>> = Holder { pool: large_pool(2) };
        use_executor(holder.pool);
        use_executor(dyn_pool(2));
        let holder: Holder<DynParker> = Holder { pool: pool_with_auto_parker(2) };
        use_executor(holder.pool);
    }

    #[test]
    fn refused_threads() {
        assert_refused_threads_panic(concat!(module_path!(), "::refused_threads"), Room::None, small_pool);
    }

    /// A feature decides how a pool idles if it is not told. A program that turns it on wants the busy cores.
    #[test]
    fn idling() {
        case::begin(concat!(module_path!(), "::idling"));
        Child::default().run(|| {
            let used = || threads::processor_time("cb-ws-pool-work");
            let pool = small_pool(2);
            let (sender, receiver) = channel();
            pool.execute(move || sender.send(()).unwrap());
            receiver.recv().unwrap();
            let Some(before) = used() else { return };
            if cfg!(feature = "ws-no-park") {
                until("idle workers have used the processor", || used() > Some(before + Duration::from_millis(100)));
            } else {
                let period = Duration::from_millis(500);
                thread::sleep(period);
                let spent = used().unwrap() - before;
                assert!(spent < period / 100, "{spent:?} of {period:?} were spent on nothing");
            }
        });
    }

    #[test]
    fn a_users_parker() {
        use_executor(ThreadPool::new(3, NaiveParker::default()));
    }

    #[test]
    fn impossible_numbers() {
        assert_panics(|| drop(small_pool(0)), "0 threads");
        assert_panics(|| drop(small_pool(33)), "33");
        assert_panics(|| drop(large_pool(65)), "65");
        assert_panics(|| drop(ThreadPool::new(1001, NaiveParker::default())), "1001");
    }

    #[cfg(feature = "defaults")]
    #[test]
    fn default() {
        use_default::<ThreadPool<DynParker>>();
    }

    #[test]
    fn thread_names() {
        let (sender, receiver) = channel();
        let pool = small_pool(1);
        pool.execute(move || sender.send(thread::current().name().map(str::to_owned)).unwrap());
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("cb-ws-pool-worker-0"));
    }

    #[test]
    fn local_jobs() {
        let (sender, receiver) = channel();
        let pool = small_pool(2);
        let nowhere = sender.clone();
        assert!(execute_locally(move || nowhere.send(0).unwrap()).is_err());
        pool.execute(move || {
            let local = sender.clone();
            let outcome = crossbeam_workstealing_pool::execute_locally(move || local.send(1).unwrap());
            outcome.unwrap_or_else(|_job| panic!("this is a job of the pool"));
            sender.send(2).unwrap();
        });
        assert_eq!(receiver.iter().sum::<i32>(), 3);
    }

    #[test]
    fn spawn() {
        use_futures(&small_pool(2));
    }

    #[cfg(feature = "thread-pinning")]
    #[test]
    fn with_affinity() {
        let cores = core_affinity::get_core_ids().expect("core ids");
        assert_pinned(&ThreadPool::with_affinity(&cores[..1], 0, parker::small()), cores[0]);
        use_executor(ThreadPool::with_affinity(&cores, 1, parker::dynamic()));
        assert_panics(|| drop(ThreadPool::with_affinity(&[], 0, parker::small())), "0 threads");
        assert_panics(|| drop(ThreadPool::with_affinity(&[], 33, parker::small())), "33");
    }

    #[cfg(feature = "numa-aware")]
    #[test]
    fn with_numa_affinity() {
        use executors::numa_utils::{ProcessingUnitDistance, equidistance};

        let cores = core_affinity::get_core_ids().expect("core ids");
        let size = cores.iter().map(|core| core.id + 1).max().expect("there is a core");
        let distances = ProcessingUnitDistance::from_function(size, equidistance);
        use_executor(ThreadPool::with_numa_affinity(&cores, 1, parker::small(), distances));
        let nowhere = ProcessingUnitDistance::empty();
        assert_pinned(&ThreadPool::with_numa_affinity(&cores[..1], 0, parker::small(), nowhere), cores[0]);
        use_executor(ThreadPool::with_numa_affinity(&[], 2, parker::small(), ProcessingUnitDistance::empty()));
    }
}

#[cfg(feature = "threadpool-exec")]
mod threadpool_pool {
    use super::*;
    use executors::threadpool_executor::ThreadPoolExecutor;

    #[test]
    fn new() {
        use_executor(ThreadPoolExecutor::new(2));
        use_where_panics_are_caught(ThreadPoolExecutor::new(2));
        assert_panics(|| drop(ThreadPoolExecutor::new(0)), "0 threads");
    }

    #[test]
    fn refused_threads() {
        assert_refused_threads_panic(
            concat!(module_path!(), "::refused_threads"),
            Room::ForSome,
            ThreadPoolExecutor::new,
        );
    }

    #[cfg(feature = "defaults")]
    #[test]
    fn default() {
        use_default::<ThreadPoolExecutor>();
    }
}

/// The pool's only worker may run on one core only.
#[cfg(feature = "thread-pinning")]
#[allow(dead_code, reason = "for the pools that there are")]
fn assert_pinned(pool: &impl Executor, core: core_affinity::CoreId) {
    let (sender, receiver) = channel();
    pool.execute(move || sender.send(threads::allowed_cores()).unwrap());
    if let Some(allowed) = receiver.recv().unwrap() {
        assert_eq!(allowed, core.id.to_string());
    }
}

#[cfg(feature = "numa-aware")]
#[test]
fn distances() {
    use core_affinity::CoreId;
    use executors::numa_utils::{ProcessingUnitDistance, equidistance};

    let (first, second) = (CoreId { id: 0 }, CoreId { id: 1 });
    let matrix: ProcessingUnitDistance = vec![vec![0, 1], vec![1, 0]].into_iter().collect();
    assert_eq!(matrix, ProcessingUnitDistance::from_function(2, equidistance));
    let rows: Vec<Box<[i32]>> = vec![Box::new([0, 1]), Box::new([1, 0])];
    assert_eq!(matrix, rows.into_iter().collect());
    assert_eq!(matrix, ProcessingUnitDistance::new(Box::new([Box::new([0, 1]), Box::new([1, 0])])));
    assert_eq!((matrix.distance(first, first), matrix.distance(first, second)), (0, 1));
    assert_eq!((equidistance(3, 3), equidistance(3, 4)), (0, 1));
    assert_eq!(ProcessingUnitDistance::empty(), Vec::<Vec<i32>>::new().into_iter().collect());
    assert!(catch_unwind(|| ProcessingUnitDistance::new(Box::new([Box::new([0, 1])]))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| matrix.distance(first, CoreId { id: 2 }))).is_err());
}

/// A pool that runs futures, through the trait alone.
#[cfg(any(feature = "cb-channel-exec", feature = "workstealing-exec"))]
fn use_futures<E: FuturesExecutor + Sync + 'static>(executor: &E) {
    use ::futures::executor::block_on;

    within(|| {
        let handle: JoinHandle<i32> = executor.spawn(async { 6 * 7 });
        assert_eq!(block_on(handle), 42);
        let (sender, receiver) = channel();
        let boxed: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(async move { sender.send(1).unwrap() });
        futures_executor::FuturesExecutor::spawn(executor, boxed).detach();
        assert_eq!(receiver.recv(), Ok(1));
        let (sender, receiver) = channel();
        executor.spawn_detached(async move { sender.send(2).unwrap() });
        assert_eq!(receiver.recv(), Ok(2));
    });
}

#[test]
fn handles_and_builders_are_sync_and_unwind_safe() {
    fn shared<T: Send + Sync>() {}
    fn caught<T: UnwindSafe + RefUnwindSafe>() {}

    shared::<TaskHandle<u8>>();
    caught::<TaskHandle<u8>>();
    caught::<executors::group::Group<u8>>();
    caught::<executors::timer::Timer>();
    caught::<executors::timer::Periodic>();
    #[cfg(feature = "workstealing-exec")]
    shared::<Builder<executors::crossbeam_workstealing_pool::ThreadPool>>();
}
