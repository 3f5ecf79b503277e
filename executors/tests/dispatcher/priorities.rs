//! Which jobs go first, and that the last ones get their turn all the same.

use super::tools::{Order, chain, end, watched};
use crate::support::{
    gate::{Gate, occupy},
    watchdog::until,
};
use executors::{
    Executor, Fairness, Pool,
    dispatcher::{Dispatcher, Priority},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

#[test]
fn higher_priorities_go_first_and_equal_ones_in_order() {
    // Fewer jobs than it takes for lower priorities to get their turn.
    for name in ["cpu", "one", "bound"] {
        let dispatcher = Dispatcher::builder()
            .threads(2)
            .cpu_limit(1)
            .subpool("one", 1)
            .bound_subpool("bound")
            .build()
            .expect("possible");
        let _watchdog = watched(&dispatcher);
        let (subpool, order) = (dispatcher.subpool(name).expect("it was built"), Order::default());
        subpool.pause();
        for job in 0..50 {
            let priority = Priority::new((job * 3 % 5) as u8).expect("below 5");
            subpool.with_priority(priority).execute(order.note(usize::from(priority.number()) * 100 + job));
        }
        subpool.resume();
        dispatcher.join().expect("this is no worker");
        let noted = order.taken();
        let mut expected = noted.clone();
        expected.sort_by_key(|job| (std::cmp::Reverse(job / 100), *job));
        assert_eq!((noted.len(), &noted), (50, &expected), "{name}");
        end(dispatcher);
    }
}

/// Whichever subpool the jobs of the lower priority are in, and although each worker has a queue of its own for jobs of
/// the CPU subpool.
#[test]
fn jobs_that_come_later_go_before_those_of_lower_priorities() {
    for (name, priority) in ["cpu", "one"].into_iter().flat_map(|name| [1, 2, 3].map(|priority| (name, priority))) {
        let dispatcher = Dispatcher::builder().threads(1).subpool("one", 1).build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let low = dispatcher.subpool(name).expect("it was built").with_priority(Priority::LOWEST);
        let (order, gate) = (Order::default(), occupy(&low, 1));
        (10..20).for_each(|job| low.execute(order.note(job)));
        let high = dispatcher.cpu().with_priority(Priority::new(priority).expect("below 5"));
        (0..10).for_each(|job| high.execute(order.note(job)));
        gate.open();
        dispatcher.join().expect("this is no worker");
        assert!(order.taken().into_iter().eq(0..20), "{name}, {priority}");
        end(dispatcher);
    }
}

#[test]
fn higher_priorities_go_first_across_subpools() {
    let dispatcher =
        Dispatcher::builder().threads(1).cpu_limit(1).subpool("a", 1).subpool("b", 9).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let (order, gate) = (Order::default(), Gate::default());
    let names = ["cpu", "a", "b"];
    let subpools = names.map(|name| dispatcher.subpool(name).expect("it was built"));
    subpools[0].with_priority(Priority::HIGHEST).execute({
        let gate = gate.clone();
        move || gate.pass()
    });
    for job in 0..45 {
        let number = job % 5;
        let priority = Priority::new(number as u8).expect("below 5");
        subpools[job % 3].with_priority(priority).execute(order.note(number));
    }
    gate.open();
    dispatcher.join().expect("this is no worker");
    let noted = order.taken();
    assert!(noted.len() == 45 && noted.is_sorted_by(|before, after| before >= after), "{noted:?}");
    drop(subpools);
    end(dispatcher);
}

/// When a job begins, all that go before it have been taken, and each other worker may be about to begin one of them.
#[test]
fn several_workers_take_higher_priorities_first() {
    const THREADS: usize = 4;
    // No lower priority gets its turn, and no subpool is ever full.
    let builder = Dispatcher::builder().threads(THREADS).fairness(Fairness::Counted(100_000)).strict_order(true);
    let dispatcher = builder.cpu_limit(100).subpool("a", 100).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let subpools = ["cpu", "a"].map(|name| dispatcher.subpool(name).expect("it was built"));
    let most = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let gate = occupy(&dispatcher, THREADS);
        let left = Arc::new(Priority::ALL.map(|_| AtomicUsize::new(0)));
        for job in 0..500 {
            let (level, left, most) = (job * 3 % 5, Arc::clone(&left), Arc::clone(&most));
            left[level].fetch_add(1, SeqCst);
            subpools[job / 5 % 2].with_priority(Priority::ALL[level]).execute(move || {
                left[level].fetch_sub(1, SeqCst);
                let higher = left[level + 1..].iter().map(|left| left.load(SeqCst)).sum();
                most.fetch_max(higher, SeqCst);
            });
        }
        gate.open();
        dispatcher.join().expect("this is no worker");
    }
    assert!(most.load(SeqCst) < THREADS, "{most:?} jobs of higher priorities were left");
    end(dispatcher);
}

/// As the contract says, even in a full subpool, whichever worker has its token. (With a limit of one, its jobs can be
/// counted exactly: no other job counts while one of them runs.)
#[test]
fn the_lowest_priority_begins_in_time() {
    // The bound subpool's thread is shared with the others, or reserved.
    for (threads, reserve) in [(1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 1)] {
        let builder = Dispatcher::builder().threads(threads).reserve(reserve).cpu_limit(1);
        let builder = builder.subpool("a", 1).subpool("b", 4).bound_subpool("bound");
        let dispatcher = builder.build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let names = ["cpu", "a", "bound"];
        let full = names.map(|name| dispatcher.subpool(name).expect("it was built"));
        let other = dispatcher.subpool("b").expect("it was built");
        let (done, jobs) = (Arc::new(AtomicBool::new(false)), [(); 4].map(|()| Arc::new(AtomicUsize::new(0))));
        // There are always jobs at each of the four higher levels of these, and of another subpool, whose jobs draw
        // workers away.
        for (subpool, jobs) in full.iter().chain([&other]).zip(&jobs) {
            for priority in &Priority::ALL[1..] {
                (0..2).for_each(|_| chain(subpool.with_priority(*priority), &done, jobs));
            }
        }
        for round in 0..30 {
            let (subpool, jobs) = (&full[round % 3], Arc::clone(&jobs[round % 3]));
            let runners = if names[round % 3] == "bound" { 1 } else { threads - reserve };
            let victim = subpool.with_priority(Priority::LOWEST);
            // From inside, so that no other job of the subpool begins meanwhile.
            let submit = move || {
                let before = jobs.load(SeqCst);
                victim.submit(move || jobs.load(SeqCst) - before)
            };
            let passed = subpool.submit(submit).wait().and_then(|handle| handle.wait()).expect("both run");
            let name = names[round % 3];
            assert!(passed <= 62 * (5 + runners), "{passed} jobs of {name} went first, with {threads} threads");
        }
        done.store(true, SeqCst);
        dispatcher.join().expect("this is no worker");
        drop((full, other));
        end(dispatcher);
    }
}

#[test]
fn subpools_of_one_priority_take_turns() {
    let dispatcher =
        Dispatcher::builder().threads(1).cpu_limit(1).subpool("a", 1).subpool("b", 1).build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let subpools = ["cpu", "a", "b"].map(|name| dispatcher.subpool(name).expect("it was built"));
    let done = Arc::new(AtomicBool::new(false));
    let jobs = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    for (subpool, jobs) in subpools.iter().zip(&jobs) {
        chain(subpool.clone(), &done, jobs);
    }
    until("all have run some jobs", || jobs.iter().all(|jobs| jobs.load(SeqCst) > 10_000));
    done.store(true, SeqCst);
    dispatcher.join().expect("this is no worker");
    let counts = jobs.map(|jobs| jobs.load(SeqCst));
    let (least, most) = (counts.iter().min().expect("three"), counts.iter().max().expect("three"));
    assert!(*most < least * 3, "{counts:?}");
    drop(subpools);
    end(dispatcher);
}
