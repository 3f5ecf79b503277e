//! Threads that the operating system refuses.

use super::tools::{FOR_EVER, end, sized};
use crate::support::{child::Child, log_book};
use executors::{Executor, Pool};
use std::thread;

/// Where the operating system refuses further threads, those that there are do the work.
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

/// Where there is none at all, the submitter does the work.
#[test]
fn refused_threads_leave_the_work_to_the_submitter() {
    if !cfg!(target_os = "linux") {
        return; // there the address space is not limited
    }
    Child::default().address_space(2 << 30).run(|| {
        log_book::open();
        let pool = sized(1, 4, FOR_EVER).name("nobody").stack_size(4 << 30).build().expect("no thread is started yet");
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
        assert_eq!((pool.stats().done, pool.worker_count()), (6, 0));
        assert!(!log_book::of_all_threads("nobody goes on with 0 threads").is_empty());
        end(&pool);
    });
}
