//! One contract, tested on every executor, every parker and every policy.
//!
//! The topics are in `conformance/`: plain functions over a [`Subject`](topics::subject::Subject). This file lists the
//! subjects, and the topics that are tested on each of them. To test another pool, add a line to the subjects; to test
//! more of all pools, add a function, and its name to the list of its topic.
//!
//! The check of optimised code is brief (`executors_brief`) because all of this takes minutes to optimise: it tests the
//! work-stealing pool and the burst pool, which use most of the unsafe code in this crate. The stress suite tests all
//! pools there, too.
#![cfg_attr(
    not(all(
        feature = "cb-channel-exec",
        feature = "workstealing-exec",
        feature = "threadpool-exec",
        feature = "elastic-exec",
        feature = "burst-exec",
        feature = "dispatcher-exec",
        not(executors_brief)
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "a pool that is not there answers for nothing")
)]

mod support;

#[path = "conformance"]
mod topics {
    pub(crate) mod building;
    pub(crate) mod closing;
    #[cfg(feature = "_futures")]
    pub(crate) mod continuations;
    #[cfg(feature = "_futures")]
    pub(crate) mod detached;
    pub(crate) mod discarding;
    pub(crate) mod dropping;
    #[cfg(feature = "_futures")]
    pub(crate) mod futures;
    #[cfg(feature = "_futures")]
    pub(crate) mod groups;
    pub(crate) mod handles;
    pub(crate) mod idling;
    #[cfg(feature = "produce-metrics")]
    pub(crate) mod metrics;
    pub(crate) mod panics;
    #[cfg(feature = "workstealing-exec")]
    pub(crate) mod parkers;
    #[cfg(feature = "thread-pinning")]
    pub(crate) mod pinning;
    pub(crate) mod preheating;
    pub(crate) mod running;
    pub(crate) mod sequences;
    #[cfg(feature = "_futures")]
    pub(crate) mod serial;
    pub(crate) mod spreading;
    pub(crate) mod statistics;
    pub(crate) mod subject;
    pub(crate) mod timers;
    pub(crate) mod tools;
    pub(crate) mod waiting;
}

/// Makes a `#[test]` of each named function of a topic, run on the subject.
macro_rules! tests {
    ($subject:expr; $($topic:ident: $($test:ident)+;)+) => { $(
        mod $topic {
            use super::*;

            $(
                #[test]
                fn $test() {
                    crate::support::case::begin(concat!(module_path!(), "::", stringify!($test)));
                    crate::topics::$topic::$test(&$subject);
                }
            )+
        }
    )+ };
}

/// Tests for every executor, including the one without threads.
macro_rules! every_executor {
    ($subject:expr) => {
        mod every_executor {
            use super::*;

            tests! { $subject;
                closing:
                    a_rejected_job_comes_back
                    a_second_shutdown_is_an_error
                    captures_of_a_refused_batch_may_panic
                    ignored_jobs_are_dropped_with_a_warning;
                handles:
                    a_closed_pool_drops_the_job
                    a_finished_job_is_ready
                    a_handle_is_a_future
                    jobs_may_wait_recursively
                    the_panic_arrives
                    the_value_arrives;
                groups: a_group_has_the_result_of_each;
                panics:
                    panics_are_counted_once
                    payloads_that_panic_when_dropped_are_survived
                    results_that_panic_at_the_handle_are_survived
                    results_that_panic_when_dropped_are_survived;
                running:
                    a_batch_from_a_job_runs
                    a_batch_of_unknown_length_is_not_held_back
                    a_batch_that_panics_leaves_the_pool_whole
                    agrees_with_the_plain_executor
                    boxed_jobs_run
                    captures_are_dropped_once
                    closures_of_any_size_and_alignment_run
                    closures_without_captures_run
                    each_job_of_a_batch_runs_once
                    huge_closures_run
                    each_job_runs_once
                    local_jobs_run_on_the_same_pool;
                sequences:
                    a_cluster_is_one_job
                    a_function_that_panics_when_dropped_costs_no_result
                    each_element_has_its_result;
                statistics:
                    a_new_pool_has_done_nothing
                    joined_jobs_are_counted;
                timers:
                    a_closed_executor_ends_scheduled_jobs
                    a_delay_counts_from_the_end
                    a_delayed_job_can_be_cancelled
                    a_job_runs_after_its_delay
                    a_period_of_zero_is_refused
                    a_rate_keeps_to_its_times
                    a_repetition_ends_with_time
                    a_repetition_may_begin_at_any_time
                    a_repetition_survives_panics
                    jobs_come_up_in_order;
                waiting:
                    a_join_waits_for_all_jobs_before_it
                    a_join_waits_for_the_jobs_of_jobs
                    an_idle_pool_does_not_block
                    waiting_from_a_worker_is_refused;
            }

            #[cfg(feature = "produce-metrics")]
            tests! { $subject; metrics: figures_of_several_executors_add_up jobs_are_published; }
        }
    };
}

/// Tests for every pool with threads, whatever its parker is: no job waits while a worker sleeps.
macro_rules! spreads {
    ($subject:expr) => {
        mod spreads {
            use super::*;

            tests! { $subject;
                futures: a_future_goes_on_while_the_pool_drains;
                spreading:
                    a_batch_reaches_all_threads
                    a_job_may_own_a_pool
                    a_sibling_runs_the_batch_of_a_blocked_worker
                    a_sibling_runs_the_job_of_a_blocked_worker
                    a_sibling_that_becomes_idle_runs_the_job
                    a_starting_pool_spreads_its_work
                    all_but_one_worker_may_block
                    all_threads_are_called_again_and_again
                    all_threads_work_at_the_same_time
                    executors_nest_on_one_thread
                    jobs_from_outside_are_not_starved
                    no_job_is_stranded_by_a_blocked_one
                    other_executors_in_between_change_nothing
                    pools_may_be_nested;
            }
        }
    };
}

/// Tests for every pool with threads in which no job waits for one particular worker.
macro_rules! every_pool {
    ($subject:expr) => {
        any_pool! { $subject }
        spreads! { $subject }

        mod every_pool {
            use super::*;

            tests! { $subject;
                // Its jobs wait for each other: none may wait behind one that a worker is running. (The other needs one
                // that waits, and does not run on its submitter.)
                handles: every_worker_may_wait detaching_drops_a_result_that_is_there;
                // It tells pools apart by their threads, so the threads have to stay.
                spreading: a_job_runs_on_the_pool_it_was_given_to;
                timers: a_job_that_waits_leaves_that_of_a_timer_to_others;
            }

            #[cfg(feature = "produce-metrics")]
            tests! { $subject; metrics: discarded_jobs_do_not_stay_queued jobs_that_run_do_not_count_as_queued; }
        }
    };
}

/// Tests for every pool with threads, even if a job may wait for one particular worker.
macro_rules! any_pool {
    ($subject:expr) => {
        in_turn! { $subject }
        runs_two! { $subject }

        mod any_pool {
            use super::*;

            // In these, all workers wait at a gate, or one job waits for another.
            tests! { $subject;
                building:
                    the_default_is_a_worker_for_each_core
                    the_environment_sets_the_number_of_threads
                    thread_names_begin_with_the_given_name;
                closing:
                    a_closed_pool_can_be_joined
                    a_draining_job_may_block_on_its_child
                    draining_jobs_may_spawn
                    many_threads_may_wait_for_the_end
                    shutdown_async_from_a_worker
                    shutdown_runs_the_backlog
                    shutdown_timeout_reports_unfinished_jobs;
                discarding:
                    no_late_job_begins_after_shutdown_now_has_returned
                    a_late_submitter_drops_no_job
                    jobs_that_leave_only_their_place_count_as_discarded
                    shutdown_now_discards_the_backlog;
                dropping:
                    a_closed_pool_may_be_dropped
                    idle_pools_of_any_size_end
                    the_backlog_runs
                    the_process_may_end_at_any_time;
                panics:
                    a_panicking_handler_is_survived
                    captures_that_panic_when_dropped_are_survived
                    workers_keep_their_names;
                statistics:
                    an_idle_pool_reports_all_workers_as_idle
                    running_and_queued_jobs_are_counted
                    workers_are_counted;
                timers: a_panic_is_reported_before_the_job_is_given_again;
                waiting: many_waiters_are_released;
            }
        }
    };
}

/// Tests for everything with threads that runs two jobs at a time, including subpool handles, which have no builder.
macro_rules! runs_two {
    ($subject:expr) => {
        mod runs_two {
            use super::*;

            // In these, two workers wait at a gate, or one job waits for another.
            tests! { $subject;
                continuations:
                    a_queued_future_can_be_cancelled
                    futures_that_panic_when_dropped_are_survived;
                detached:
                    a_detached_future_stays_on_its_pool
                    detached_futures_run_to_their_end
                    every_wake_up_of_a_detached_future_is_answered;
                futures:
                    a_future_woken_from_elsewhere_stays_on_its_pool
                    a_job_may_wait_for_the_next_step_of_its_future
                    futures_that_yield_are_resumed;
                groups:
                    a_group_is_cancelled_as_a_whole
                    a_job_of_a_group_cannot_wait_for_itself
                    a_timeout_gives_the_group_back
                    the_waiter_of_a_group_runs_jobs_that_have_not_begun;
                handles:
                    a_future_that_waits_is_woken
                    a_timeout_gives_the_handle_back
                    a_waiting_job_can_be_cancelled
                    unobserved_jobs_run
                    waiting_does_not_move_a_job_to_another_pool;
                sequences:
                    clusters_are_cancelled_as_a_whole
                    clusters_whose_values_panic_when_dropped_are_survived;
                timers:
                    a_discarded_repetition_is_over
                    a_repetition_can_be_cancelled_in_each_stage;
            }
        }
    };
}

/// Tests for every pool with threads, even if it runs one job at a time.
macro_rules! in_turn {
    ($subject:expr) => {
        has_threads! { $subject }

        mod in_turn {
            use super::*;

            tests! { $subject;
                building:
                    a_malformed_number_in_the_environment_is_refused
                    a_name_with_nul_is_refused
                    absurdly_many_threads_are_refused
                    no_threads_are_refused
                    pools_can_be_printed
                    stacks_are_as_large_as_asked_for
                    zero_in_the_environment_is_refused;
                closing:
                    a_job_may_shut_another_pool_down
                    a_pool_may_end_before_its_workers_have_started
                    parents_race_with_close
                    shutdown_from_a_worker_is_refused
                    shutdown_runs_the_backlog_with_any_number_of_threads
                    silent_submitters_race_with_close
                    submitters_race_with_close
                    the_last_running_job_may_spawn;
                discarding:
                    a_destructor_may_wait_for_the_waiter_of_its_job
                    a_discarded_job_may_discard_others
                    a_worker_that_waits_after_shutdown_now_drops_the_job
                    reports_add_up_when_discarding_races_with_submitting
                    shutdown_now_from_a_worker;
                dropping:
                    a_chain_of_local_jobs_outlives_the_last_handle
                    a_discarded_job_may_own_a_handle
                    a_handle_to_a_job_does_not_keep_its_pool_open
                    a_job_may_drop_another_pool
                    a_job_that_owns_a_handle_keeps_the_pool_open
                    a_queued_job_that_owns_a_handle_runs
                    a_remaining_handle_keeps_the_pool_open
                    a_worker_may_drop_the_last_handle
                    handles_that_a_job_has_dropped_count_no_more
                    no_thread_is_left_and_nothing_is_printed;
                detached: a_panic_of_a_detached_future_is_reported;
                futures:
                    a_future_may_own_its_pool
                    a_panic_reaches_the_awaiter;
                panics:
                    a_panicking_logger_changes_nothing
                    each_panic_is_reported_once
                    handlers_that_panic_when_dropped_are_survived
                    nothing_leaks_after_panics
                    other_jobs_are_unaffected
                    the_next_job_does_not_see_a_panic;
                running:
                    a_worker_keeps_its_jobs_in_order
                    each_job_runs_once_with_any_number_of_threads;
                statistics:
                    counters_never_go_back
                    jobs_run_by_their_waiters_are_counted_once
                    jobs_spawned_by_jobs_are_counted;
                timers: jobs_that_come_too_late_are_dropped_with_a_warning;
                waiting:
                    a_chain_of_jobs_is_never_idle
                    a_job_may_wait_for_another_pool
                    a_job_that_is_being_dropped_is_waited_for
                    a_queued_job_is_waited_for
                    a_running_job_is_waited_for
                    waiters_race_with_submitters;
            }
        }
    };
}

/// Tests for everything with threads, even if it runs one job at a time, including subpool handles, which have no
/// builder.
macro_rules! has_threads {
    ($subject:expr) => {
        every_executor! { $subject }

        mod has_threads {
            use super::*;

            tests! { $subject;
                continuations:
                    a_future_cannot_wait_for_itself
                    a_suspended_future_cannot_be_cancelled
                    a_waiting_future_holds_no_thread
                    a_waiting_worker_runs_the_future
                    a_waiting_worker_survives_a_future_that_panics_when_dropped
                    cancelling_races_with_the_first_step
                    each_outcome_of_a_future_has_its_type
                    handles_of_dropped_futures_report_it
                    huge_futures_run
                    jobs_can_be_chained
                    wakers_that_panic_are_survived;
                detached:
                    a_future_that_nobody_can_wake_is_dropped
                    a_future_that_yields_does_not_outlive_its_pool
                    detached_futures_end_with_their_pool
                    wakers_may_hold_a_lock_of_the_destructor
                    wakers_of_detached_futures_race_with_close;
                futures:
                    a_forgotten_future_keeps_no_thread
                    a_future_woken_after_the_end_is_cancelled
                    a_ready_future_gives_its_value
                    futures_may_wait_for_each_other
                    handles_cancel_or_detach
                    shutdown_now_cancels_futures
                    spawned_futures_that_panic_when_dropped_are_survived
                    wakers_race_with_close;
                groups:
                    jobs_may_wait_for_groups
                    the_results_of_a_dropped_group_are_dropped
                    the_waiter_of_a_group_runs_closures_before_futures;
                handles:
                    a_child_cannot_wait_for_the_job_that_runs_it
                    a_job_cannot_wait_for_itself
                    a_panic_does_not_pass_through_a_helping_waiter
                    a_running_job_cannot_be_cancelled
                    a_worker_may_wait_with_a_timeout
                    cancelling_ends_a_wait
                    cancelling_races_with_running;
                sequences: a_cluster_that_has_begun_runs_to_its_end;
                serial:
                    a_serial_function_that_panics_when_dropped_costs_no_result
                    a_serial_sequence_lets_others_run
                    a_serial_sequence_stops_early;
                timers:
                    a_repetition_does_not_overlap
                    a_repetition_owns_a_handle
                    cancelling_races_with_the_time;
            }
        }
    };
}

/// Tests for pools whose jobs start in the order in which they were submitted.
macro_rules! keeps_order {
    ($subject:expr) => {
        mod keeps_order {
            use super::*;

            tests! { $subject; running: several_workers_take_jobs_in_order; }
        }
    };
}

/// Tests for pools that start all of their threads when they are built.
macro_rules! starts_at_once {
    ($subject:expr) => {
        mod starts_at_once {
            use super::*;

            tests! { $subject; building: refused_threads_are_an_error; }
        }
    };
}

/// Tests for pools whose threads are this crate's own, and are all started when the pool is built.
macro_rules! every_crew {
    ($subject:expr) => {
        any_crew! { $subject }
        starts_at_once! { $subject }
    };
}

/// Tests for pools whose threads are this crate's own.
macro_rules! any_crew {
    ($subject:expr) => {
        every_pool! { $subject }
        has_hooks! { $subject }

        mod any_crew {
            use super::*;

            tests! { $subject;
                building: start_hooks_may_spawn;
                closing: shutdown_waits_for_destructors_of_thread_locals destructors_of_thread_locals_may_shut_down;
                waiting: a_waiter_is_released_though_a_new_job_comes;
            }
        }
    };
}

/// Tests for pools whose threads do what the builder says (they call hooks, and idle as configured), even if a job may
/// wait for one particular worker.
macro_rules! has_hooks {
    ($subject:expr) => {
        mod has_hooks {
            use super::*;

            tests! { $subject;
                building:
                    a_clone_of_a_builder_builds_such_a_pool
                    impossible_cores_are_refused
                    start_hooks_run_before_jobs
                    threads_are_named;
                closing:
                    hooks_have_run_when_shutdown_returns
                    jobs_of_stop_hooks_of_a_closed_pool_do_not_run
                    workers_leave;
                discarding:
                    a_job_that_is_dropped_within_a_wake_up_tells_its_waiter
                    no_job_begins_after_shutdown_now_has_returned
                    shutdown_now_discards_at_once;
                dropping:
                    a_job_may_block_on_its_child_after_the_last_handle;
                handles:
                    discarding_ends_a_wait;
                idling:
                    a_worker_goes_on_looking_while_a_thread_waits_for_all_jobs
                    a_worker_that_looks_for_long_closes_its_pool
                    a_worker_that_looks_for_long_keeps_no_thread_waiting;
                panics:
                    hooks_that_panic_when_dropped_are_survived
                    panicking_hooks_are_survived
                    panics_are_logged_with_pool_and_worker;
            }
        }
    };
}

/// Tests for pools whose workers sleep when there is nothing to do, and look around before.
macro_rules! sleeps {
    ($subject:expr) => {
        mod sleeps {
            use super::*;

            tests! { $subject; idling: sleeping_workers_use_no_processor_time sleeping_workers_wake_up spinning_ends_soon; }
        }
    };
}

/// Tests for pools whose parker serves no more threads than the subject's largest size.
macro_rules! is_limited {
    ($subject:expr) => {
        mod is_limited {
            use super::*;

            tests! { $subject; building: too_many_threads_are_refused; }
        }
    };
}

/// Tests for pools whose threads start when jobs need them, except for those that are preheated.
macro_rules! preheats {
    ($subject:expr) => {
        mod preheats {
            use super::*;

            tests! { $subject;
                preheating:
                    a_hook_may_wait_for_its_job_while_the_pool_closes
                    a_job_does_not_wait_for_a_hook
                    a_pool_may_end_before_its_threads_come
                    a_refused_thread_comes_later
                    no_needed_thread_is_missed
                    preheating_more_threads_than_there_are_starts_all;
            }
        }
    };
}

/// Tests for such pools whose parker tells whether a worker is free.
macro_rules! spares_threads {
    ($subject:expr) => {
        mod spares_threads {
            use super::*;

            tests! { $subject; preheating: one_job_at_a_time_needs_few_threads; }
        }
    };
}

/// Tests for pools in which a worker whose jobs come one by one keeps them to itself.
macro_rules! keeps_chains {
    ($subject:expr) => {
        mod keeps_chains {
            use super::*;

            tests! { $subject; idling: workers_sleep_beside_a_chain_that_a_closed_pool_drains; }
        }
    };
}

/// Tests for pools whose queue is bounded, or whose jobs are for certain workers, so that they do not hold back the
/// jobs of a batch.
macro_rules! announces_each {
    ($subject:expr) => {
        mod announces_each {
            use super::*;

            tests! { $subject; running: a_batch_of_known_length_is_not_held_back; }
        }
    };
}

/// Tests for pools that tell sleeping workers of several jobs of a batch at a time.
macro_rules! announces_in_steps {
    ($subject:expr) => {
        mod announces_in_steps {
            use super::*;

            tests! { $subject; running: each_step_of_a_batch_runs; }
        }
    };
}

/// A test that takes five seconds, and so is run on one pool only.
macro_rules! gives_up {
    ($subject:expr) => {
        mod gives_up {
            use super::*;

            tests! { $subject; closing: shutdown_gives_up_after_five_seconds; }
        }
    };
}

/// Tests that hold even for pools in which no job may wait: they submit no more jobs at a time than there are idle
/// workers, or do not depend on whether a job is taken.
macro_rules! even_full {
    ($subject:expr) => {
        mod even_full {
            use super::*;

            tests! { $subject;
                closing:
                    a_closed_pool_can_be_joined
                    a_draining_job_may_block_on_its_child
                    a_pool_may_end_before_its_workers_have_started
                    a_rejected_job_comes_back
                    a_second_shutdown_is_an_error
                    ignored_jobs_are_dropped_with_a_warning
                    silent_submitters_race_with_close;
                continuations:
                    a_queued_future_can_be_cancelled
                    a_suspended_future_cannot_be_cancelled
                    a_waiting_worker_runs_the_future
                    cancelling_races_with_the_first_step
                    each_outcome_of_a_future_has_its_type
                    futures_that_panic_when_dropped_are_survived
                    handles_of_dropped_futures_report_it;
                discarding: reports_add_up_when_discarding_races_with_submitting;
                dropping: a_job_may_block_on_its_child_after_the_last_handle a_remaining_handle_keeps_the_pool_open;
                futures:
                    a_forgotten_future_keeps_no_thread
                    a_future_goes_on_while_the_pool_drains
                    a_future_may_own_its_pool
                    a_future_woken_after_the_end_is_cancelled
                    a_job_may_wait_for_the_next_step_of_its_future
                    a_panic_reaches_the_awaiter
                    a_ready_future_gives_its_value
                    futures_that_yield_are_resumed
                    handles_cancel_or_detach
                    shutdown_now_cancels_futures
                    wakers_race_with_close;
                handles:
                    a_closed_pool_drops_the_job
                    a_finished_job_is_ready
                    a_job_cannot_wait_for_itself
                    a_running_job_cannot_be_cancelled;
                panics:
                    a_panicking_logger_changes_nothing
                    nothing_leaks_after_panics
                    payloads_that_panic_when_dropped_are_survived;
                running: captures_are_dropped_once;
                serial: a_serial_sequence_stops_early;
                spreading:
                    a_starting_pool_spreads_its_work
                    all_threads_work_at_the_same_time
                    executors_nest_on_one_thread
                    pools_may_be_nested;
                statistics:
                    a_new_pool_has_done_nothing
                    an_idle_pool_reports_all_workers_as_idle
                    workers_are_counted;
                timers:
                    a_closed_executor_ends_scheduled_jobs
                    a_delay_counts_from_the_end
                    a_delayed_job_can_be_cancelled
                    a_job_runs_after_its_delay
                    a_period_of_zero_is_refused
                    a_rate_keeps_to_its_times
                    a_repetition_does_not_overlap
                    a_repetition_survives_panics
                    cancelling_races_with_the_time;
                waiting:
                    a_running_job_is_waited_for
                    a_waiter_is_released_though_a_new_job_comes
                    an_idle_pool_does_not_block
                    many_waiters_are_released
                    waiting_from_a_worker_is_refused;
            }
        }
    };
}

/// Tests for such pools that run whatever they take.
macro_rules! keeps_what_it_takes {
    ($subject:expr) => {
        mod keeps_what_it_takes {
            use super::*;

            tests! { $subject; closing: submitters_race_with_close parents_race_with_close; }
        }
    };
}

/// Tests for pools that have no room for waiting jobs, but lose none. Where jobs submit jobs, they are so few that at
/// least one worker runs none of them.
macro_rules! loses_nothing {
    ($subject:expr) => {
        keeps_what_it_takes! { $subject }

        mod loses_nothing {
            use super::*;

            tests! { $subject;
                closing:
                    a_job_may_shut_another_pool_down
                    hooks_have_run_when_shutdown_returns
                    many_threads_may_wait_for_the_end
                    shutdown_from_a_worker_is_refused
                    shutdown_runs_the_backlog_with_any_number_of_threads
                    the_last_running_job_may_spawn
                    workers_leave;
                continuations: a_waiting_future_holds_no_thread jobs_can_be_chained;
                dropping:
                    a_closed_pool_may_be_dropped
                    a_job_may_drop_another_pool
                    a_job_that_owns_a_handle_keeps_the_pool_open
                    idle_pools_of_any_size_end
                    no_thread_is_left_and_nothing_is_printed
                    the_process_may_end_at_any_time;
                groups: a_group_has_the_result_of_each;
                handles:
                    a_handle_is_a_future
                    cancelling_races_with_running
                    the_panic_arrives
                    the_value_arrives;
                panics:
                    a_panicking_handler_is_survived
                    each_panic_is_reported_once
                    handlers_that_panic_when_dropped_are_survived
                    other_jobs_are_unaffected
                    panicking_hooks_are_survived
                    panics_are_counted_once
                    panics_are_logged_with_pool_and_worker
                    results_that_panic_when_dropped_are_survived
                    the_next_job_does_not_see_a_panic
                    workers_keep_their_names;
                running:
                    a_batch_from_a_job_runs
                    a_batch_that_panics_leaves_the_pool_whole
                    boxed_jobs_run
                    closures_of_any_size_and_alignment_run
                    closures_without_captures_run
                    each_job_of_a_batch_runs_once
                    huge_closures_run
                    local_jobs_run_on_the_same_pool;
                sequences: a_cluster_is_one_job each_element_has_its_result;
                spreading:
                    a_job_may_own_a_pool
                    a_sibling_runs_the_job_of_a_blocked_worker
                    all_but_one_worker_may_block;
                statistics: counters_never_go_back joined_jobs_are_counted;
                timers: a_repetition_owns_a_handle jobs_come_up_in_order;
                waiting:
                    a_job_may_wait_for_another_pool
                    a_join_waits_for_all_jobs_before_it
                    a_join_waits_for_the_jobs_of_jobs
                    waiters_race_with_submitters;
            }
        }
    };
}

/// Tests for such pools that run each job on a worker, rather than within the job that submits it.
macro_rules! runs_on_workers {
    ($subject:expr) => {
        mod runs_on_workers {
            use super::*;

            tests! { $subject;
                futures: a_future_woken_from_elsewhere_stays_on_its_pool;
                handles: waiting_does_not_move_a_job_to_another_pool;
                spreading:
                    a_job_runs_on_the_pool_it_was_given_to
                    a_sibling_that_becomes_idle_runs_the_job
                    all_threads_are_called_again_and_again;
                waiting: a_chain_of_jobs_is_never_idle;
            }
        }
    };
}

/// Tests for such pools that take a job from any job, whatever the other workers do.
macro_rules! takes_from_all {
    ($subject:expr) => {
        mod takes_from_all {
            use super::*;

            tests! { $subject;
                closing: draining_jobs_may_spawn shutdown_async_from_a_worker;
                dropping: a_chain_of_local_jobs_outlives_the_last_handle a_worker_may_drop_the_last_handle;
                futures: futures_may_wait_for_each_other;
                groups: jobs_may_wait_for_groups;
                handles:
                    a_child_cannot_wait_for_the_job_that_runs_it
                    a_panic_does_not_pass_through_a_helping_waiter
                    a_worker_may_wait_with_a_timeout
                    every_worker_may_wait
                    jobs_may_wait_recursively;
                running:
                    agrees_with_the_plain_executor
                    each_job_runs_once
                    each_job_runs_once_with_any_number_of_threads;
                serial: a_serial_sequence_lets_others_run;
                spreading: a_batch_reaches_all_threads other_executors_in_between_change_nothing;
                statistics: jobs_run_by_their_waiters_are_counted_once;
            }

            #[cfg(feature = "produce-metrics")]
            tests! { $subject; metrics: figures_of_several_executors_add_up jobs_are_published; }
        }
    };
}

/// Tests for pools that pin their workers, even if no cores are given.
#[cfg(feature = "thread-pinning")]
macro_rules! pins {
    ($subject:expr) => {
        takes_cores! { $subject }

        mod pins {
            use super::*;

            tests! { $subject; pinning: automatic_placement_goes_round_the_cores_once; }
        }
    };
}

/// Tests for pools whose workers float unless cores are given.
#[cfg(feature = "thread-pinning")]
macro_rules! floats_by_itself {
    ($subject:expr) => {
        mod floats_by_itself {
            use super::*;

            tests! { $subject; pinning: automatic_placement_pins_no_worker; }
        }
    };
}

/// Tests for pools that can pin their workers.
#[cfg(feature = "thread-pinning")]
macro_rules! takes_cores {
    ($subject:expr) => {
        mod takes_cores {
            use super::*;

            tests! { $subject;
                pinning:
                    a_pinned_submitter_pins_no_worker
                    floating_workers_go_anywhere
                    workers_may_share_a_core
                    workers_sit_on_their_cores;
            }
        }
    };
}

#[cfg(not(executors_brief))]
mod run_now {
    use crate::topics::subject::RunNow;

    every_executor! { RunNow }
}

/// The pool of another crate: its threads leave only after the last handle is gone, all have the same name, it has no
/// hooks and policies, and it cannot take back what was submitted, so it discards a job only when the job's turn comes.
/// When the last handle is gone, it takes no more jobs, so what a job then gives to its thread stays on that thread.
#[cfg(all(feature = "threadpool-exec", not(executors_brief)))]
mod threadpool {
    use crate::topics::subject::Threadpool;

    every_pool! { Threadpool }
    keeps_order! { Threadpool }
    starts_at_once! { Threadpool }
    tests! { Threadpool; idling: sleeping_workers_use_no_processor_time sleeping_workers_wake_up; }
    announces_each! { Threadpool }

    mod differs {
        use super::*;

        tests! { Threadpool;
            building: options_that_cannot_be_honoured_are_refused;
            dropping: what_destructors_of_thread_locals_give_is_dropped;
        }
    }
}

#[cfg(all(feature = "cb-channel-exec", not(executors_brief)))]
mod channel {
    macro_rules! policy {
        ($name:ident: $idle:expr, $placement:expr, $sizes:expr; $($group:ident)+) => {
            mod $name {
                use crate::topics::subject::{self, Channel};
                use executors::{Idle, Placement};

                static SUBJECT: Channel = Channel { idle: $idle, placement: $placement, sizes: $sizes };

                $( $group! { SUBJECT } )+
            }
        };
    }

    // The first thread starts at once, the others when they are needed; where workers spin, all at once.
    policy! {
        sleeping: Idle::PARK, Placement::Floating, subject::ANY;
        any_crew keeps_order preheats spares_threads sleeps gives_up announces_in_steps
    }
    policy! { spinning: Idle::Spin, Placement::Floating, subject::ANY; every_crew keeps_order }
    #[cfg(feature = "thread-pinning")]
    policy! { pinned: Idle::PARK, Placement::Auto, subject::ANY; any_crew keeps_order sleeps pins }
}

#[cfg(feature = "burst-exec")]
mod burst {
    macro_rules! policy {
        (
            $name:ident: $idle:expr, $steals:expr, $when_busy:expr, $placement:expr, $sizes:expr;
            $($group:ident)+
        ) => {
            mod $name {
                use crate::topics::subject::{self, Burst};
                use executors::{Placement, burst_pool::WhenBusy};

                static SUBJECT: Burst = Burst {
                    idle: $idle, steals: $steals, when_busy: $when_busy, placement: $placement, sizes: $sizes,
                };

                $( $group! { SUBJECT } )+
            }
        };
    }

    use executors::Idle;

    const SLEEP: Idle = Idle::Park { spin: std::time::Duration::ZERO };

    policy! {
        stealing: super::SLEEP, true, WhenBusy::Queue, Placement::Floating, subject::ANY;
        every_crew sleeps announces_in_steps
    }
    policy! { looking: super::Idle::PARK, true, WhenBusy::Queue, Placement::Floating, subject::FEW; every_crew sleeps }
    policy! { spinning: super::Idle::Spin, true, WhenBusy::Queue, Placement::Floating, subject::ANY; every_crew }
    #[cfg(feature = "thread-pinning")]
    policy! { pinned: super::SLEEP, true, WhenBusy::Queue, Placement::Auto, subject::ANY; every_crew sleeps pins }
    // Without stealing, a job may wait behind another although a worker is idle; everything else holds.
    policy! {
        dealing: super::SLEEP, false, WhenBusy::Queue, Placement::Floating, subject::ANY;
        any_pool starts_at_once has_hooks sleeps announces_each
    }
    // No job may wait, so these are full all the time.
    policy! {
        refusing: super::SLEEP, true, WhenBusy::Refuse, Placement::Floating, subject::FEW;
        even_full keeps_what_it_takes sleeps
    }
    policy! {
        blocking: super::SLEEP, true, WhenBusy::Block { timeout: None }, Placement::Floating, subject::FEW;
        even_full loses_nothing runs_on_workers sleeps
    }
}

/// Handles to a subpool and to a dispatcher differ in name only, so the main subpool is tested here.
#[cfg(all(feature = "dispatcher-exec", not(executors_brief)))]
mod dispatcher {
    macro_rules! policy {
        (
            $name:ident: $main:expr, $equip:expr, $idle:expr, $fairness:expr, $placement:expr, $sizes:expr;
            $($group:ident)+
        ) => {
            mod $name {
                use crate::topics::subject::{self, Dispatched};
                use executors::{Fairness, Idle, Placement, dispatcher::Priority};

                static SUBJECT: Dispatched = Dispatched {
                    main: $main, equip: $equip, idle: $idle, fairness: $fairness, placement: $placement, sizes: $sizes,
                };

                $( $group! { SUBJECT } )+
            }
        };
    }

    policy! {
        cpu: ("cpu", Priority::NORMAL), |builder| builder, Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::ANY;
        every_crew sleeps announces_in_steps
    }
    policy! {
        spinning: ("cpu", Priority::NORMAL), |builder| builder, Idle::Spin,
        Fairness::COUNTED, Placement::Floating, subject::FEW;
        every_crew
    }
    policy! {
        limited: ("limited", Priority::NORMAL), |builder| builder, Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::ANY;
        every_crew sleeps
    }
    // Takes turns after each job, which is the rare branch otherwise.
    policy! {
        restless: ("cpu", Priority::HIGH), |builder| builder,
        Idle::Park { spin: std::time::Duration::ZERO }, Fairness::Counted(1), Placement::Floating, subject::FEW;
        every_crew sleeps
    }
    policy! {
        strict: ("cpu", Priority::NORMAL), |builder| builder.strict_order(true), Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::FEW;
        every_crew keeps_order sleeps
    }
    // Starts its threads one by one, as jobs need them; a thread that is refused is no error then.
    policy! {
        cold: ("cpu", Priority::NORMAL), |builder| builder.preheat(0), Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::ANY;
        any_crew preheats spares_threads sleeps
    }
    // One job at a time is less than the others promise: tests that need two jobs that wait for each other, or that
    // occupy all workers, are left out.
    policy! {
        serial: ("serial", Priority::NORMAL), |builder| builder, Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::FEW;
        in_turn
    }
    policy! {
        bound: ("bound", Priority::NORMAL), |builder| builder, Idle::PARK,
        Fairness::COUNTED, Placement::Floating, subject::FEW;
        in_turn announces_each
    }
    // Subpools by their own handles, which have no builder.
    mod handles {
        macro_rules! handle {
            ($name:ident: $($group:ident)+) => {
                mod $name {
                    use crate::topics::subject::Part;

                    $( $group! { Part(stringify!($name)) } )+
                }
            };
        }

        handle! { cpu: has_threads runs_two }
        handle! { limited: has_threads runs_two }
        handle! { serial: has_threads }
        handle! { bound: has_threads }
    }
    #[cfg(feature = "thread-pinning")]
    policy! {
        pinned: ("cpu", Priority::LOWEST), |builder| builder, Idle::PARK,
        Fairness::COUNTED, Placement::Auto, subject::ANY;
        every_crew sleeps pins
    }
}

#[cfg(all(feature = "elastic-exec", not(executors_brief)))]
mod elastic {
    macro_rules! policy {
        ($name:ident: $leaves:expr, $idle:expr, $growth:expr, $saturation:expr, $sizes:expr; $($group:ident)+) => {
            mod $name {
                use crate::topics::subject::{self, Elastic};
                use executors::{Idle, elastic_pool::{Growth, Saturation}};

                static SUBJECT: Elastic = Elastic {
                    leaves: $leaves, idle: $idle, growth: $growth, saturation: $saturation, sizes: $sizes,
                };

                $( $group! { SUBJECT } )+
            }
        };
    }

    // Each job starts a thread until all are there; `tests/elastic.rs` tests other sizes and times.
    policy! {
        sleeping: false, Idle::PARK, Growth::WhenBusy, Saturation::Queue, subject::ANY;
        any_crew sleeps announces_in_steps
    }
    policy! { spinning: false, Idle::Spin, Growth::WhenBusy, Saturation::Queue, subject::ANY; any_crew }
    policy! { replacing: false, Idle::PARK, Growth::WhenBlocked, Saturation::Queue, subject::ANY; any_crew sleeps }
    // Workers are pinned only if cores are given.
    #[cfg(feature = "thread-pinning")]
    policy! {
        placed: false, Idle::PARK, Growth::WhenBusy, Saturation::Queue, subject::ANY;
        takes_cores floats_by_itself
    }
    #[cfg(feature = "thread-pinning")]
    policy! {
        placed_without_core: true, Idle::PARK, Growth::WhenBusy, Saturation::Queue, subject::ANY;
        takes_cores floats_by_itself
    }
    // Bounds that no topic reaches, but for which each of its jobs is counted.
    policy! {
        bounded: false, Idle::PARK, Growth::WhenBusy, Saturation::Refuse { queue: 1_000_000 }, subject::ANY;
        any_crew sleeps announces_each
    }
    policy! {
        expendable: false, Idle::PARK, Growth::WhenBusy, Saturation::DiscardOldest { queue: 1_000_000 }, subject::ANY;
        any_crew sleeps
    }
    policy! {
        patient: false, Idle::PARK, Growth::WhenBusy, Saturation::Block { queue: 1_000_000, timeout: None },
        subject::FEW;
        any_crew sleeps announces_each
    }
    policy! {
        helped: false, Idle::PARK, Growth::WhenBusy, Saturation::RunOnCaller { queue: 1_000_000 }, subject::FEW;
        any_crew sleeps
    }
    // Bounds that the topics reach all the time.
    policy! {
        blocking: false, Idle::PARK, Growth::WhenBusy, Saturation::Block { queue: 1, timeout: None }, subject::FEW;
        even_full loses_nothing runs_on_workers sleeps
    }
    policy! {
        helping: false, Idle::PARK, Growth::WhenBusy, Saturation::RunOnCaller { queue: 0 }, subject::FEW;
        even_full loses_nothing takes_from_all sleeps
    }
    policy! {
        refusing: false, Idle::PARK, Growth::WhenBusy, Saturation::Refuse { queue: 1 }, subject::FEW;
        even_full keeps_what_it_takes sleeps
    }
    policy! {
        discarding: false, Idle::PARK, Growth::WhenBusy, Saturation::DiscardOldest { queue: 1 }, subject::FEW;
        even_full sleeps
    }
    // Workers come and go all the time. (The other tests are about a fixed number of them.)
    policy! {
        leaving: true, Idle::PARK, Growth::WhenBusy, Saturation::Queue, subject::ANY;
        every_executor spreads
    }
}

#[cfg(feature = "workstealing-exec")]
mod stealing {
    use crate::topics::subject::{self, Stealing};
    use executors::{Fairness, Idle, Placement, parker::DynParker};

    macro_rules! policy {
        (
            $name:ident: $parker:ty = $equip:expr,
            $idle:expr, $fairness:expr, $placement:expr, $sizes:expr; $($group:ident)+
        ) => {
            mod $name {
                use super::*;

                static SUBJECT: Stealing<$parker> = Stealing {
                    equip: $equip, idle: $idle, fairness: $fairness, placement: $placement, sizes: $sizes,
                };

                $( $group! { SUBJECT } )+
            }
        };
    }

    /// All policies, with the default parker.
    mod automatic {
        use super::*;

        macro_rules! with {
            ($name:ident: $idle:expr, $fairness:expr, $placement:expr; $($group:ident)+) => {
                policy! {
                    $name: DynParker = |builder| builder, $idle, $fairness, $placement, subject::ANY; $($group)+
                }
            };
        }

        with! {
            sleeping_timed: Idle::PARK, Fairness::TIMED, Placement::Floating;
            any_crew preheats sleeps keeps_chains spares_threads announces_in_steps
        }
        with! { sleeping_counted: Idle::PARK, Fairness::COUNTED, Placement::Floating; any_crew preheats sleeps }
        with! { spinning_timed: Idle::Spin, Fairness::TIMED, Placement::Floating; every_crew }
        with! { spinning_counted: Idle::Spin, Fairness::COUNTED, Placement::Floating; every_crew }
        #[cfg(feature = "thread-pinning")]
        with! { pinned: Idle::PARK, Fairness::TIMED, Placement::Auto; any_crew sleeps pins }
    }

    /// Each parker that a user can choose, with the usual policies.
    #[cfg(not(executors_brief))]
    mod chosen {
        use super::*;
        use crate::support::naive_parker::NaiveParker;
        use executors::parker;

        fn erased(parker: Result<DynParker, impl Sized>) -> DynParker {
            parker.unwrap_or_else(|_| unreachable!("a new parker has no clones"))
        }

        macro_rules! with {
            ($name:ident: $parker:ty = $equip:expr, $sizes:expr; $($group:ident)*) => {
                policy! {
                    $name: $parker = $equip, Idle::PARK, Fairness::TIMED, Placement::Floating, $sizes;
                    any_crew preheats sleeps $($group)*
                }
            };
        }

        with! {
            small: DynParker = |builder| builder.parker(erased(parker::small().dynamic())), subject::UP_TO_32;
            is_limited spares_threads
        }
        with! {
            large: DynParker = |builder| builder.parker(erased(parker::large().dynamic())), subject::UP_TO_64;
            is_limited spares_threads
        }
        with! { dynamic: DynParker = |builder| builder.parker(erased(parker::dynamic().dynamic())), subject::ANY; }
        with! { user_made: NaiveParker = |builder| builder.parker(NaiveParker::default()), subject::ANY; }
    }

    /// A parker that panics, or owns its pool.
    mod brittle {
        use crate::topics::parkers::Brittle;

        tests! { Brittle::default;
            parkers:
                a_future_is_dropped_with_the_last_worker
                a_job_in_the_hand_of_a_lost_worker_is_dropped
                a_lost_worker_is_no_longer_counted
                a_panic_at_the_end_keeps_no_worker
                a_panic_before_the_start_hook_costs_no_worker
                a_panic_while_a_worker_closes_the_pool_is_contained
                a_parker_may_drop_the_last_handle
                a_pool_that_has_lost_all_workers_ends
                jobs_wait_in_vain_for_lost_workers;
        }
    }

    /// A parker that wraps another.
    mod wrapping {
        use crate::topics::parkers::Wrapper;

        tests! { Wrapper::answering;
            parkers:
                a_parker_is_told_of_jobs_from_inside_that_need_a_call
                a_parker_is_told_of_jobs_unless_no_worker_sleeps
                a_parker_is_told_that_a_submitter_gives_way_and_goes_on
                a_parker_that_keeps_panicking_does_not_end_the_process;
        }
    }

    /// The same parkers, known at compile time. Their code is the same, so only the part of the contract that depends
    /// on the parker is tested: all of it would take too long to compile.
    #[cfg(not(executors_brief))]
    mod by_type {
        use super::*;
        use executors::parker::{self, DynamicThreadData, LargeThreadData, SmallThreadData, StaticParker};

        macro_rules! parker {
            ($name:ident: $data:ty = $parker:expr, $sizes:expr; $($group:ident)*) => {
                policy! {
                    $name: StaticParker<$data> = |builder| builder.parker($parker),
                    Idle::PARK, Fairness::TIMED, Placement::Floating, $sizes;
                    spreads $($group)*
                }
            };
        }

        parker! { small: SmallThreadData = parker::small(), subject::UP_TO_32; is_limited }
        parker! { large: LargeThreadData = parker::large(), subject::UP_TO_64; is_limited }
        parker! { dynamic: DynamicThreadData = parker::dynamic(), subject::ANY; }
    }

    // Never spins before it sleeps, and looks for jobs from outside after each job: the rare branches, all the time.
    policy! {
        restless: DynParker = |builder| builder,
        Idle::Park { spin: std::time::Duration::ZERO }, Fairness::Counted(1), Placement::Floating, subject::FEW;
        any_crew preheats sleeps
    }
}
