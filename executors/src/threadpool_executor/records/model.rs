//! Models of what is admitted when the pool is closed. Those of the counts are beside the ledger.

use super::Records;
use crate::{
    options::Options,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
        check_reaching, thread,
    },
};

/// A pool of two workers, each of which runs one job, and what that does.
struct Pool {
    records: Records,
    has_run: [AtomicBool; 2],
}

impl Pool {
    fn run(&self, worker: usize) {
        self.has_run[worker].store(true, Relaxed); // the records alone must make it visible
        self.records.ledger.end(worker, || false);
    }
}

/// While the pool is closed, and its last job runs, a future wants to make a step. The thread that waits for the end
/// sees that both have run, or the step is refused.
#[test]
fn a_step_of_a_future_runs_before_the_end_or_is_refused() {
    let goals = ["it is admitted while the pool drains", "it is refused"];
    check_reaching(3, goals, |[is_late, is_refused]| {
        let records = Records::new(2, &Options::new());
        let pool = Arc::new(Pool { records, has_run: [(); 2].map(|()| AtomicBool::new(false)) });
        assert!(pool.records.admits(None, |_closed| false));
        let worker = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.run(0))
        };
        let waker = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let is_admitted = pool.records.admits(None, |closed| {
                    let is_admitted = closed.accept_while_draining();
                    is_late.is_reached_if(is_admitted);
                    is_admitted
                });
                is_refused.is_reached_if(!is_admitted);
                if is_admitted {
                    pool.run(1);
                }
                is_admitted
            })
        };
        pool.records.closed.store(true, SeqCst);
        assert!(pool.records.ledger.await_quiet(None, || pool.records.is_over()));
        let has_run = [0, 1].map(|job| pool.has_run[job].load(Relaxed));
        worker.join().unwrap();
        assert_eq!(has_run, [true, waker.join().unwrap()], "the waiter has not seen what was admitted");
    });
}
