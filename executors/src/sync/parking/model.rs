//! Models of the parking of models: it must not hide what they are to find. With loom's own parking both fail; the
//! first also if each unpark goes to loom's.

use super::{current, park};
use crate::sync::{Gate, Mutex, check, check_reaching, thread};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Two that come before a `park` has returned let that one return, and not the next one, too.
#[test]
fn unparks_that_come_together_count_once() {
    check_reaching(2, ["they come together", "they come apart"], |[are_together, are_apart]| {
        // Not loom's: threads are not switched between a call and the note of it.
        let [both, third] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (sleeper, has_returned) = (current(), Arc::new(Gate::default()));
        let caller = thread::spawn({
            let (both, third, has_returned) = (Arc::clone(&both), Arc::clone(&third), Arc::clone(&has_returned));
            move || {
                sleeper.unpark();
                sleeper.unpark();
                both.store(true, Relaxed);
                has_returned.pass();
                third.store(true, Relaxed);
                sleeper.unpark();
            }
        });
        park();
        let came_together = both.load(Relaxed);
        are_together.is_reached_if(came_together);
        are_apart.is_reached_if(!came_together);
        has_returned.open();
        park();
        assert!(third.load(Relaxed) || !came_together);
        caller.join().unwrap();
    });
}

#[test]
fn an_unpark_is_kept_for_a_thread_that_waits_for_a_lock() {
    check(2, || {
        let (sleeper, steps) = (current(), Arc::new(Mutex::new(0)));
        let caller = thread::spawn({
            let steps = Arc::clone(&steps);
            move || {
                let mut steps = steps.lock().unwrap();
                *steps += 1;
                sleeper.unpark();
                *steps += 1;
            }
        });
        assert_ne!(*steps.lock().unwrap(), 1, "the other thread has the lock");
        park();
        caller.join().unwrap();
    });
}
