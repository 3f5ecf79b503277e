//! Two channels in opposite directions, as two mirrored endpoints.
//!
//! # Examples
//!
//! ```
//! use executors::bichannel::bichannel;
//!
//! let (left, right) = bichannel::<&str, usize>();
//! left.send("four").unwrap();
//! right.send(right.recv().unwrap().len()).unwrap();
//! assert_eq!(left.recv(), Ok(4));
//! ```

use std::{
    fmt,
    sync::mpsc::{self, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryIter, TryRecvError},
    time::Duration,
};

/// Creates both ends of an unbounded channel in both directions.
///
/// The first end sends `Left` and receives `Right`, the second the other way round. What is sent on one end arrives on
/// the other in the same order; sending never blocks. Sending to an end that is gone is an error, and so is receiving
/// from it, once all that it sent has been received. Ends can be sent to other threads, but not cloned.
#[must_use]
pub fn bichannel<Left, Right>() -> (Endpoint<Right, Left>, Endpoint<Left, Right>) {
    let (to_right, from_left) = mpsc::channel();
    let (to_left, from_right) = mpsc::channel();
    (Endpoint { sender: to_right, receiver: from_right }, Endpoint { sender: to_left, receiver: from_left })
}

/// One end of a [`bichannel`]: sends `Out`, receives `In`.
pub struct Endpoint<In, Out> {
    sender: Sender<Out>,
    receiver: Receiver<In>,
}

impl<In, Out> Endpoint<In, Out> {
    /// Sends to the other end, without blocking. See [`Sender::send`].
    ///
    /// # Errors
    ///
    /// Returns the value if the other end is gone.
    pub fn send(&self, t: Out) -> Result<(), SendError<Out>> {
        self.sender.send(t)
    }

    /// Receives what has arrived, without blocking. See [`Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If nothing has arrived yet, or nothing can arrive any more.
    pub fn try_recv(&self) -> Result<In, TryRecvError> {
        self.receiver.try_recv()
    }

    /// Blocks until something arrives. See [`Receiver::recv`].
    ///
    /// # Errors
    ///
    /// If the other end is gone and everything it sent has been received.
    pub fn recv(&self) -> Result<In, RecvError> {
        self.receiver.recv()
    }

    /// Blocks until something arrives, at most `timeout`. See [`Receiver::recv_timeout`].
    ///
    /// # Errors
    ///
    /// If the time is up, or nothing can arrive any more.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<In, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout)
    }

    /// Iterates over what arrives, blocking in between, until the other end is gone. See [`Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, In> {
        self.receiver.iter()
    }

    /// Iterates over what has arrived, without blocking. See [`Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, In> {
        self.receiver.try_iter()
    }
}

impl<In, Out> fmt::Debug for Endpoint<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

/// As [`iter`](Endpoint::iter).
impl<'a, In, Out> IntoIterator for &'a Endpoint<In, Out> {
    type Item = In;
    type IntoIter = Iter<'a, In>;

    fn into_iter(self) -> Iter<'a, In> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn both_directions_keep_their_order() {
        let (left, right) = bichannel::<u32, String>();
        let echo = thread::spawn(move || {
            for number in &right {
                right.send(number.to_string()).expect("left is waiting");
            }
        });
        (0..10).for_each(|number| left.send(number).expect("right is listening"));
        let answers: Vec<_> = left.iter().take(10).collect();
        assert_eq!(answers, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
        drop(left);
        echo.join().expect("right ends when left is gone");
    }

    #[test]
    fn a_missing_end_is_an_error() {
        let (left, right) = bichannel::<u8, u8>();
        assert_eq!(left.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(left.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        drop(right);
        assert_eq!(left.send(1), Err(SendError(1)));
        assert_eq!(left.recv(), Err(RecvError));
        assert_eq!(left.try_iter().next(), None);
    }
}
