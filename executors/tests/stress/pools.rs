//! The pools on which programs run.

use super::program::run;
#[cfg(feature = "workstealing-exec")]
use crate::support::naive_parker::NaiveParker;
use crate::support::random::Random;
#[cfg(feature = "workstealing-exec")]
use executors::crossbeam_workstealing_pool::ThreadPool;

/// Builds a random pool, and another of the same kind, and runs a program on them.
pub(crate) fn run_on_random_pools(seed: u64) {
    let random = &mut Random::new(seed);
    let threads = match random.below(16) {
        0 => 30 + random.below(70),
        _ => 1 + random.below(6),
    } as usize;
    match random.below(14) {
        #[cfg(feature = "cb-channel-exec")]
        0 | 1 => run(seed, random, threads, |random| {
            build(executors::crossbeam_channel_pool::ThreadPool::builder(), threads, random)
        }),
        // A program's jobs block on each other, so idle workers have to steal.
        #[cfg(feature = "burst-exec")]
        10 | 11 => {
            run(seed, random, threads, |random| build(executors::burst_pool::ThreadPool::builder(), threads, random));
        }
        #[cfg(feature = "dispatcher-exec")]
        12 | 13 => {
            // A program's jobs block on each other, so the program has to know how many run at a time.
            let main = ["cpu", "limited", "serial", "bound"][random.below(4) as usize];
            let width = if matches!(main, "serial" | "bound") { 1 } else { threads };
            run(seed, random, width, |random| dispatcher(main, threads, random));
        }
        #[cfg(feature = "elastic-exec")]
        8 | 9 => run(seed, random, threads, |random| {
            use executors::elastic_pool::{Growth, ThreadPool};
            use std::time::Duration;

            let builder = ThreadPool::builder().core(random.below(threads as u64 + 1) as usize);
            let keep_alive =
                [Duration::from_nanos(1), Duration::from_micros(50), Duration::MAX][random.below(3) as usize];
            // A program's jobs block on each other without telling the pool.
            build(builder.keep_alive(keep_alive).growth(Growth::WhenBusy), threads, random)
        }),
        #[cfg(feature = "threadpool-exec")]
        2 => run(seed, random, threads, |_| executors::threadpool_executor::ThreadPoolExecutor::new(threads)),
        #[cfg(feature = "workstealing-exec")]
        3 => run(seed, random, threads, |random| {
            build(ThreadPool::builder().parker(NaiveParker::default()), threads, random)
        }),
        #[cfg(feature = "workstealing-exec")]
        4 => run(seed, random, threads, |random| {
            build(ThreadPool::builder().parker(executors::parker::dynamic()), threads, random)
        }),
        #[cfg(feature = "workstealing-exec")]
        _ => run(seed, random, threads, |random| build(ThreadPool::builder(), threads, random)),
        #[cfg(not(feature = "workstealing-exec"))]
        _ => {} // this number stands for a pool that is not compiled in
    }
}

/// Builds a random dispatcher whose own jobs go to the subpool `main`.
#[cfg(feature = "dispatcher-exec")]
fn dispatcher(main: &str, threads: usize, random: &mut Random) -> executors::dispatcher::Dispatcher {
    use executors::{
        Fairness,
        dispatcher::{Dispatcher, Priority},
    };

    let priority = Priority::ALL[random.below(5) as usize];
    let preheat = random.below(threads as u64 + 1) as usize;
    let builder = Dispatcher::builder().preheat(preheat).strict_order(random.one_in(2)).main_subpool(main, priority);
    let builder = builder.cpu_limit(threads).subpool("limited", 1000).subpool("serial", 1);
    let reserve = random.below(2).min(threads as u64 - 1) as usize;
    let builder = if main == "bound" { builder.bound_subpool("bound").reserve(reserve) } else { builder };
    let age = 1 + random.below(70) as u32;
    build_with(builder, threads, Fairness::Counted(age), random)
}

/// Builds a pool with random policies.
#[cfg(any(
    feature = "cb-channel-exec",
    feature = "workstealing-exec",
    feature = "elastic-exec",
    feature = "burst-exec"
))]
fn build<P: executors::Build>(builder: executors::Builder<P>, threads: usize, random: &mut Random) -> P {
    use executors::Fairness;

    let fairness = match random.below(3) {
        0 => Fairness::TIMED,
        1 => Fairness::Counted(1 + random.below(5) as u32),
        _ => Fairness::COUNTED,
    };
    build_with(builder, threads, fairness, random)
}

/// Builds a pool with the given fairness and otherwise random policies.
#[cfg(feature = "_crew")]
fn build_with<P: executors::Build>(
    builder: executors::Builder<P>,
    threads: usize,
    fairness: executors::Fairness,
    random: &mut Random,
) -> P {
    use crate::support::programs::number_from_environment;
    use executors::{Idle, Placement};
    use std::time::Duration;

    let by_chance = match random.below(4) {
        0 if threads <= 4 => Idle::Spin,
        1 => Idle::Park { spin: Duration::ZERO },
        2 => Idle::Park { spin: Duration::from_micros(100) },
        _ => Idle::PARK,
    };
    let chosen = number_from_environment("EXECUTORS_STRESS_SPIN").map(Duration::from_micros);
    let idle = chosen.map_or(by_chance, |spin| Idle::Park { spin });
    let placement = if random.one_in(2) { Placement::Auto } else { Placement::Floating };
    let builder = builder.threads(threads).idle(idle).fairness(fairness).placement(placement);
    builder.build().expect("this pool is possible")
}
