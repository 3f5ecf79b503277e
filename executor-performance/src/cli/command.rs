//! The commands of the program.

use super::{
    experiments::{
        AvalancheOptions, BlockingOptions, FairnessOptions, ForkJoinOptions, FuturesOptions, IdleOptions,
        LatencyOptions, LifecycleOptions, RepostOptions, SubmitOptions, ThroughputOptions, WakeOptions,
    },
    recommend::RecommendOptions,
    sweep::Sweep,
    tools::{CompareOptions, CompletionsOptions, ManOptions, ReportOptions},
};
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures how many jobs a loaded executor runs in a second
    ///
    /// A sample is the whole load given at once, from the first submission to the end of the last job. A load that is
    /// too large for the budget is sampled in smaller pieces of the same shape, unless --full-size is given.
    Throughput(ThroughputOptions),
    /// Measures how long an executor takes for bursts, or for jobs at a rate
    ///
    /// A burst is the whole load given at once; its time is from the first submission to the end of the last job. Each
    /// job does 10 units of work before and 10 after passing on. This is a closed loop: bursts never overlap. With
    /// --rate it is an open loop of single jobs, and the time is that of each job.
    Latency(LatencyOptions),
    /// Measures what it costs a job to give the next one to the executor
    ///
    /// Chains of jobs without work, or with --work: each job gives its successor to the executor from inside. The time
    /// of a hop is that of a sample, without that work, divided by the hops of all its chains.
    Repost(RepostOptions),
    /// Measures what a job costs when one thread gives many at once
    ///
    /// The time is from the first submission to the end of the last job, without the jobs' own work: none, or --work.
    /// --jobs says how many jobs there are.
    Avalanche(AvalancheOptions),
    /// Measures what it costs threads to give jobs to an executor
    ///
    /// Producers give single jobs, as many as --producers and --jobs say. The first time is that of submitting alone:
    /// from the first submission to the return of the last producer. The second goes on until all jobs have ended. A
    /// sample keeps all its jobs in memory if they sleep.
    Submit(SubmitOptions),
    /// Measures how long sleeping workers take to begin a burst of jobs
    ///
    /// One thread gives --jobs jobs at once, by default as many as there are threads; 10 workers and 10 jobs are those
    /// of burst_pool's benchmark. The time of each job is from just before the first submission to its beginning, when
    /// it reads the clock. The executors `reference-unpark` and `reference-mutex-condvar` show what waking alone costs.
    Wake(WakeOptions),
    /// Measures how long a job from outside waits while workers are busy
    ///
    /// Chains of empty jobs saturate the pool. Meanwhile a thread gives it a probe now and then: a job whose delay is
    /// measured, from just before its submission to its beginning. Probes that have not begun when the chains stop are
    /// starved; their delays are counted up to then, so the true delays are even longer than the figures say.
    Fairness(FairnessOptions),
    /// Measures how long sleeping jobs take, on up to --threads threads
    ///
    /// One thread gives --jobs jobs at once (by default 1000), each of which sleeps, like jobs that wait for the
    /// system. --threads is how many threads the executor may have: the ideal is that all of them sleep all the time.
    /// Each sample has new executors: those that begin with few threads and start more have to do so in the measured
    /// time. Example: -t 128 -e elastic-growing,channel blocking
    Blocking(BlockingOptions),
    /// Measures what it costs when jobs panic, and that none is lost
    ///
    /// One thread gives --jobs jobs that end normally (by default 1000), then as many that panic, then as many that end
    /// normally; each group is given when all jobs before it have run. An executor that loses jobs, or threads for
    /// good, or ends the process, gets a row that says so. Example: -t 4 panics
    Panics,
    /// Measures what it costs to build an executor and shut it down
    ///
    /// A round trip is from before the executor is built until it has shut down and, where the system can tell, its
    /// threads have ended. The time to the end of the first job also counts from before the executor is built. There is
    /// only this job, so executors that start threads for jobs do not start all of them; with --meeting they do.
    Lifecycle(LifecycleOptions),
    /// Measures CPU time and memory of an executor that has nothing to do
    ///
    /// After some jobs, and some time to settle, the executor is left alone for a window of time. Then all its workers
    /// are blocked, and --jobs jobs are queued (by default 100000), to see how much of the heap each takes. Heap is
    /// measured with glibc only.
    Idle(IdleOptions),
    /// Measures what tasks cost that spawn, wait and yield
    ///
    /// For executors that run futures. Each workload is measured by itself, in an equal share of the budget. An
    /// operation is a spawned task, a pair of tasks for ping-pong, or a yield.
    Futures(FuturesOptions),
    /// Measures what it costs jobs to fork and to join
    ///
    /// A problem is divided in two again and again: a job gives one part to the executor, solves the other, and waits
    /// for the first. The result is checked. Each workload is measured by itself, in an equal share of the budget. The
    /// speed-up is how many times as long the same problem takes without an executor, on one thread. Only for executors
    /// whose jobs can wait for jobs without a deadlock (`j` in `list`). Example: -t 1..4 fork-join --workload fib
    /// --cutoff 15
    ForkJoin(ForkJoinOptions),
    /// Measures your kind of workload, and says which executor to take
    ///
    /// Runs short experiments, in --budget all together (by default a minute), with as many threads as there are cores
    /// unless --threads says otherwise (at least 64 if jobs block), and ends in one sentence and a line of code. On a
    /// terminal it asks for what the options do not say. To measure jobs of your own, call the library:
    /// `executor_performance::measure`. Example: recommend --workload bursts --job-time 20us
    Recommend(RecommendOptions),
    /// Lists the executors that can be measured, and the experiments
    ///
    /// Also shows what each executor can do, and which options of the load each experiment takes. Example:
    /// executor-performance list | grep fj
    #[command(override_usage = "executor-performance list")]
    List,
    /// Compares two records, and says what has become slower or faster
    ///
    /// Both are files written with `-o FILE.json`. A change is real if its 95 % interval, which is as wide as processes
    /// differ, lies beyond the noise threshold. With -o, the comparison is written as a page (.html), a picture (.svg)
    /// or tables (.md). Example: compare old.json new.json -o compared.html
    #[command(override_usage = "executor-performance compare [OPTIONS] <OLD> <NEW>")]
    Compare(CompareOptions),
    /// Shows a record, and writes it in other formats, without measuring
    ///
    /// Example: executor-performance report run.json -o run.html -o run.svg
    #[command(override_usage = "executor-performance report [OPTIONS] <RECORD>")]
    Report(ReportOptions),
    /// Prints completions for a shell
    ///
    /// Example: executor-performance completions bash > ~/.local/share/bash-completion/completions/executor-performance
    #[command(override_usage = "executor-performance completions <SHELL>")]
    Completions(CompletionsOptions),
    /// Prints the manual page, or that of a command
    ///
    /// Example: executor-performance man latency | man -l -
    #[command(override_usage = "executor-performance man [COMMAND]")]
    Man(ManOptions),
}

impl Command {
    /// How many values the option has that only this command sweeps; one if there is no such option.
    pub fn number_of_values(&self) -> usize {
        match self {
            Command::Latency(own) => Sweep::number_of_choices(own.rate.as_ref()),
            Command::Repost(own) => own.chains.values().len(),
            _ => 1,
        }
    }
}
