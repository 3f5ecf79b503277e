//! Futures, whose steps belong to the subpool that they were spawned on.

use super::tools::{Room, end, here, watched};
use executors::{Executor, FuturesExecutor, dispatcher::Dispatcher};
use std::{future, mem, task::Poll, thread};

#[test]
fn futures_stay_where_they_were_spawned() {
    let dispatcher =
        Dispatcher::builder().threads(4).subpool("one", 1).bound_subpool("bound").build().expect("possible");
    let _watchdog = watched(&dispatcher);
    let bound = dispatcher.subpool("bound").expect("it was built");
    let thread = here(&bound);
    let (sender, receiver) = futures::channel::oneshot::channel();
    let task = bound.spawn(async move {
        let before = thread::current().id();
        receiver.await.expect("it is sent");
        (before, thread::current().id())
    });
    dispatcher.cpu().execute(move || sender.send(()).expect("it is awaited"));
    assert_eq!(futures::executor::block_on(task), (thread, thread));

    let (one, room) = (dispatcher.subpool("one").expect("it was built"), Room::default());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let room = room.clone();
            one.spawn(async move {
                for _ in 0..5 {
                    room.enter();
                    pending_once().await;
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(futures::executor::block_on);
    assert_eq!(room.most(), 1);
    end(dispatcher);
}

/// Wakes itself and yields, once.
async fn pending_once() {
    let mut is_second = false;
    future::poll_fn(|context| {
        if mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
