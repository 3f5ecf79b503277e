//! Macros that derive the public traits from a [`Backing`](super::Backing).

/// Implements [`Executor`](crate::Executor) and [`Pool`](crate::Pool) for a type whose field `handle` is its
/// [`Backing`](super::Backing).
macro_rules! impl_pool {
    ($pool:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $crate::CanExecute for $pool {
            fn execute_job(&self, job: Box<dyn FnOnce() + Send + 'static>) {
                $crate::backing::Backing::execute(&self.handle, job);
            }
        }

        impl $(<$($generics)+>)? $crate::Executor for $pool {
            #[inline(always)]
            fn execute<F>(&self, job: F)
            where
                F: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::execute(&self.handle, job);
            }

            fn shutdown_async(&self) {
                $crate::backing::Backing::shutdown_async(&self.handle);
            }

            fn shutdown_borrowed(&self) -> Result<(), String> {
                $crate::backing::Backing::shutdown_borrowed(&self.handle)
            }

            fn may_accept_later(&self) -> bool {
                $crate::backing::Backing::may_be_full(&self.handle)
            }

            #[cfg(feature = "produce-metrics")]
            fn register_metrics(&self) {
                $crate::meter::Exporter::describe();
            }
        }

        impl $(<$($generics)+>)? $crate::pool::sealed::Sealed for $pool {}

        impl $(<$($generics)+>)? $crate::Pool for $pool {
            #[inline(always)]
            fn try_execute<F>(&self, job: F) -> Result<(), $crate::Rejected<F>>
            where
                F: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::try_execute(&self.handle, job)
            }

            fn execute_batch<I>(&self, jobs: I) -> usize
            where
                I: IntoIterator,
                I::Item: FnOnce() + Send + 'static,
            {
                $crate::backing::Backing::execute_batch(&self.handle, jobs)
            }

            fn submit<F, T>(&self, job: F) -> $crate::TaskHandle<T>
            where
                F: FnOnce() -> T + Send + 'static,
                T: Send + 'static,
            {
                $crate::backing::Backing::submit(&self.handle, job)
            }

            fn join(&self) -> Result<(), $crate::WaitError> {
                $crate::backing::Backing::join(&self.handle, None)
            }

            fn join_timeout(&self, timeout: std::time::Duration) -> Result<(), $crate::WaitError> {
                $crate::backing::Backing::join(&self.handle, Some(timeout))
            }

            fn shutdown_timeout(
                &self,
                timeout: std::time::Duration,
            ) -> Result<$crate::ShutdownReport, $crate::ShutdownError> {
                $crate::backing::Backing::shutdown_timeout(&self.handle, timeout)
            }

            fn shutdown_now(&self) -> $crate::ShutdownReport {
                $crate::backing::Backing::shutdown_now(&self.handle)
            }

            fn stats(&self) -> $crate::Stats {
                $crate::backing::Backing::stats(&self.handle)
            }

            fn max_workers(&self) -> usize {
                $crate::backing::Backing::max_workers(&self.handle)
            }
        }
    };
}
pub(crate) use impl_pool;

/// Implements [`FuturesExecutor`](crate::FuturesExecutor) in the same way, if the handle [`Polls`](super::Polls).
#[cfg(feature = "_futures")]
macro_rules! impl_futures_executor {
    ($pool:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $crate::FuturesExecutor for $pool {
            fn spawn<R: Send + 'static>(
                &self,
                future: impl std::future::Future<Output = R> + 'static + Send,
            ) -> $crate::JoinHandle<R> {
                $crate::backing::Polls::spawn(&self.handle, future)
            }

            fn spawn_detached(&self, future: impl std::future::Future<Output = ()> + 'static + Send) {
                $crate::backing::Polls::spawn_detached(&self.handle, future);
            }

            fn submit_future<R: Send + 'static>(
                &self,
                future: impl std::future::Future<Output = R> + Send + 'static,
            ) -> $crate::TaskHandle<R> {
                let home = $crate::backing::Backing::home(&self.handle);
                $crate::futures_executor::submit(self, home, future)
            }
        }
    };
}
#[cfg(feature = "_futures")]
pub(crate) use impl_futures_executor;
