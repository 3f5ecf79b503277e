//! Run futures on a pool: await each other, wait for events without a thread, cancel.
//!
//! Run with `cargo run --example futures`.

use executors::{Executor, FuturesExecutor, Pool, crossbeam_workstealing_pool::small_pool};
use futures::{
    channel::oneshot,
    executor::block_on,
    future::{self, FutureExt},
};

fn main() {
    let pool = small_pool(2);

    // Spawn a future on the pool, and wait for it on a thread that has nothing better to do.
    let answer = pool.spawn(async { 6 * 7 });
    assert_eq!(block_on(answer), 42);

    // A hundred futures that wait for an event hold none of the two threads.
    let (ring, bell) = oneshot::channel();
    let bell = bell.shared();
    let waiting: Vec<_> = (0..100_u64)
        .map(|number| {
            let bell = bell.clone();
            pool.spawn(async move {
                bell.await.expect("the bell rings");
                number
            })
        })
        .collect();
    ring.send(()).expect("a hundred futures wait for this");
    let numbers = block_on(future::join_all(waiting));
    assert_eq!(numbers.into_iter().sum::<u64>(), 4950);

    // Closures and futures mix: the handle of a submitted closure is a future, too.
    let closure = pool.submit(|| "from a closure");
    let future = pool.spawn(async move { closure.await.expect("the closure returned").len() });
    assert_eq!(block_on(future), 14);

    // Dropping the handle cancels the future, and drops what it holds ...
    let (guard, dropped) = oneshot::channel::<()>();
    let forever = pool.spawn(async move {
        let _guard = guard;
        future::pending::<()>().await;
    });
    drop(forever);
    assert!(block_on(dropped).is_err(), "the guard was dropped without a message");

    // ... unless it is detached.
    let (report, done) = oneshot::channel();
    pool.spawn(async move { report.send("done").expect("the main thread listens") }).detach();
    assert_eq!(block_on(done), Ok("done"));

    // A future that nobody waits for is best run without a handle.
    let (ask, asked) = oneshot::channel();
    let (answer, answered) = oneshot::channel();
    pool.spawn_detached(async move {
        let number: u32 = asked.await.expect("the main thread asks");
        answer.send(number + 1).expect("the main thread listens");
    });
    ask.send(41).expect("the future waits for this");
    assert_eq!(block_on(answered), Ok(42));

    pool.shutdown().expect("no future is left");
}
