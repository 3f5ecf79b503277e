//! Pieces of memory as large as a huge page, which the system is asked to back with one.
//!
//! The first write to a page of four kilobytes costs more than filling it with a hundred jobs; as a part of a huge page
//! it costs an eighth to a half of that (measured in `docs/results/queues.md`). The pieces do not come from the
//! allocator: for each aligned piece it would take almost as much memory again for its own mark, and it would keep what
//! is given back.
//!
//! In some virtual machines a huge page may come slowly: what the system has reported to its host as free must be
//! fetched back, all of it before the first write returns. That takes 4 to 20 ms, and small pages seldom need it,
//! because smaller pieces of free memory are not reported. A piece that was given back moments ago is mostly not
//! reported yet. So where the system reports, the first pieces after a second's rest are in small pages; and after a
//! slow one, all are for a while. (Where system calls are filtered nothing is timed or asked, because that takes some:
//! pieces are on huge pages there, unless a thread without a filter has found before that the system reports.)

use std::ptr::NonNull;

/// On x86-64, and on 64-bit ARM with pages of four kilobytes. Where huge pages have another size this is usual memory.
pub(super) const BYTES: usize = 2 << 20;

/// [`BYTES`] bytes, at an address that is a multiple of that; none if the system refuses, or is not 64-bit Linux.
pub(super) fn map() -> Option<NonNull<u8>> {
    system::map()
}

/// # Safety
///
/// `piece` is from [`map`], and is not used any more.
pub(super) unsafe fn unmap(piece: NonNull<u8>) {
    // SAFETY: as promised.
    unsafe { system::unmap(piece) };
}

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(executors_loom)))]
mod system {
    use super::BYTES;
    use crate::seccomp::is_filtered;
    use libc::{
        CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MAP_ANONYMOUS, MAP_FAILED,
        MAP_PRIVATE, PROT_READ, PROT_WRITE, c_int, c_void, clock_gettime, clockid_t, madvise, mmap, munmap, timespec,
    };
    use std::{
        fs::File,
        io::Read,
        ptr::{self, NonNull},
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering::Relaxed},
        },
        time::Duration,
    };

    /// A first write that takes a thread this much of its time, or longer, was slow. Usual are 0.1 to 0.3 ms; in small
    /// pages the same memory takes 0.6 to 1 ms.
    const SLOW: Duration = Duration::from_millis(2);

    /// How many times as long to do without huge pages then. So slow ones take a thread an eleventh of its time at
    /// most. They are tried again soon, because one that has come will come fast for as long as memory is freed and
    /// needed in turns.
    const PAUSE: u32 = 10;

    /// How many pieces in a row are in small pages where the system reports free memory. Together they take 2 to 7 ms
    /// longer than on huge pages that come fast, about as much as one slow page that comes soon; and with fewer pieces
    /// huge pages would not earn that back.
    const FEW: u64 = 8;

    /// What ends the row. The system reports at intervals of two seconds what is free by then, so at least half of what
    /// was given back less than a second ago is not reported yet.
    const REST: Duration = Duration::from_secs(1);

    /// Of the system's allocator, with pages of four kilobytes.
    const LARGEST_ORDER: u32 = 10;

    /// Of all threads: they get memory from the same system.
    static PAUSED: Pause = Pause::new();
    static DEMAND: Demand = Demand::new();
    static REPORTS: OnceLock<bool> = OnceLock::new();

    pub(super) fn map() -> Option<NonNull<u8>> {
        let (protection, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        // SAFETY: new memory, wherever the system likes. Twice as much as is kept, so that some of it is aligned.
        let start = unsafe { mmap(ptr::null_mut(), 2 * BYTES, protection, kind, -1, 0) };
        if start == MAP_FAILED {
            return None;
        }
        let before = start.addr().wrapping_neg() % BYTES;
        // SAFETY: all three are within what was mapped, one after the other.
        let (piece, behind) = unsafe { (start.byte_add(before), start.byte_add(before + BYTES)) };
        // SAFETY: no other code knows of these two parts.
        unsafe {
            give_back(start, before);
            give_back(behind, BYTES - before);
        }
        let piece = NonNull::new(piece)?;
        choose_pages(piece);
        Some(piece.cast())
    }

    /// Advises the system on a new piece.
    fn choose_pages(piece: NonNull<c_void>) {
        if is_filtered() {
            // To ask, and to read the clock of a thread's time, takes system calls.
            return advise(piece, if REPORTS.get() == Some(&true) { MADV_NOHUGEPAGE } else { MADV_HUGEPAGE });
        }
        let now = time(CLOCK_MONOTONIC);
        let pieces = DEMAND.grows(now);
        if PAUSED.is_over(now) && (pieces > FEW || !reports_free_memory()) {
            advise(piece, MADV_HUGEPAGE);
            let before = time(CLOCK_THREAD_CPUTIME_ID);
            // SAFETY: the piece is ours alone. This write waits for the page; otherwise the caller's first one would.
            unsafe { piece.cast::<u8>().write_volatile(0) };
            PAUSED.after(time(CLOCK_THREAD_CPUTIME_ID).saturating_sub(before), time(CLOCK_MONOTONIC));
        } else {
            advise(piece, MADV_NOHUGEPAGE);
        }
    }

    /// Whether the system tells a host which memory is free. It is asked once.
    fn reports_free_memory() -> bool {
        *REPORTS.get_or_init(|| {
            // Without an allocation: the allocator may re-enter.
            let mut text = [0; 16];
            let file = File::open("/sys/module/page_reporting/parameters/page_reporting_order");
            let length = file.and_then(|mut file| file.read(&mut text)).unwrap_or(0);
            is_order_of_pages(&text[..length])
        })
    }

    /// Whether `text` is the size of what is reported, as a power of two of pages. If nothing is, older kernels have a
    /// number there that no piece of memory has (5.15: 11), and newer ones (6.6) -1.
    fn is_order_of_pages(text: &[u8]) -> bool {
        let order = str::from_utf8(text).ok().and_then(|text| text.trim().parse::<u32>().ok());
        order.is_some_and(|order| order <= LARGEST_ORDER)
    }

    fn advise(piece: NonNull<c_void>, advice: c_int) {
        // SAFETY: about memory that is ours. It is usable even if the system does not take the advice.
        unsafe { madvise(piece.as_ptr(), BYTES, advice) };
    }

    /// Zero if the system does not tell the thread's time: then nothing seems to be slow.
    fn time(clock: clockid_t) -> Duration {
        let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is ours to write to.
        unsafe { clock_gettime(clock, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    /// Until when to do without huge pages, in nanoseconds of the system's clock. It is advice: no memory is read or
    /// written because of it, so relaxed accesses are enough.
    struct Pause(AtomicU64);

    impl Pause {
        const fn new() -> Pause {
            Pause(AtomicU64::new(0))
        }

        fn is_over(&self, now: Duration) -> bool {
            now.as_nanos() as u64 >= self.0.load(Relaxed)
        }

        /// A huge page has taken this much of a thread's time.
        fn after(&self, taken: Duration, now: Duration) {
            if taken >= SLOW {
                self.0.fetch_max((now + PAUSE * taken).as_nanos() as u64, Relaxed);
            }
        }
    }

    /// How many pieces were made without a rest. It is advice, too: pieces that threads make at the same time may count
    /// as one.
    struct Demand {
        /// When the last one was made, in nanoseconds of the system's clock.
        last: AtomicU64,
        pieces: AtomicU64,
    }

    impl Demand {
        const fn new() -> Demand {
            Demand { last: AtomicU64::new(0), pieces: AtomicU64::new(0) }
        }

        /// One more is made. Returns how many that makes.
        fn grows(&self, now: Duration) -> u64 {
            let now = now.as_nanos() as u64;
            let since = now.saturating_sub(self.last.swap(now, Relaxed));
            let before = if since < REST.as_nanos() as u64 { self.pieces.load(Relaxed) } else { 0 };
            self.pieces.store(before + 1, Relaxed);
            before + 1
        }
    }

    /// # Safety
    ///
    /// As [`super::unmap`].
    pub(super) unsafe fn unmap(piece: NonNull<u8>) {
        // SAFETY: as promised.
        unsafe { give_back(piece.as_ptr().cast(), BYTES) };
    }

    /// # Safety
    ///
    /// The bytes were mapped here, and are not used any more.
    unsafe fn give_back(start: *mut c_void, bytes: usize) {
        if bytes > 0 {
            // SAFETY: as promised. If the system should refuse, they stay mapped.
            unsafe { munmap(start, bytes) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_after_a_slow_page_there_is_a_pause() {
            let pause = Pause::new();
            let now = time(CLOCK_MONOTONIC);
            assert!(now > Duration::ZERO && pause.is_over(now));
            pause.after(SLOW - Duration::from_nanos(1), now);
            assert!(pause.is_over(now));
            pause.after(SLOW, now);
            let end = now + PAUSE * SLOW;
            assert!(!pause.is_over(end - Duration::from_nanos(1)) && pause.is_over(end));
        }

        #[test]
        fn what_is_reported_has_a_size() {
            assert!(["9\n", "10\n", "0"].iter().all(|text| is_order_of_pages(text.as_bytes())));
            assert!(!["11\n", "-1\n", "4294967295\n", "", "Y\n"].iter().any(|text| is_order_of_pages(text.as_bytes())));
        }

        #[test]
        fn demand_grows_until_there_is_a_rest() {
            let demand = Demand::new();
            let now = time(CLOCK_MONOTONIC);
            let nearly = REST - Duration::from_nanos(1);
            assert_eq!([now, now, now + nearly].map(|now| demand.grows(now)), [1, 2, 3]);
            assert_eq!([now + nearly + REST, now + 2 * REST].map(|now| demand.grows(now)), [1, 2]);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(executors_loom))))]
mod system {
    use std::ptr::NonNull;

    pub(super) fn map() -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    ///
    /// None: there is no piece.
    pub(super) unsafe fn unmap(_piece: NonNull<u8>) {}
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64", not(executors_loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_apart_and_can_be_written() {
        let pieces = [(); 3].map(|()| map().expect("the system has six megabytes"));
        for (number, piece) in (1..).zip(pieces) {
            assert_eq!(piece.addr().get() % BYTES, 0);
            // SAFETY: the piece is as large, and used by no other code.
            unsafe { piece.write_bytes(number, BYTES) };
        }
        for (number, piece) in (1..).zip(pieces) {
            // SAFETY: as above, and written.
            assert_eq!(unsafe { [piece.read(), piece.add(BYTES - 1).read()] }, [number; 2]);
            // SAFETY: from `map`, and not used any more.
            unsafe { unmap(piece) };
        }
    }
}
