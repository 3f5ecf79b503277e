//! Jobs that a pool has refused.

use std::{error::Error, fmt};

/// The pool did not accept the job, because it is closed, or full and built to refuse jobs then. The job is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<F>(pub F);

impl<F> Rejected<F> {
    /// The job, which did not run.
    #[must_use = "dropping the job loses it; ignore the error instead if that is what you want"]
    pub fn into_job(self) -> F {
        self.0
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Rejected<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pool is closed, or full, and did not take the job")
    }
}

impl<F> Error for Rejected<F> {}

/// Implements the common part of all errors that have one variant for each reason, each with what was refused inside:
/// returning that, and formatting the reason without it.
#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
macro_rules! impl_refusal {
    ($error:ident, $(#[doc = $doc:literal])+ $into:ident { $($reason:ident: $text:literal,)+ }) => {
        impl<T> $error<T> {
            $(#[doc = $doc])+
            #[must_use = "dropping it loses it; ignore the error instead if that is what you want"]
            pub fn $into(self) -> T {
                match self {
                    $($error::$reason(refused))|+ => refused,
                }
            }
        }

        impl<T> std::fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($error::$reason(_) => concat!(stringify!($reason), "(..)"),)+
                })
            }
        }

        impl<T> std::fmt::Display for $error<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($error::$reason(_) => $text,)+
                })
            }
        }

        impl<T> std::error::Error for $error<T> {}
    };
}
#[cfg(any(feature = "elastic-exec", feature = "burst-exec"))]
pub(crate) use impl_refusal;
