//! Models of the single lane, in which a thread that finds the back held goes round at once.

use super::SingleLane;
use crate::{
    job::{Job, hand::Hand},
    sync::{Arc, check, thread},
};
use std::sync::Mutex;

/// The numbers of the jobs that ran, in their order. (Not loom's: they are not part of what is modelled.)
type Order = std::sync::Arc<Mutex<Vec<usize>>>;

fn push(queue: &SingleLane, number: usize, order: &Order) {
    let order = Order::clone(order);
    queue.push(Job::new(move || order.lock().unwrap().push(number)));
}

fn pushing(queue: &Arc<SingleLane>, number: usize, order: &Order) -> thread::JoinHandle<()> {
    let (queue, order) = (Arc::clone(queue), Order::clone(order));
    thread::spawn(move || push(&queue, number, &order))
}

fn with_one_in_the_detour() -> (Arc<SingleLane>, Order) {
    with_in_the_detour(1)
}

fn with_in_the_detour(jobs: usize) -> (Arc<SingleLane>, Order) {
    let (queue, order) = (Arc::new(SingleLane::new()), Order::default());
    let back = queue.lane.back();
    (0..jobs).for_each(|number| push(&queue, number, &order));
    drop(back);
    (queue, order)
}

fn take_one(queue: &SingleLane) -> bool {
    queue.pop().map(Job::run).is_some()
}

/// Runs all jobs that are there.
fn take_all(queue: &SingleLane) {
    while take_one(queue) {}
}

/// Producers put jobs in, with numbers that tell whose they are; the model's own thread takes one out `early` times,
/// and the rest at the end.
fn producers_and_a_consumer(producers: usize, each: usize, early: usize, preemptions: usize) {
    check(preemptions, move || {
        let (queue, order) = (Arc::new(SingleLane::new()), Order::default());
        let threads: Vec<_> = (0..producers)
            .map(|producer| {
                let (queue, order) = (Arc::clone(&queue), Order::clone(&order));
                thread::spawn(move || {
                    (0..each).for_each(|number| push(&queue, producer * each + number, &order));
                })
            })
            .collect();
        (0..early).for_each(|_| _ = take_one(&queue));
        threads.into_iter().for_each(|producer| producer.join().unwrap());
        take_all(&queue);
        assert!(queue.is_empty());
        let order = order.lock().unwrap();
        assert_eq!(order.len(), producers * each);
        for producer in 0..producers {
            let own = order.iter().filter(|&number| number / each == producer);
            assert!(own.is_sorted(), "{order:?}");
        }
    });
}

#[test]
fn each_producer_keeps_its_order() {
    producers_and_a_consumer(2, 2, 1, 2);
}

/// A job that is in the queue comes before one that another thread, which knows of it, puts in later.
#[test]
fn a_job_that_was_there_before_comes_first() {
    check(2, || {
        let (queue, order) = (Arc::new(SingleLane::new()), Order::default());
        let other = pushing(&queue, 9, &order);
        let first = pushing(&queue, 0, &order);
        let _early = take_one(&queue);
        first.join().unwrap();
        push(&queue, 1, &order);
        other.join().unwrap();
        take_all(&queue);
        let order = order.lock().unwrap();
        assert!(order.iter().filter(|&&number| number < 9).is_sorted(), "{order:?}");
        assert_eq!(order.len(), 3);
    });
}

/// A job is seen while another thread moves it from the detour into the lane.
#[test]
fn a_job_that_leaves_the_detour_is_not_overlooked() {
    check(3, || {
        let (queue, order) = with_one_in_the_detour();
        let other = pushing(&queue, 1, &order);
        assert!(!queue.is_empty());
        assert!(take_one(&queue));
        other.join().unwrap();
    });
}

/// A thread that finds the back held takes no job out of the detour that has another before it in the lane, even if
/// that got there only after the look.
#[test]
fn jobs_of_the_lane_come_before_those_of_the_detour() {
    check(2, || {
        let (queue, order) = (Arc::new(SingleLane::new()), Order::default());
        let mut back = queue.lane.back().expect("no other thread is there");
        push(&queue, 0, &order);
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                (0..2).for_each(|_| {
                    let mut hand = Hand::empty();
                    let _somebody_is_there = queue.try_take_first(&mut hand);
                    hand.run();
                })
            })
        };
        queue.detour.lead_back(&mut back, None);
        push(&queue, 1, &order);
        drop(back);
        consumer.join().unwrap();
        take_all(&queue);
        assert_eq!(*order.lock().unwrap(), [0, 1]);
    });
}

/// Each thread that has the back moves one job, and there are more.
#[test]
fn a_job_overtakes_none_that_is_left_in_the_detour() {
    check(2, || {
        let (queue, order) = with_in_the_detour(2);
        let other = pushing(&queue, 2, &order);
        assert!(take_one(&queue));
        other.join().unwrap();
        push(&queue, 3, &order);
        take_all(&queue);
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
    });
}

/// Neither goes without because the other has taken the one job that was led back to the lane.
#[test]
fn each_of_two_consumers_finds_one_of_two_jobs() {
    check(2, || {
        let (queue, _order) = with_in_the_detour(2);
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || take_one(&queue))
        };
        assert!(take_one(&queue));
        assert!(consumer.join().unwrap());
        assert!(queue.is_empty());
    });
}

/// One of two consumers finds the job that was there before, though it may be on its way to the lane.
#[test]
fn two_consumers() {
    check(2, || {
        let (queue, order) = with_one_in_the_detour();
        let producer = pushing(&queue, 1, &order);
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || take_one(&queue))
        };
        let found = take_one(&queue);
        assert!(consumer.join().unwrap() || found);
        producer.join().unwrap();
        take_all(&queue);
        assert!(queue.is_empty());
        let mut order = order.lock().unwrap();
        order.sort_unstable();
        assert_eq!(*order, [0, 1]);
    });
}
