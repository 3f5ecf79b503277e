//! What a user can choose for a dispatcher, and how it is built.

use super::{CHARTER, CPU, CrewHandle, Dispatcher, LimitError, MAX_SUBPOOLS, Priority, misfit::Misfit};
use crate::{
    builder::{Build, Builder, sealed::Recipe},
    crew::{Setup, Terms},
    error::{BuildError, BuildErrorKind},
    options::{Fairness, Options, check_threads},
    parker::TwoParkers,
    placement::{Neighbourhood, core_count},
    source::dispatch::{self, DispatchSource},
};

/// What only a dispatcher lets its users choose.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    cpu_limit: Option<usize>,
    /// Names and limits.
    subpools: Vec<(String, usize)>,
    bound: Vec<String>,
    reserve: Option<usize>,
    strict: bool,
    main: Option<(String, Priority)>,
}

/// Options that only a dispatcher has.
impl Builder<Dispatcher> {
    /// Adds a subpool of which at most `limit` jobs run at a time. A limit above the number of threads has the same
    /// effect as that number.
    ///
    /// A dispatcher has at most [`MAX_SUBPOOLS`](crate::dispatcher::MAX_SUBPOOLS) subpools with limits, which is ten.
    /// The CPU subpool is one of them, so nine can be added; bound subpools do not count. With more of them, a limit of
    /// 0, or a name that another subpool has (`"cpu"` included), [`build`](Self::build) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, dispatcher::Dispatcher};
    ///
    /// let dispatcher = Dispatcher::builder().threads(4).subpool("disk", 2).build()?;
    /// dispatcher.subpool("disk")?.execute(|| println!("one of two at a time"));
    /// assert!(Dispatcher::builder().subpool("disk", 0).build().is_err(), "nothing could run");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subpool(mut self, name: impl Into<String>, limit: usize) -> Self {
        self.extra.subpools.push((name.into(), limit));
        self
    }

    /// Adds a subpool whose jobs all run on one thread, one after the other and in order (within a priority).
    ///
    /// The thread is a reserved one, see [`reserve`](Self::reserve), or one that also runs jobs of other subpools; no
    /// two bound subpools share a thread. If there are more bound subpools than threads, or another subpool has the
    /// same name, [`build`](Self::build) returns an error.
    ///
    /// The promise is about where jobs, and steps of futures, *run*. Two things may happen on another thread. A job
    /// that is given while the dispatcher is being closed may run on an additional thread, after all others, if the
    /// subpool's thread has left already. And what a job or a suspended future has captured may be dropped anywhere if
    /// it is cancelled, discarded by `shutdown_now`, or woken when the dispatcher is over. So what must not be dropped
    /// elsewhere should not travel in captures: keep it in a thread-local of the bound thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    /// use std::thread;
    ///
    /// let dispatcher = Dispatcher::builder().threads(4).bound_subpool("window").build()?;
    /// let window = dispatcher.subpool("window")?;
    /// let threads = [(), ()].map(|()| window.submit(|| thread::current().id()));
    /// let [first, second] = threads.map(|id| id.wait());
    /// assert_eq!(first?, second?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bound_subpool(mut self, name: impl Into<String>) -> Self {
        self.extra.bound.push(name.into());
        self
    }

    /// How many threads run only bound jobs: one for each of the first bound subpools. The threads of the other bound
    /// subpools also run jobs of subpools that share threads, so a bound job may have to wait for one of these to end.
    ///
    /// The default is one for each bound subpool, as long as a thread is left for the other subpools. With more than
    /// there are bound subpools, or as many as there are threads, [`build`](Self::build) returns an error.
    ///
    /// The reserved threads have the highest numbers (as in [`on_start`](Self::on_start), names and
    /// [`Placement::Cores`](crate::Placement::Cores)), in the order in which their subpools were added; the other bound
    /// subpools have the threads 0, 1 and so on.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::Dispatcher};
    /// use std::thread;
    ///
    /// // Three threads share the CPU subpool; one of them draws, too. The fourth does nothing but play.
    /// let builder = Dispatcher::builder().threads(4).bound_subpool("sound").bound_subpool("window");
    /// let dispatcher = builder.reserve(1).name("app").build()?;
    /// for (subpool, thread) in [("sound", "app-3"), ("window", "app-0")] {
    ///     let name = dispatcher.subpool(subpool)?.submit(|| thread::current().name().map(str::to_owned));
    ///     assert_eq!(name.wait()?.as_deref(), Some(thread));
    /// }
    /// assert!(Dispatcher::builder().threads(4).reserve(1).build().is_err(), "nothing is bound");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(mut self, threads: usize) -> Self {
        self.extra.reserve = Some(threads);
        self
    }

    /// How many jobs of the CPU subpool may run at a time. The default is the number of cores that the process may use.
    /// If `threads` is not called, it is what `EXECUTORS_NUM_THREADS` says, or else the number of cores that the thread
    /// which builds the dispatcher may use. With a limit of 0, [`build`](Self::build) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::dispatcher::Dispatcher;
    ///
    /// // Eight threads for jobs that wait, and no more than two of them compute.
    /// let dispatcher = Dispatcher::builder().threads(8).cpu_limit(2).subpool("disk", 6).build()?;
    /// assert_eq!(dispatcher.cpu().status().limit, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cpu_limit(mut self, limit: usize) -> Self {
        self.extra.cpu_limit = Some(limit);
        self
    }

    /// Whether the CPU subpool's jobs of [`Priority::NORMAL`] start in the order in which they were submitted, as all
    /// other jobs do. The default is `false`: they are queued as in the work-stealing pool, which keeps no order among
    /// workers, nor between jobs from outside and jobs that jobs submit.
    ///
    /// What it costs: such jobs go through one queue, with a lock at each end, instead of one queue for each worker,
    /// and all workers take turns at it. A job submitted by a job takes some ten times as long ([figures][cost]), and
    /// all workers together take no more of them in a second than one does. If only some jobs need an order, give these
    /// a [`subpool`](Self::subpool) of their own; with a limit of 1 it is much cheaper.
    ///
    /// [cost]: https://github.com/Bathtor/rust-executors/blob/master/docs/results/dispatcher.md#empty-repost
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Executor, Pool, dispatcher::Dispatcher};
    /// use std::sync::mpsc::channel;
    ///
    /// let dispatcher = Dispatcher::builder().threads(1).strict_order(true).build()?;
    /// let (tell, told) = channel();
    /// for number in 0..1000 {
    ///     let tell = tell.clone();
    ///     dispatcher.execute(move || tell.send(number).unwrap_or_default());
    /// }
    /// drop(tell);
    /// assert!(told.into_iter().eq(0..1000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strict_order(mut self, strict: bool) -> Self {
        self.extra.strict = strict;
        self
    }

    /// The subpool and the priority of jobs that are given to the [`Dispatcher`] itself, or by its start hooks
    /// ([`try_execute_locally`](crate::try_execute_locally)). The default is the CPU subpool and [`Priority::NORMAL`].
    /// What a job gives by `try_execute_locally` stays in the job's own subpool. If no subpool has that name,
    /// [`build`](Self::build) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use executors::{Pool, dispatcher::{Dispatcher, Priority}};
    ///
    /// let builder = Dispatcher::builder().threads(2).subpool("disk", 1).main_subpool("disk", Priority::LOW);
    /// let dispatcher = builder.build()?;
    /// dispatcher.subpool("disk")?.pause();
    /// let waiting = dispatcher.submit(|| "of the disk");
    /// assert_eq!(dispatcher.subpool("disk")?.status().queued, 1);
    /// dispatcher.subpool("disk")?.resume();
    /// assert_eq!(waiting.wait()?, "of the disk");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn main_subpool(mut self, name: impl Into<String>, priority: Priority) -> Self {
        self.extra.main = Some((name.into(), priority));
        self
    }
}

/// Which threads have which seats.
struct Plan {
    sharing: usize,
    threads: usize,
    /// How many of the sharing threads, the first ones, are started at once.
    warm: usize,
    /// The seats of the bound subpools.
    seats: Vec<usize>,
}

impl Extra {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.subpools.iter().map(|(name, _limit)| name).chain(&self.bound)
    }

    fn check_names(&self) -> Result<(), BuildError> {
        let names: Vec<&str> = [CPU].into_iter().chain(self.names().map(String::as_str)).collect();
        match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            Some((_, &name)) => Err(Misfit::SubpoolTwice { name: name.to_owned() }.into()),
            None => Ok(()),
        }
    }

    /// The limits of the CPU subpool and of the subpools that were added with a limit.
    fn limits(&self, options: &Options) -> Result<Vec<usize>, BuildError> {
        let cpu_limit = match (self.cpu_limit, options.threads) {
            (Some(limit), _) => limit,
            (None, Some(_)) => core_count(),
            (None, None) => options.thread_count()?,
        };
        let cpu = (CPU, cpu_limit);
        let named = self.subpools.iter().map(|(name, limit)| (name.as_str(), *limit));
        let all: Vec<_> = [cpu].into_iter().chain(named).collect();
        if all.len() > MAX_SUBPOOLS {
            return Err(Misfit::TooManySubpools { asked: all.len(), limit: MAX_SUBPOOLS }.into());
        }
        match all.iter().find(|(_name, limit)| *limit == 0) {
            Some((name, _)) => Err(BuildError::of_one_kind(LimitError::zero(name))),
            None => Ok(all.into_iter().map(|(_name, limit)| limit).collect()),
        }
    }

    fn plan(&self, options: &Options) -> Result<Plan, BuildError> {
        let (asked, bound) = (options.thread_count()?, self.bound.len());
        let threads = match options.threads {
            Some(_) => asked,
            None => asked.saturating_add(self.reserve.unwrap_or(bound)),
        };
        let option = match (options.threads, self.reserve) {
            (Some(_), _) | (None, None) => "threads",
            (None, Some(_)) => "reserve",
        };
        check_threads(option, threads)?;
        let reserve = self.reserve.unwrap_or(bound.min(threads - 1));
        if bound > threads {
            return Err(Misfit::TooManyBound { bound, threads }.into());
        }
        if reserve >= threads {
            return Err(Misfit::AllReserved { reserve, threads }.into());
        }
        if reserve > bound {
            return Err(Misfit::ReservedForNothing { reserve, bound }.into());
        }
        let preheat = options.preheat.unwrap_or(threads);
        let sharing = threads - reserve;
        let seats = (0..bound).map(|subpool| (sharing + subpool) % threads).collect();
        let warm = preheat.saturating_sub(reserve).clamp(1.max(bound - reserve), sharing);
        Ok(Plan { sharing, threads, warm, seats })
    }
}

impl Build for Dispatcher {}

impl Recipe for Dispatcher {
    type Extra = Extra;

    #[allow(private_interfaces, reason = "see the trait")]
    fn build(options: Options, extra: Extra) -> Result<Self, BuildError> {
        options.placement.check(CHARTER.label)?;
        let Fairness::Counted(age) = options.fairness.unwrap_or(CHARTER.fairness) else {
            let remedy = "lower priorities get their turn after a number of jobs: choose `Fairness::Counted`";
            return Err(BuildErrorKind::Unsupported { option: "Fairness::Timed", pool: CHARTER.label, remedy }.into());
        };
        let Plan { sharing, threads, warm, seats } = extra.plan(&options)?;
        extra.check_names()?;
        let limits = extra.limits(&options)?;
        let names: Vec<String> = [CPU.to_owned()].into_iter().chain(extra.names().cloned()).collect();
        let (main, priority) = match &extra.main {
            None => (dispatch::CPU, Priority::NORMAL),
            Some((name, priority)) => {
                let subpool = names.iter().position(|known| known == name);
                let unknown = || Misfit::UnknownMain { name: name.clone(), known: names.clone() };
                (subpool.ok_or_else(unknown)?, *priority)
            }
        };
        let neighbourhood = Neighbourhood::of_machine(sharing, &options.placement);
        let source = DispatchSource::new(sharing, neighbourhood, &limits, &seats, age);
        let source = if extra.strict { source.in_strict_order() } else { source };
        let source = source.with_names(names).with_main(main, priority.level());
        let (terms, cold, parker) = (Terms::fixed(threads), warm..sharing, TwoParkers::new(sharing));
        let handle = CrewHandle::start(Setup { terms, cold, source, parker, charter: CHARTER, options })?;
        Ok(Dispatcher { handle })
    }
}
