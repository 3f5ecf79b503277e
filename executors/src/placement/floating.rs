//! The twin of `affinity.rs` for builds without the feature `thread-pinning`.

pub(super) fn available_cores() -> Option<Vec<usize>> {
    None
}

pub(super) fn pin_current_thread(_core: usize) -> bool {
    false
}
