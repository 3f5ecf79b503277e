//! The interfaces of other crates, on the pools of this one: change a program's `use` lines, and nothing else.
//!
//! # Examples
//!
//! In place of `use rusty_pool::ThreadPool`:
//!
//! ```
//! # #[cfg(feature = "compat-rusty-pool")] {
//! use executors::compat::rusty_pool::ThreadPool;
//!
//! let pool = ThreadPool::default();
//! let handle = pool.evaluate(|| 6 * 7);
//! assert_eq!(handle.await_complete(), 42);
//! pool.shutdown_join();
//! # }
//! ```
//!
//! In place of `use burst_pool::BurstPool`:
//!
//! ```
//! # #[cfg(feature = "compat-burst-pool")] {
//! use executors::compat::burst_pool::BurstPool;
//! use std::sync::mpsc::channel;
//!
//! let (tell, told) = channel();
//! let mut pool = BurstPool::new();
//! pool.spawn(move |number: u32| tell.send(number * 7).unwrap());
//! pool.send(6)?;
//! assert_eq!(told.recv()?, 42);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "compat-burst-pool")]
pub mod burst_pool;
#[cfg(feature = "compat-rusty-pool")]
pub mod rusty_pool;
