//! Workers run where the thread that built the pool could run, whichever thread starts theirs.

use super::tools::{FOR_EVER, end, occupy, pool};
use crate::support::{
    gate::Gate,
    threads::{allowed_cores, on_pinned_thread},
    watchdog::within,
};
use executors::Pool;

#[test]
fn a_pinned_submitter_pins_no_worker() {
    within(|| {
        let (pool, gate) = (pool(1, 2, FOR_EVER), Gate::default());
        // One for the core, and one beyond it.
        for _ in 0..2 {
            if let Some(place) = on_pinned_thread(|| pool.submit(allowed_cores).wait().expect("no panic")) {
                assert_eq!(place, allowed_cores());
            }
            occupy(&pool, &gate);
        }
        gate.open();
        end(&pool);
    });
}

/// If the thread that builds a pool may use few cores only, so may the workers.
#[test]
fn the_workers_of_a_pinned_builder_stay_with_it() {
    within(|| {
        let build = || {
            let pool = pool(1, 1, FOR_EVER);
            (pool, allowed_cores())
        };
        if let Some((pool, cores)) = on_pinned_thread(build) {
            assert_eq!(pool.submit(allowed_cores).wait().expect("no panic"), cores);
            end(&pool);
        }
    });
}

/// A worker that is pinned to a core starts others from within its job.
#[cfg(feature = "thread-pinning")]
#[test]
fn a_pinned_worker_pins_no_other() {
    use super::tools::sized;
    use crate::support::threads::can_be_pinned;
    use executors::{Executor, Placement};
    use std::sync::mpsc;

    if !can_be_pinned() {
        return;
    }
    within(|| {
        let core = core_affinity::get_core_ids().expect("tests run where cores are known")[0].id;
        let builder = sized(1, 3, FOR_EVER).placement(Placement::Cores(vec![core]));
        let pool = builder.build().expect("the core exists");
        let local = pool.clone();
        let places = pool.submit(move || {
            let mut places = vec![allowed_cores()];
            let gate = Gate::default();
            for _ in 0..2 {
                let ((tell, told), gate) = (mpsc::channel(), gate.clone());
                local.execute(move || {
                    tell.send(allowed_cores()).expect("the first worker waits");
                    gate.pass();
                });
                places.push(told.recv().expect("there is another worker for it"));
            }
            gate.open();
            places
        });
        let (pinned, anywhere) = (allowed_cores().is_some().then(|| core.to_string()), allowed_cores());
        assert_eq!(places.wait().expect("no panic"), [pinned, anywhere.clone(), anywhere]);
        end(&pool);
    });
}
