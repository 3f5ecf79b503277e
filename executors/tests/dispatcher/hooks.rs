//! Jobs that hooks submit to their dispatcher.

use super::tools::{end, here, watched};
use crate::support::child::Child;
use executors::{
    Pool,
    dispatcher::{Dispatcher, Priority},
    try_execute_locally,
};
use std::{
    sync::{Mutex, mpsc::channel},
    thread,
};

#[test]
fn jobs_of_start_hooks_go_to_the_main_subpool() {
    for strict in [false, true] {
        let (tell, told) = channel();
        let tell = Mutex::new(tell);
        let hook = move |worker| {
            // The hook of the first worker, to which nothing is bound.
            if worker == 0 {
                let tell = tell.lock().expect("no panic under this lock").clone();
                assert!(try_execute_locally(move || tell.send(thread::current().id()).unwrap_or_default()).is_ok());
            }
        };
        let builder = Dispatcher::builder().threads(2).bound_subpool("window").main_subpool("window", Priority::LOW);
        let dispatcher = builder.strict_order(strict).on_start(hook).build().expect("possible");
        let _watchdog = watched(&dispatcher);
        let window = dispatcher.subpool("window").expect("it was built");
        assert_eq!(told.recv(), Ok(here(&window)));
        assert_eq!(dispatcher.submit(|| thread::current().id()).wait().expect("it runs"), here(&window));
        end(dispatcher);
    }
}

/// If there is no address for the stack of the thread to which the hooks give jobs, that is an error, and no reason to
/// wait for these.
#[test]
fn jobs_for_a_thread_that_is_refused_do_not_keep_the_others() {
    Child::default().address_space(2 << 30).run(|| {
        let builder = Dispatcher::builder().threads(12).stack_size(256 << 20);
        let builder = builder.bound_subpool("window").main_subpool("window", Priority::NORMAL);
        let built = builder.on_start(|_| assert!(try_execute_locally(|| ()).is_ok())).build();
        assert!(built.is_err_and(|error| error.is_thread_refused()));
    });
}
