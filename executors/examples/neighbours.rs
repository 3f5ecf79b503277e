//! What a paused or a full subpool costs its neighbours: nothing that can be measured.
//!
//! A chain of empty jobs runs in one subpool, while jobs wait in another, or are submitted to it all the time.
//! Submitting them takes a core and its caches, whichever pool they are for; so submitting to a subpool of the same
//! dispatcher is compared with submitting to another dispatcher. The cases take turns, and the medians of many rounds
//! are compared.
//!
//! Run with `cargo run --release --example neighbours -- 100 200000` (rounds, hops of the chain).

use executors::{
    Executor, Pool,
    dispatcher::{Dispatcher, Subpool},
};
use std::{
    env,
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc::{Sender, channel},
    },
    thread,
    time::Instant,
};

/// What goes on beside the chain.
struct Case {
    name: &'static str,
    /// Jobs that wait from the beginning.
    waiting: usize,
    /// Whether more are submitted meanwhile.
    given: bool,
    /// The subpool that they are for.
    whose: fn(&Setting) -> &Subpool,
}

const CASES: [Case; 7] = [
    Case { name: "nothing", waiting: 0, given: false, whose: |setting| &setting.paused },
    Case { name: "10000 jobs, paused", waiting: 10_000, given: false, whose: |setting| &setting.paused },
    Case { name: "10000 jobs, full", waiting: 10_000, given: false, whose: |setting| &setting.full },
    Case { name: "nothing, once more", waiting: 0, given: false, whose: |setting| &setting.full },
    Case { name: "more and more, elsewhere", waiting: 0, given: true, whose: |setting| &setting.elsewhere },
    Case { name: "more and more, paused", waiting: 0, given: true, whose: |setting| &setting.paused },
    Case { name: "more and more, full", waiting: 0, given: true, whose: |setting| &setting.full },
];

/// The case with which each case is compared: the first one, and for the last three the fifth.
const REFERENCES: [usize; 7] = [0, 0, 0, 0, 4, 4, 4];

struct Setting {
    cpu: Subpool,
    paused: Subpool,
    full: Subpool,
    /// A subpool of another dispatcher, paused.
    elsewhere: Subpool,
    /// How many jobs the latter three subpools were given, and how many of those have run.
    given: AtomicUsize,
    ran: Arc<AtomicUsize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse());
    let rounds: usize = arguments.next().unwrap_or(Ok(5))?;
    let hops: usize = arguments.next().unwrap_or(Ok(5_000))?;
    let setting = Setting::new()?;
    let mut samples: [Vec<f64>; CASES.len()] = Default::default();
    for round in 0..=rounds {
        for (case, samples) in CASES.iter().zip(&mut samples) {
            let took = setting.measure(case, hops);
            // The first round is for warming up.
            if round > 0 {
                samples.push(took);
            }
        }
    }
    print(samples);
    assert_eq!(setting.ran.load(Relaxed), setting.given.load(Relaxed), "what had waited ran in the end");
    setting.cpu.shutdown()?;
    setting.elsewhere.shutdown()?;
    Ok(())
}

impl Setting {
    fn new() -> Result<Self, Box<dyn Error>> {
        // A thread for the chain, and one for the job that fills its subpool.
        let builder = || Dispatcher::builder().threads(2).cpu_limit(1).subpool("paused", 1).subpool("full", 1);
        let (dispatcher, other) = (builder().build()?, builder().build()?);
        Ok(Setting {
            cpu: dispatcher.cpu(),
            paused: dispatcher.subpool("paused")?,
            full: dispatcher.subpool("full")?,
            elsewhere: other.subpool("paused")?,
            given: AtomicUsize::new(0),
            ran: Arc::default(),
        })
    }

    /// Nanoseconds for a hop of the chain.
    fn measure(&self, case: &Case, hops: usize) -> f64 {
        let filling = self.shut();
        let neighbour = (case.whose)(self);
        (0..case.waiting).for_each(|_| self.give(neighbour));
        let done = AtomicBool::new(false);
        let took = thread::scope(|scope| {
            if case.given {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        self.give(neighbour);
                    }
                });
            }
            let took = run_chain(&self.cpu, hops);
            done.store(true, Relaxed);
            took
        });
        self.open(filling);
        took
    }

    fn give(&self, neighbour: &Subpool) {
        self.given.fetch_add(1, Relaxed);
        let ran = Arc::clone(&self.ran);
        neighbour.execute(move || _ = ran.fetch_add(1, Relaxed));
    }

    /// From now on nothing begins beside the chain. Dropping what is returned ends the job that fills the full subpool.
    fn shut(&self) -> Sender<()> {
        self.paused.pause();
        self.elsewhere.pause();
        let (end, may_end) = channel();
        let (begin, has_begun) = channel();
        self.full.execute(move || {
            begin.send(()).expect("it is waited for");
            may_end.recv().expect_err("the sender is dropped");
        });
        has_begun.recv().expect("it begins");
        end
    }

    /// Lets what has waited run, so that the next case begins like this one.
    fn open(&self, filling: Sender<()>) {
        drop(filling);
        self.paused.resume();
        self.elsewhere.resume();
        for pool in [&self.cpu, &self.elsewhere] {
            pool.join().expect("this is no worker");
        }
    }
}

/// Each job submits the next one. Returns nanoseconds for each.
fn run_chain(subpool: &Subpool, hops: usize) -> f64 {
    fn hop(subpool: Subpool, left: usize, end: Sender<Instant>) {
        if left == 0 {
            end.send(Instant::now()).expect("it is waited for");
            return;
        }
        let next = subpool.clone();
        subpool.execute(move || hop(next, left - 1, end));
    }
    let (end, ended) = channel();
    let begin = Instant::now();
    hop(subpool.clone(), hops, end);
    let took = ended.recv().expect("the chain comes to its end") - begin;
    took.as_nanos() as f64 / hops as f64
}

fn print(mut samples: [Vec<f64>; CASES.len()]) {
    samples.iter_mut().for_each(|samples| samples.sort_by(f64::total_cmp));
    let quantile = |case: usize, part: usize| samples[case].get(samples[case].len() * part / 4).copied().unwrap_or(0.0);
    println!("{:26} {:>8} {:>8} {:>8} {:>8}", "beside the chain, ns/hop", "quarter", "median", "quarter", "ratio");
    for (case, Case { name, .. }) in CASES.iter().enumerate() {
        let [low, median, high] = [1, 2, 3].map(|part| quantile(case, part));
        let ratio = median / quantile(REFERENCES[case], 2);
        println!("{name:26} {low:8.1} {median:8.1} {high:8.1} {ratio:8.2}");
    }
}
