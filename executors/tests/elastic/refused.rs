//! Threads that the operating system refuses.

use super::tools::{FOR_EVER, end, sized};
use crate::support::{child::Child, gate::Gate, log_book};
use executors::{
    Executor, Pool,
    elastic_pool::{Saturation, ThreadPool},
};
use std::{
    fs,
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

/// Where the operating system refuses further threads, those that exist do the work.
#[test]
fn refused_threads_leave_the_work_to_the_others() {
    Child::default().address_space(2 << 30).run(|| {
        let pool = sized(12, 12, FOR_EVER).stack_size(256 << 20).build().expect("no thread is started yet");
        let jobs: Vec<_> = (0..24).map(|number| pool.submit(move || number)).collect();
        let sum: i32 = jobs.into_iter().map(|job| job.wait().expect("no panic")).sum();
        assert_eq!(sum, 276);
        assert!(!cfg!(target_os = "linux") || (1..12).contains(&pool.worker_count()), "{}", pool.worker_count());
        end(&pool);
    });
}

/// Each of the jobs needs a thread, but few ask for one.
#[test]
fn refused_threads_are_requested_ever_more_rarely() {
    const JOBS: usize = 1000;
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        log_book::open();
        let builder = sized(JOBS, JOBS, FOR_EVER).name("backing-off").stack_size(256 << 20);
        let (pool, gate) = (builder.build().expect("no thread is started yet"), Gate::default());
        let (begin, begun) = mpsc::channel();
        for _ in 0..JOBS {
            let (gate, begin) = (gate.clone(), begin.clone());
            pool.execute(move || {
                begin.send(()).expect("the test listens");
                gate.pass();
            });
        }
        // A worker that takes its first job asks for others.
        let mut busy = 0;
        while busy < pool.worker_count() {
            begun.recv().expect("a worker begins");
            busy += 1;
        }
        let requests = || log_book::of_all_threads("backing-off goes on with").len();
        let before = requests();
        assert!((2..JOBS / 10).contains(&before), "{before}");
        (0..10).for_each(|_| pool.start_core_threads());
        assert_eq!(requests(), before + 10, "whoever wants the core asks at once");
        gate.open();
        pool.join().expect("this is no worker");
        assert_eq!(pool.stats().finished, JOBS as u64);
        end(&pool);
    });
}

/// Where there are no threads at all, the submitter does the work.
#[test]
fn refused_threads_leave_the_work_to_the_submitter() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        log_book::open();
        let pool =
            sized(1, 4, FOR_EVER).name("threadless").stack_size(4 << 30).build().expect("no thread is started yet");
        let here = thread::current().id();
        for _ in 0..3 {
            let local = pool.clone();
            let job = pool.submit(move || {
                local.execute(|| ());
                thread::current().id()
            });
            assert_eq!(job.wait().expect("no panic"), here);
        }
        pool.join().expect("this is no worker any more");
        assert_eq!((pool.stats().finished, pool.worker_count()), (6, 0));
        let requests = log_book::of_all_threads("threadless goes on with 0 threads").len();
        assert_eq!(requests, 6, "where no thread is left, each job asks for one");
        end(&pool);
    });
}

/// Then jobs each of which submits the next run one after the other, not within each other.
#[test]
fn a_chain_takes_no_stack_where_the_submitter_does_the_work() {
    fn link(pool: ThreadPool, left: u32, end: mpsc::Sender<thread::ThreadId>) {
        if left == 0 {
            end.send(thread::current().id()).expect("the test listens");
        } else {
            let again = pool.clone();
            pool.execute(move || link(again, left - 1, end));
        }
    }

    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        let on_caller = Saturation::RunOnCaller { queue: 1 };
        for builder in [sized(1, 4, FOR_EVER), sized(1, 4, FOR_EVER).when_saturated(on_caller)] {
            let pool = builder.stack_size(4 << 30).build().expect("no thread is started yet");
            let (end_of_chain, ended) = mpsc::channel();
            link(pool.clone(), 20_000, end_of_chain);
            assert_eq!(ended.recv(), Ok(thread::current().id()));
            end(&pool);
        }
    });
}

/// If such jobs take all the room there is, the next one does not wait for them: they end after it, on its thread.
#[test]
fn no_job_waits_for_room_that_is_behind_it_on_its_thread() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        let builder = sized(0, 2, FOR_EVER).when_saturated(Saturation::Block { queue: 0, timeout: None });
        let pool = builder.stack_size(4 << 30).build().expect("no thread is started yet");
        let (tell, told) = mpsc::channel();
        let local = pool.clone();
        pool.execute(move || {
            for number in 0..3 {
                let tell = tell.clone();
                local.execute(move || tell.send(number).expect("the test listens"));
            }
        });
        let mut ran: Vec<i32> = told.iter().collect();
        ran.sort_unstable();
        assert_eq!(ran, [0, 1, 2]);
        end(&pool);
    });
}

/// Two jobs that submitters run themselves take all the room there is, and no waiting job could be discarded: the
/// submitter of a third sleeps until there is room.
#[test]
fn a_submitter_that_finds_nothing_to_discard_sleeps() {
    /// The processor time of this thread, if the system tells it.
    fn cpu_time() -> Option<Duration> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    }

    if !cfg!(target_os = "linux") || cpu_time().is_none() {
        return; // there the address space is not limited, or the kernel keeps no account of threads
    }
    Child::default().address_space(2 << 30).run(|| {
        let builder = sized(0, 1, FOR_EVER).when_saturated(Saturation::DiscardOldest { queue: 1 });
        let pool = builder.stack_size(4 << 30).build().expect("no thread is started yet");
        let (gate, (tell, told)) = (Gate::default(), mpsc::channel());
        thread::scope(|scope| {
            for _ in 0..2 {
                let (gate, tell) = (gate.clone(), tell.clone());
                let job = move || {
                    tell.send(()).expect("the test listens");
                    gate.pass();
                };
                scope.spawn(|| pool.execute(job));
                told.recv().expect("the job begins");
            }
            let third = scope.spawn(|| {
                let before = cpu_time();
                pool.try_execute(|| ()).expect("there is room in the end");
                cpu_time().zip(before).map(|(after, before)| after - before)
            });
            thread::sleep(Duration::from_millis(200));
            gate.open();
            let cpu = third.join().expect("no panic").expect("it was told before");
            assert!(cpu < Duration::from_millis(100), "{cpu:?}");
        });
        assert_eq!((pool.stats().finished, pool.stats().discarded, pool.worker_count()), (3, 0, 0));
        end(&pool);
    });
}

/// Two jobs that submitters run themselves take all the room there is, and each submits another before it ends.
#[test]
fn a_submitter_that_has_the_room_does_not_wait_for_it() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        let builder = sized(0, 1, FOR_EVER).when_saturated(Saturation::DiscardOldest { queue: 1 });
        let pool = builder.stack_size(4 << 30).build().expect("no thread is started yet");
        let (meeting, (begin, begun)) = (Arc::new(Barrier::new(2)), mpsc::channel());
        thread::scope(|scope| {
            for _ in 0..2 {
                let (local, meeting, begin) = (pool.clone(), Arc::clone(&meeting), begin.clone());
                let job = move || {
                    begin.send(()).expect("the test listens");
                    meeting.wait();
                    let (here, (tell, told)) = (thread::current().id(), mpsc::channel());
                    let inner = move || tell.send(thread::current().id()).expect("the job listens");
                    assert!(local.try_execute(inner).is_ok());
                    assert_eq!(told.try_recv(), Ok(here));
                    meeting.wait();
                };
                scope.spawn(|| pool.execute(job));
                // Otherwise one submitter might run both, one after the other.
                begun.recv().expect("the job begins");
            }
        });
        assert_eq!((pool.stats().finished, pool.stats().panicked, pool.stats().discarded), (4, 0, 0));
        end(&pool);
    });
}
