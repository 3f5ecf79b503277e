//! Models of the lanes. The blocks of a model have room for two or three jobs, so that they are linked and recycled.

use super::{Lane, Lanes, first_found};
use crate::{
    job::{IntoJob, Job, hand::Hand},
    source::queue::Busy,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst, fence},
        check, check_reaching, thread,
    },
};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How often each job was run. (Not loom's counters: they are not part of what is modelled.)
type Runs = std::sync::Arc<[AtomicUsize]>;

fn runs(jobs: usize) -> Runs {
    (0..jobs).map(|_| AtomicUsize::new(0)).collect()
}

/// A job that counts its run. Odd ones are larger.
fn job(number: usize, runs: &Runs) -> Job {
    let runs = Runs::clone(runs);
    let count = |runs: &Runs, number: usize| {
        runs[number].fetch_add(1, Relaxed);
    };
    if number.is_multiple_of(2) {
        Job::new(move || count(&runs, number))
    } else {
        let numbers = [number; 3];
        Job::new(move || count(&runs, numbers[2]))
    }
}

fn push(lanes: &Lanes, jobs: std::ops::Range<usize>, runs: &Runs) {
    jobs.for_each(|number| lanes.push(job(number, runs)));
}

/// Takes up to two jobs and runs them. Returns how many.
fn take(lanes: &Lanes) -> Result<usize, Busy> {
    let found = first_found(lanes.beginning_with(0).map(|(_number, lane)| {
        let taken = lane.take(|_| 2, |record| record.into_job().run())?;
        Ok((taken > 0).then_some(taken))
    }));
    found.map(|taken| taken.unwrap_or(0))
}

fn assert_each_ran_once(runs: &Runs) {
    assert!(runs.iter().all(|run| run.load(Relaxed) == 1), "{runs:?}");
}

/// Producers put jobs in; the model's own thread takes out what it sees, and the rest at the end.
fn producers_and_a_consumer(producers: usize, each: usize, lanes: usize, preemptions: usize) {
    check(preemptions, move || {
        let (lanes, runs) = (Arc::new(Lanes::new(lanes)), runs(producers * each));
        let threads: Vec<_> = (0..producers)
            .map(|producer| {
                let (lanes, runs) = (Arc::clone(&lanes), Runs::clone(&runs));
                thread::spawn(move || push(&lanes, producer * each..(producer + 1) * each, &runs))
            })
            .collect();
        for _ in 0..2 {
            let _ = take(&lanes);
        }
        threads.into_iter().for_each(|producer| producer.join().unwrap());
        while take(&lanes) != Ok(0) {}
        assert!(lanes.iter().all(Lane::is_empty));
        assert_each_ran_once(&runs);
    });
}

#[test]
fn a_producer_and_a_consumer() {
    producers_and_a_consumer(1, 7, 1, 3);
}

#[test]
fn two_producers_and_a_consumer_at_one_lane() {
    producers_and_a_consumer(2, 2, 1, 2);
}

#[test]
fn two_producers_and_a_consumer_at_two_lanes() {
    producers_and_a_consumer(2, 3, 2, 2);
}

/// A submitter puts a job in and then checks whether a worker sleeps; a worker that falls asleep says so and then looks
/// for jobs.
fn a_push_is_seen_or_its_submitter_sees_the_sleeper(push_fenced: fn(&Lanes)) {
    check(3, move || {
        let (lanes, sleeps) = (Arc::new(Lanes::new(2)), Arc::new(AtomicBool::new(false)));
        // So that there is a block.
        lanes.push(Job::new(|| ()));
        assert_eq!(take(&lanes), Ok(1));
        let sleeper = {
            let (lanes, sleeps) = (Arc::clone(&lanes), Arc::clone(&sleeps));
            thread::spawn(move || {
                sleeps.store(true, Relaxed);
                fence(SeqCst);
                lanes.iter().any(|lane| !lane.is_empty())
            })
        };
        push_fenced(&lanes);
        let is_seen = sleeps.load(Relaxed);
        assert!(sleeper.join().unwrap() || is_seen, "the job is overlooked");
    });
}

#[test]
fn a_push_at_once_is_seen_or_its_submitter_sees_the_sleeper() {
    a_push_is_seen_or_its_submitter_sees_the_sleeper(|lanes| assert!(lanes.push_at_once(Job::new(|| ())).is_ok()));
}

#[test]
fn a_slow_push_is_seen_or_its_submitter_sees_the_sleeper() {
    a_push_is_seen_or_its_submitter_sees_the_sleeper(|lanes| lanes.push_fenced(Job::new(|| ())));
}

/// The same before there is a lane: one of two submitters makes it, and the other may find it there.
#[test]
fn a_first_job_is_seen_or_its_submitter_sees_the_sleeper() {
    let goals = ["only the sleeper sees the others", "only the submitters do"];
    check_reaching(2, goals, |[is_job_seen, is_sleeper_seen]| {
        let (lanes, sleeps, runs) = (Arc::new(Lanes::with_made(2, 0)), Arc::new(AtomicBool::new(false)), runs(2));
        let submitters = [0, 1].map(|number| {
            let (lanes, sleeps, job) = (Arc::clone(&lanes), Arc::clone(&sleeps), job(number, &runs));
            thread::spawn(move || {
                lanes.push_at_once(job).unwrap_or_else(|job| lanes.push_fenced(job));
                sleeps.load(Relaxed)
            })
        });
        sleeps.store(true, Relaxed);
        fence(SeqCst);
        let sees_job = lanes.iter().any(|lane| !lane.is_empty());
        let see_sleeper = submitters.map(|submitter| submitter.join().unwrap());
        is_job_seen.is_reached_if(see_sleeper == [false; 2]);
        is_sleeper_seen.is_reached_if(!sees_job);
        assert!(sees_job || see_sleeper == [true; 2], "a job is overlooked");
        while take(&lanes) != Ok(0) {}
        assert_each_ran_once(&runs);
    });
}

/// Consumers that find nothing have looked everywhere.
#[test]
fn two_consumers() {
    check(2, || {
        let (lanes, runs) = (Arc::new(Lanes::new(1)), runs(3));
        push(&lanes, 0..3, &runs);
        let consumer = {
            let lanes = Arc::clone(&lanes);
            thread::spawn(move || take(&lanes).unwrap_or(0))
        };
        let mut taken = take(&lanes).unwrap_or(0);
        taken += consumer.join().unwrap();
        taken += take(&lanes).unwrap();
        assert_eq!(taken, 3);
        assert_each_ran_once(&runs);
    });
}

/// A consumer that takes one at a time does not look before it locks the front. Meanwhile the producer passes the end
/// of a block, which comes after the second job.
#[test]
fn two_consumers_of_one_job_at_a_time() {
    /// Takes one job and runs it. Returns whether there was one.
    fn take_one(lanes: &Lanes) -> Result<bool, Busy> {
        let mut hand = Hand::empty();
        lanes.take_one(0, &mut hand)?;
        Ok(hand.run())
    }

    check(2, || {
        let (lanes, runs) = (Arc::new(Lanes::new(1)), runs(3));
        push(&lanes, 0..2, &runs);
        let consumers = [2, 1].map(|jobs| {
            let lanes = Arc::clone(&lanes);
            thread::spawn(move || (0..jobs).for_each(|_| drop(take_one(&lanes))))
        });
        push(&lanes, 2..3, &runs);
        consumers.into_iter().for_each(|consumer| consumer.join().unwrap());
        while take_one(&lanes) != Ok(false) {}
        assert!(lanes.iter().all(Lane::is_empty));
        assert_each_ran_once(&runs);
    });
}

/// Jobs that are not taken are dropped with the lanes, wherever they are.
#[test]
fn the_rest_is_dropped() {
    check(0, || {
        let runs = runs(5);
        let lanes = Lanes::new(2);
        push(&lanes, 0..5, &runs);
        assert_eq!(take(&lanes), Ok(2));
        drop(lanes);
        assert_eq!(std::sync::Arc::strong_count(&runs), 1);
    });
}
