//! What cannot be built or chosen.

use super::tools::{end, refusal};
use executors::{
    Builder, Fairness,
    dispatcher::{Dispatcher, MAX_SUBPOOLS, Priority},
};

#[test]
fn impossible_limits_are_refused() {
    let dispatcher =
        Dispatcher::builder().threads(2).subpool("disk", 3).bound_subpool("window").build().expect("possible");
    let disk = dispatcher.subpool("disk").expect("it was built");
    let zero = disk.set_limit(0).expect_err("nothing could run").to_string();
    assert!(zero.contains("limit of 0") && zero.contains("\"disk\"") && zero.contains("pause"), "{zero}");
    assert_eq!(disk.status().limit, 3);
    let window = dispatcher.subpool("window").expect("it was built");
    assert_eq!(window.set_limit(1), Ok(()));
    let two = window.set_limit(2).expect_err("it is bound").to_string();
    assert!(two.contains("\"window\"") && two.contains("cannot be 2"), "{two}");
    end(dispatcher);
}

#[test]
fn priorities_out_of_range_are_refused() {
    assert_eq!(Priority::ALL.map(Priority::number), [0, 1, 2, 3, 4]);
    assert_eq!((Priority::new(4), Priority::default()), (Ok(Priority::HIGHEST), Priority::NORMAL));
    let text = Priority::try_from(5).expect_err("there are five").to_string();
    assert!(text.contains("no priority 5") && text.contains("to 4"), "{text}");
}

#[test]
fn impossible_dispatchers_are_refused() {
    type Change = fn(Builder<Dispatcher>) -> Builder<Dispatcher>;
    let cases: [(Change, &str); 9] = [
        (|builder| builder.threads(0), "0 threads"),
        (|builder| builder.subpool("disk", 0), "limit of 0 the subpool \"disk\""),
        (|builder| builder.cpu_limit(0), "limit of 0 the subpool \"cpu\""),
        (|builder| builder.subpool("x", 1).bound_subpool("x"), "two subpools called \"x\""),
        (|builder| builder.bound_subpool("cpu"), "two subpools called \"cpu\""),
        (
            |builder| ["a", "b", "c"].into_iter().fold(builder.threads(2), Builder::bound_subpool),
            "3 subpools are to be bound to a thread each, but there are only 2 threads",
        ),
        (|builder| builder.threads(2).reserve(2).bound_subpool("a").bound_subpool("b"), "2 of 2 threads are reserved"),
        (
            |builder| builder.threads(4).reserve(2).bound_subpool("a"),
            "2 threads are reserved for bound subpools, of which there are 1",
        ),
        (|builder| builder.main_subpool("x", Priority::HIGH), "main subpool is to be \"x\""),
    ];
    for (change, expected) in cases {
        let text = refusal(change(Dispatcher::builder()));
        assert!(text.contains(expected), "{text}");
    }
    let many = |builder: Builder<Dispatcher>, number| {
        (0..number).fold(builder, |builder, n| builder.subpool(n.to_string(), 1))
    };
    let text = refusal(many(Dispatcher::builder().threads(1), MAX_SUBPOOLS));
    assert!(text.contains("11 subpools share") && text.contains("only 10"), "{text}");
    end(many(Dispatcher::builder().threads(1), MAX_SUBPOOLS - 1).build().expect("as many as there may be"));
    let text = refusal(Dispatcher::builder().fairness(Fairness::TIMED));
    assert!(text.contains("Fairness::Timed") && text.contains("Fairness::Counted"), "{text}");
}
