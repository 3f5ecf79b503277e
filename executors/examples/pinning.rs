//! Put workers on cores of your choice, and let them steal from near cores first.
//!
//! Run with `cargo run --example pinning --features thread-pinning`, or `numa-aware` for the near cores.

use core_affinity::CoreId;
use executors::{BuildError, Executor, Placement, Pool, crossbeam_workstealing_pool::ThreadPool, parker};

/// The cores that the calling thread may use.
fn cores() -> Vec<CoreId> {
    core_affinity::get_core_ids().expect("this system tells its cores")
}

fn main() -> Result<(), BuildError> {
    let first = cores()[0];

    // One worker on the first core that this process may use, and one that floats.
    let pool = ThreadPool::with_affinity(&[first], 1, parker::small());
    assert_eq!(pool.submit(|| 6 * 7).wait().expect("the job returned"), 42);
    pool.shutdown().expect("nothing is left");

    // The same with a builder, where cores are plain numbers. Here the only worker is a pinned one. (On macOS, which
    // cannot pin threads, this is an error.)
    let pool = ThreadPool::builder().threads(1).placement(Placement::Cores(vec![first.id])).build()?;
    let allowed = pool.submit(cores).wait().expect("the job returned");
    if cfg!(target_os = "linux") {
        assert_eq!(allowed, [first], "the worker may use no other core");
    }
    pool.shutdown().expect("nothing is left");

    // A core that is not there is an error, not a worker that silently floats.
    let nowhere = ThreadPool::builder().threads(1).placement(Placement::Cores(vec![usize::MAX])).build();
    println!("{}", nowhere.expect_err("no machine has that many cores"));

    #[cfg(feature = "numa-aware")]
    {
        use executors::numa_utils::ProcessingUnitDistance;

        // By default the machine itself tells what is near. Here cores with the same half of the number are.
        println!("{:?}", ProcessingUnitDistance::from_topology());
        let distances = ProcessingUnitDistance::from_function(64, |from, to| i32::from(from / 2 != to / 2));
        let pool = ThreadPool::builder().threads(4).distances(distances).build()?;
        assert_eq!(pool.submit(|| 6 * 7).wait().expect("the job returned"), 42);
        pool.shutdown().expect("nothing is left");
    }
    Ok(())
}
