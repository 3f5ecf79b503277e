//! What only dispatchers promise. What they have in common with other pools is in `conformance.rs`.
#![cfg(feature = "dispatcher-exec")]

mod support;

#[path = "dispatcher"]
mod topics {
    mod binding;
    mod changes;
    mod discarding;
    mod handles;
    mod hooks;
    mod limits;
    mod order;
    mod pauses;
    mod preheating;
    mod priorities;
    mod refusals;
    mod stepping;
    mod tools;
    mod waiting;
}
