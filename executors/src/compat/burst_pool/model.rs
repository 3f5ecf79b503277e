//! Models of the channel; `scripts/loom.sh compat` runs them. What happens without one of the fences:
//!
//! | no fence | noticed by (among others) |
//! |---|---|
//! | in `wake_all` | `a_sleeping_receiver_is_woken_for_its_value` (a deadlock) |
//! | in `parker::sleep` | `a_sleeping_receiver_is_woken_for_its_value` (the same) |
//! | in `recv` | `a_value_with_a_wake_up_is_received_before_the_end` (the value is lost) |
//! | in the sender's `drop`, before `orphaned` is set | not noticed: that of the last `wake_all` is enough |
//! | in the sender's `drop`, after it | not noticed: `unpark_all` takes the lock of the register in any case, which orders it |

use super::{Receiver, RecvError, Sender};
use crate::sync::{check, check_reaching, thread};

type Received = Result<Box<usize>, RecvError>;

/// Receives `times` times, on a thread of its own.
fn receive(mut receiver: Receiver<usize>, times: usize) -> thread::JoinHandle<Vec<Received>> {
    thread::spawn(move || (0..times).map(|_| receiver.recv()).collect())
}

/// The receiver falls asleep at any time, and the sender lives until the receiver has returned.
#[test]
fn a_sleeping_receiver_is_woken_for_its_value() {
    check_reaching(3, ["it is accepted", "it is given back"], |[is_accepted, is_given_back]| {
        let mut sender = Sender::new();
        let thread = receive(sender.mk_receiver(), 1);
        let accepts = sender.enqueue(Box::new(1)).is_none();
        is_accepted.is_reached_if(accepts);
        is_given_back.is_reached_if(!accepts);
        if accepts {
            sender.wake_all();
            assert_eq!(thread.join().unwrap(), [Ok(Box::new(1))]);
        } else {
            drop(sender);
            assert_eq!(thread.join().unwrap(), [Err(RecvError::Orphaned)]);
        }
    });
}

#[test]
fn each_of_two_receivers_is_woken_for_its_own_value() {
    check_reaching(2, ["both are accepted", "one is"], |[both_are, one_is]| {
        let mut sender = Sender::new();
        let threads = [1, 2].map(|_| receive(sender.mk_receiver(), 1));
        let accepted = (1..=2).filter(|&value| sender.enqueue(Box::new(value)).is_none()).count();
        both_are.is_reached_if(accepted == 2);
        one_is.is_reached_if(accepted == 1);
        sender.wake_all();
        if accepted < 2 {
            drop(sender);
        }
        let received = threads.map(|thread| thread.join().unwrap().pop().unwrap());
        assert_eq!(received.iter().flatten().count(), accepted);
        assert!(accepted < 2 || received[0] != received[1]);
    });
}

/// The second has the number of the first, which was dropped.
#[test]
fn a_receiver_in_the_place_of_another_is_woken_for_its_value() {
    check(2, || {
        let mut sender = Sender::new();
        for value in 1..=2 {
            let receiver = sender.mk_receiver();
            assert_eq!(receiver.number, 0);
            let thread = receive(receiver, 1);
            while sender.enqueue(Box::new(value)).is_some() {
                thread::yield_now();
            }
            sender.wake_all();
            assert_eq!(thread.join().unwrap(), [Ok(Box::new(value))]);
        }
    });
}

/// The sender may be gone before the receiver gets there.
#[test]
fn a_value_with_a_wake_up_is_received_before_the_end() {
    check_reaching(3, ["it is accepted"], |[is_accepted]| {
        let mut sender = Sender::new();
        let thread = receive(sender.mk_receiver(), 2);
        let accepted = sender.enqueue(Box::new(1)).is_none();
        is_accepted.is_reached_if(accepted);
        sender.wake_all();
        drop(sender);
        let first = if accepted { Ok(Box::new(1)) } else { Err(RecvError::Orphaned) };
        assert_eq!(thread.join().unwrap(), [first, Err(RecvError::Orphaned)]);
    });
}

#[test]
fn a_value_without_a_wake_up_is_not_received() {
    check_reaching(3, ["it is accepted"], |[is_accepted]| {
        let mut sender = Sender::new();
        let thread = receive(sender.mk_receiver(), 1);
        is_accepted.is_reached_if(sender.enqueue(Box::new(1)).is_none());
        drop(sender);
        assert_eq!(thread.join().unwrap(), [Err(RecvError::Orphaned)]);
    });
}
