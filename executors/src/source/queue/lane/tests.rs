use super::*;
use crate::{source::queue::huge_page, sync::atomic::AtomicUsize};
use std::{
    cell::RefCell,
    sync::{Arc, mpsc},
};

#[test]
fn jobs_of_one_thread_come_out_in_order() {
    let lane = Lane::new();
    let (sender, receiver) = mpsc::channel();
    let mut out = 0..;
    for round in 0..100 {
        for job in 0..50 {
            let (number, sender) = (round * 50 + job, sender.clone());
            let weight = vec![0; number % 3];
            put(
                &lane,
                match number % 3 {
                    0 => Job::new(move || sender.send(number).unwrap()),
                    1 => Job::new(move || sender.send(number + weight[0]).unwrap()),
                    _ => Job::new(move || sender.send([number, 0, 0, 0, 0][weight[1]]).unwrap()),
                },
            );
        }
        // Not all, so that the blocks are passed at different places.
        assert_eq!(lane.take(|_| 45, |record| record.into_job().run()), Ok(45));
        assert!(receiver.try_iter().zip(&mut out).all(|(number, expected)| number == expected));
    }
    assert_eq!(lane.len(), 500);
}

fn put(lane: &Lane, job: Job) {
    assert!(lane.push(job).is_ok(), "no other thread is there");
}

fn drop_job(record: Record<'_>) {
    drop(record.into_job());
}

#[test]
fn jobs_come_out_in_order_also_where_very_many_wait() {
    const MANY: usize = 200_000;
    let lane = Lane::new();
    let next = Arc::new(AtomicUsize::new(0));
    let mut numbers = 0..;
    let mut put_in = |jobs| {
        for number in numbers.by_ref().take(jobs) {
            let next = Arc::clone(&next);
            put(&lane, Job::new(move || assert_eq!(next.fetch_add(1, Relaxed), number)));
        }
    };
    let take = |jobs| assert_eq!(lane.take(|_| jobs, |record| record.into_job().run()), Ok(jobs));
    // SAFETY: no other thread uses the lane, so its block is alive.
    let is_large = || lane.back.end.own.with(|writer| unsafe { Block::is_large((*writer).cursor.block) });
    // Where the system gives no large ones, small blocks follow.
    let piece = huge_page::map();
    let are_there = piece.is_some();
    // SAFETY: from `map`, and not used.
    piece.into_iter().for_each(|piece| unsafe { huge_page::unmap(piece) });
    for round in 0..3 {
        put_in(MANY);
        assert_eq!(is_large(), are_there, "in round {round}");
        take(MANY - 1000);
        put_in(2000);
        assert!(!is_large(), "in round {round}");
        // Through the end of the large block, and of a few small ones.
        take(2000);
    }
    take(3000);
    assert_eq!((lane.len(), next.load(Relaxed)), (0, 3 * (MANY + 2000)));
}

#[test]
fn jobs_in_large_blocks_are_dropped_with_the_lane() {
    const JOBS: usize = 200_000;
    let (lane, shared) = (Lane::new(), Arc::new(()));
    for _ in 0..JOBS {
        let shared = Arc::clone(&shared);
        put(&lane, Job::new(move || drop(shared)));
    }
    assert_eq!(Arc::strong_count(&shared), 1 + JOBS);
    drop(lane);
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_locked_front_is_no_proof_of_emptiness() {
    let lane = Lane::new();
    assert_eq!(lane.take(|_| 1, drop_job), Ok(0));
    put(&lane, Job::new(|| ()));
    let inner = RefCell::new(None);
    put(&lane, Job::new(|| ()));
    let sink = |outer: Record<'_>| {
        drop_job(outer);
        *inner.borrow_mut() = Some((lane.take(|_| 1, drop_job), lane.take_first(&mut Hand::empty())));
    };
    assert_eq!(lane.take(|_| 1, sink), Ok(1));
    assert_eq!(inner.take(), Some((Err(Busy), Err(Busy))));
}
