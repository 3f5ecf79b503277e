//! Jobs that hooks submit to their dispatcher.

use super::tools::{end, here, watched};
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
