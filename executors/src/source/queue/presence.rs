//! Where a thread records that it is inside a lock that is reserved for it.

use crate::{
    asymmetric_fence::LightSide,
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        thread_local,
    },
};
use crossbeam_utils::CachePadded;
use std::{
    cell::Cell,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// One thread's, for as long as it lives. It is the thread's, and not the lock's: a thread records here that it is
/// inside a lock before it finds out whether that is still reserved for it.
///
/// It is never freed, because there may be a lock somewhere that was reserved for the thread when it ended. Another
/// thread gets it then, and with it those locks: all that the former one did comes before what the latter does.
#[derive(Debug)]
pub(super) struct Presence {
    /// Not 0, and unique.
    pub(super) number: u32,
    pub(super) is_in: AtomicBool,
    pub(super) side: LightSide,
}

/// The presences of threads that have ended, and how many there are in all.
#[derive(Debug)]
struct Registry {
    vacant: Vec<&'static Presence>,
    number: u32,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { vacant: Vec::new(), number: 0 });

thread_local! {
    static OWN: Cell<Option<&'static Presence>> = const { Cell::new(None) };
}

/// Gives the presence back when the thread ends.
struct Departure;

impl Drop for Departure {
    fn drop(&mut self) {
        if let Some(presence) = OWN.with(Cell::take) {
            Registry::lock().vacant.push(presence);
        }
    }
}

std::thread_local! {
    static DEPARTURE: Departure = const { Departure };
}

impl Presence {
    /// The calling thread's, if it has one.
    #[inline(always)]
    pub(super) fn of_this_thread() -> Option<&'static Presence> {
        OWN.with(Cell::get)
    }

    /// The calling thread's, made if it has none; unless it is about to end.
    #[cold]
    pub(super) fn make() -> Option<&'static Presence> {
        if let Some(present) = Self::of_this_thread() {
            return Some(present);
        }
        DEPARTURE.try_with(|_| ()).ok()?;
        let given = Registry::lock().give();
        let presence = match given {
            Given::Vacant(presence) => presence,
            // Allocated after the lock was given back: the allocator may re-enter.
            Given::New(number) => Presence::leak(number),
        };
        if let Some(nested) = Self::of_this_thread() {
            // It has. A lock may be reserved for `nested` by now.
            Registry::lock().vacant.push(presence);
            return Some(nested);
        }
        OWN.with(|own| own.set(Some(presence)));
        Some(presence)
    }

    /// A new one, which no other thread has. (The threads of a model bring theirs.)
    pub(super) fn leak(number: u32) -> &'static Self {
        let presence = Presence { number, is_in: AtomicBool::new(false), side: LightSide::default() };
        &*Box::leak(Box::new(CachePadded::new(presence)))
    }

    /// Whether the thread is inside, as it knows itself.
    #[inline(always)]
    pub(super) fn knows_it_is_in(&self) -> bool {
        // Relaxed: written by the thread only.
        self.is_in.load(Relaxed)
    }
}

/// What a thread gets that has no presence.
enum Given {
    /// One that no thread has any more.
    Vacant(&'static Presence),
    /// The number of one that is yet to be made.
    New(u32),
}

impl Registry {
    fn lock() -> MutexGuard<'static, Self> {
        REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&mut self) -> Given {
        self.vacant.pop().map_or_else(
            || {
                self.number += 1;
                Given::New(self.number)
            },
            Given::Vacant,
        )
    }
}
