//! The interfaces of other crates, on the pools of this one: change a program's `use` lines, and nothing else.

#[cfg(feature = "compat-burst-pool")]
pub mod burst_pool;
#[cfg(feature = "compat-rusty-pool")]
pub mod rusty_pool;
