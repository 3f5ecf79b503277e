//! A program of kompact: components that exchange messages on its default scheduler, and on another.
//!
//! `scripts/compat.sh` builds it with kompact from the registry and the `executors` of this repository, and runs it.

use kompact::{executors::crossbeam_channel_pool, prelude::*};
use std::{sync::mpsc, time::Duration};

const COMPONENTS: u64 = 8;
const ROUNDS: u64 = 1000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Passes a counter on to its successor until it is zero, and then tells the main thread.
#[derive(ComponentDefinition)]
struct Relay {
    ctx: ComponentContext<Self>,
    next: Option<ActorRef<Baton>>,
    handled: u64,
    finish: mpsc::Sender<u64>,
}

#[derive(Debug, Clone)]
enum Baton {
    Successor(ActorRef<Baton>),
    Count(u64),
}

impl Relay {
    fn new(finish: mpsc::Sender<u64>) -> Self {
        Relay { ctx: ComponentContext::uninitialised(), next: None, handled: 0, finish }
    }
}

ignore_lifecycle!(Relay);

impl Actor for Relay {
    type Message = Baton;

    fn receive_local(&mut self, message: Baton) -> HandlerResult {
        match (message, &self.next) {
            (Baton::Successor(next), _) => self.next = Some(next),
            (Baton::Count(0), _) => self.finish.send(self.handled).expect("the main thread waits"),
            (Baton::Count(count), Some(next)) => {
                self.handled += 1;
                next.tell(Baton::Count(count - 1));
            }
            (Baton::Count(_), None) => panic!("no successor"),
        }
        Handled::OK
    }
}

fn run(name: &str, config: KompactConfig) {
    let system = config.build().wait().expect("a system");
    let (finish, finished) = mpsc::channel();

    let relays: Vec<_> = (0..COMPONENTS)
        .map(|_| {
            let finish = finish.clone();
            system.create(move || Relay::new(finish))
        })
        .collect();
    for (index, relay) in relays.iter().enumerate() {
        system.start(relay);
        relay.actor_ref().tell(Baton::Successor(relays[(index + 1) % relays.len()].actor_ref()));
    }
    // One baton for each component, each around the ring many times.
    for relay in &relays {
        relay.actor_ref().tell(Baton::Count(ROUNDS * COMPONENTS));
    }
    for _ in &relays {
        finished.recv_timeout(PATIENCE).expect("every baton arrives");
    }
    let handled: u64 = relays.iter().map(|relay| relay.on_definition(|relay| relay.handled)).sum();
    assert_eq!(handled, COMPONENTS * COMPONENTS * ROUNDS);

    // Futures go to the same scheduler.
    assert_eq!(system.spawn(async { 6 * 7 }).wait().expect("the future ran"), 42);

    system.shutdown().wait().expect("the system shuts down");
    println!("{name}: {handled} messages, then an orderly shutdown");
}

fn main() {
    run("default scheduler", KompactConfig::default());

    let mut config = KompactConfig::default();
    config.executor(crossbeam_channel_pool::ThreadPool::new);
    run("channel pool", config);
}
