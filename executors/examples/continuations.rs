//! Jobs that go on when others have ended, without a thread that waits for those. Shows most of the operations that
//! docs/migration.md names for users of asynqro.
//!
//! Run with `cargo run --example continuations`.

use executors::{
    Executor, Failure, FuturesExecutor, Pool, TaskError,
    crossbeam_workstealing_pool::small_pool,
    group::{Group, partition},
    sequence,
};
use futures::{
    FutureExt, StreamExt, TryFutureExt, TryStreamExt,
    channel::oneshot,
    executor::block_on,
    future::{self, Either},
    stream,
};
use std::time::Duration;

type Number = Result<u32, String>;

fn main() {
    let pool = small_pool(2);
    // A number, or why there is none.
    let parse = |text: &'static str| {
        let job = pool.submit(move || text.parse::<u32>().map_err(|error| error.to_string()));
        job.map(Failure::flatten).map_err(|failure| failure.to_string())
    };

    // Values and errors.
    assert_eq!(block_on(future::ok::<u32, String>(7)), Ok(7)); // successful
    assert_eq!(block_on(future::err::<u32, &str>("no number")), Err("no number")); // failed
    assert_eq!(block_on(parse("7").map_ok(|number| number + 1)), Ok(8)); // map
    assert_eq!(block_on(parse("x").map_err(|error| error.len())), Err(29)); // mapFailure
    assert_eq!(block_on(parse("x").unwrap_or_else(|_error| 9)), 9); // recover
    assert_eq!(block_on(parse("x").map(|number| number.unwrap_or(9))), 9); // recoverValue
    let positive = |number| if number > 0 { Ok(number) } else { Err("not positive".to_owned()) };
    // filter
    assert_eq!(block_on(parse("0").and_then(async |number| positive(number))), Err("not positive".to_owned()));
    // onSuccess
    assert_eq!(block_on(parse("7").inspect_ok(|number| println!("{number}")).inspect_err(|e| println!("{e}"))), Ok(7));

    // One after the other.
    assert_eq!(block_on(parse("1").and_then(|_| parse("2"))), Ok(2)); // flatMap, andThen
    assert_eq!(block_on(parse("x").or_else(|_| parse("3"))), Ok(3)); // recoverWith
    assert_eq!(block_on(parse("1").map_ok(|_| "one")), Ok("one")); // andThenValue

    // Of many values.
    let all = || future::try_join_all(["1", "2", "3"].map(parse));
    // innerMap
    assert_eq!(block_on(all().map_ok(|all| all.into_iter().map(|n| n * 2).collect::<Vec<_>>())), Ok(vec![2, 4, 6]));
    // innerFilter
    assert_eq!(block_on(all().map_ok(|all| all.into_iter().filter(|n| *n > 1).collect::<Vec<_>>())), Ok(vec![2, 3]));
    assert_eq!(block_on(all().map_ok(|all| all.into_iter().fold(0, |sum, n| sum * 10 + n))), Ok(123)); // innerReduce

    // Several.
    assert_eq!(block_on(future::try_join(parse("1"), parse("2"))), Ok((1, 2))); // zip
    assert_eq!(block_on(parse("1").map_ok(|first| (first, "two"))), Ok((1, "two"))); // zipValue
    assert_eq!(block_on(all()), Ok(vec![1, 2, 3])); // sequence
    let parted = partition(block_on(future::join_all(["1", "x", "3"].map(parse)))); // sequenceWithFailures
    assert_eq!((parted.successes, parted.failures.len()), (vec![(0, 1), (2, 3)], 1));
    match block_on(future::select(parse("4"), future::pending::<()>())) {
        Either::Left((first, _pending)) => assert_eq!(first, Ok(4)),
        Either::Right(_) => unreachable!("that one never ends"),
    }

    // A job that continues: no thread waits for `told`.
    let (tell, told) = oneshot::channel();
    let continued = pool.submit_future(async {
        let begun = 40;
        begun + told.await.unwrap_or(0)
    });
    pool.execute(move || tell.send(2).expect("the other job waits"));
    assert_eq!(continued.wait().expect("no panic"), 42);

    // A loop (repeat), and a fold (repeatForSequence) that ends with the first failure.
    let inner = pool.clone();
    let looped = pool.submit_future(async move {
        let mut number = 1_u64;
        while number < 1000 {
            number = inner.submit(move || number * 3).await?;
        }
        Ok::<_, TaskError>(number)
    });
    assert_eq!(looped.wait().expect("no panic").expect("no panic"), 2187);
    let words = stream::iter(["1", "2", "3"]).map(Ok);
    let sum = words.try_fold(0, |sum, text| parse(text).map_ok(move |number| sum + number));
    assert_eq!(block_on(sum), Ok(6));

    // One function over many elements (run and clusteredRun of a container).
    let double = |number: u32| number * 2;
    let group = sequence::each(&pool, 1..=3, double);
    assert_eq!(group.wait().into_iter().map(Result::unwrap).sum::<u32>(), 12);
    let group = sequence::clusters(&pool, 1..=1000, 100, double).expect("clusters of 100");
    assert_eq!(group.wait().into_iter().map(Result::unwrap).sum::<u32>(), 1_001_000);
    let serial = sequence::serial(&pool, 1..=3, |number| if number < 3 { Ok(number) } else { Err("3 is too much") });
    let stopped = serial.wait().expect("no panic").expect_err("3 is too much");
    assert_eq!((stopped.done, stopped.error), (vec![1, 2], "3 is too much"));

    // A group as a whole; what has not begun when it is cancelled never does.
    let group: Group<()> = (0..100).map(|_| pool.submit(|| std::thread::sleep(Duration::from_millis(1)))).collect();
    let cancelled = group.cancel();
    let results = group.wait();
    assert_eq!(results.iter().filter(|result| matches!(result, Err(TaskError::Cancelled))).count(), cancelled);

    // A result for several readers.
    let shared = parse("5").shared();
    let numbers: [Number; 2] = [block_on(shared.clone()), block_on(shared)];
    assert_eq!(numbers, [Ok(5), Ok(5)]);

    pool.shutdown().expect("everything has run");
}
