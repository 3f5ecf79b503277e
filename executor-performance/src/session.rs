//! All runs of one command, from the plan to the results.

mod doubts;
mod recorder;
mod rows;
mod supervised;

pub(crate) use self::rows::rows;

use self::{
    doubts::{backlog, kinship, lateness, noise},
    recorder::Recorder,
    supervised::{Supervised, Supervision},
};
use crate::{
    clock::Clock,
    experiment::{Experiment, Sample, Subject},
    interrupt::Interrupt,
    plan::{Planned, Prepared},
    record::{Reason, Record, Row, Run, Status, Stop, utc_now},
    sampler::{Pace, Series, Stopped, sample},
    sink::{Progress, Sink, Voice, error, warning},
    view::{self, number, percent},
};
use std::{
    fmt,
    io::{self, ErrorKind},
    mem,
    rc::Rc,
    time::Duration,
};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All went well.
    Done,
    /// An executor failed or was not measured, or results could not be written. It has been reported which and why.
    Failed,
    /// Something is slower than before, or fails and did not before. This outranks the others, because the user asked
    /// for it.
    Regressed,
}

/// Runs under way.
pub struct Session {
    record: Record,
    sinks: Vec<Box<dyn Sink>>,
    progress: Progress,
    interrupt: Interrupt,
    voice: Voice,
    outcome: Outcome,
    /// Whether there are several runs, so that messages about one have to say which.
    several: bool,
    /// Whether all runs are wanted even if no one reads the results.
    judged: bool,
    /// Whether all readers of the results have gone away.
    unread: bool,
    /// What could not be written. Each complaint is reported once, although writing is tried again and again.
    unwritten: Vec<String>,
}

impl Session {
    /// A session in which nothing has run yet. Results go to `sinks`; all runs together have the `budget`.
    pub fn new(
        record: Record,
        sinks: Vec<Box<dyn Sink>>,
        budget: Duration,
        interrupt: Interrupt,
        voice: Voice,
    ) -> Self {
        Session {
            record,
            sinks,
            progress: Progress::new(budget, voice < Voice::All),
            interrupt,
            voice,
            outcome: Outcome::Done,
            several: false,
            judged: false,
            unread: false,
            unwritten: Vec::new(),
        }
    }

    /// The same session. If it is `judged`, it goes on even if no one reads the results, because its outcome is wanted.
    #[must_use]
    pub fn judged(self, judged: bool) -> Self {
        Session { judged, ..self }
    }

    /// Whether nothing more is to be measured.
    fn wants_end(&self) -> bool {
        self.interrupt.came() || (self.unread && !self.judged)
    }

    /// Runs everything, unless it is interrupted. The outcome includes that of `conclude`.
    pub fn run(
        mut self,
        plan: Vec<Box<dyn Planned>>,
        conclude: impl FnOnce(&Record) -> Result<Outcome, String>,
    ) -> Outcome {
        self.warn(&self.record.program.doubts());
        let mut warned: Vec<String> = Vec::new();
        self.several = plan.len() > 1;
        for run in plan {
            if self.wants_end() {
                break;
            }
            let (doubts, budget) = (self.record.machine.doubts(run.threads()), run.budget());
            let news: Vec<String> =
                doubts.into_iter().chain(run.remarks()).filter(|doubt| !warned.contains(doubt)).collect();
            self.warn(&news);
            warned.extend(news);
            run.perform(&mut self);
            self.progress.run_ended(budget);
        }
        self.progress.clear();
        let is_empty = self.record.runs.is_empty();
        // The reader of a pipe may never read.
        self.interrupt.let_go();
        if !is_empty {
            self.each(|sink, record| sink.finish(record));
        }
        if self.interrupt.came() {
            self.fail(self.interrupted());
        } else if self.wants_end() {
            return self.outcome;
        }
        if is_empty {
            return self.outcome;
        }
        match conclude(&self.record) {
            Ok(outcome) => self.outcome = self.outcome.max(outcome),
            Err(why) => self.fail(&why),
        }
        self.outcome
    }

    /// A message about what an interrupt has left.
    fn interrupted(&self) -> &'static str {
        if self.record.has_results() {
            "interrupted: the results cover what was measured until then"
        } else {
            "interrupted before anything was measured"
        }
    }

    /// Performs one run.
    pub(crate) fn measure<X: Experiment>(&mut self, mut prepared: Prepared<X>) {
        let Prepared { pace, threads, .. } = prepared;
        // In this order: it depends on how many subjects there are.
        let exceeds = prepared.excess().is_some();
        let subjects = mem::take(&mut prepared.subjects);
        let supervision = Rc::new(Supervision::begin(self.interrupt.clone()));
        let supervised = |subject| Box::new(Supervised::new(subject, &supervision)) as Box<dyn Subject<X::Turn>>;
        let subjects: Vec<Box<dyn Subject<X::Turn>>> = subjects.into_iter().map(supervised).collect();
        let (began_utc, seed) = (utc_now(), self.record.program.seed);
        self.progress.doing("trying out how long a sample takes");
        prepared.experiment.fit(&pace, &subjects);
        supervision.end_trying();
        // All samples are to be taken in new processes: those in which something was tried out keep its memory.
        subjects.iter().for_each(|subject| subject.renew());
        if self.wants_end() {
            // A file from an earlier run is worth more than a run without samples.
            return;
        }

        let mut run = Run { began_utc, ..prepared.beginning() };
        let experiment = prepared.experiment;
        run.warnings = [self.record.program.doubts(), self.record.machine.doubts(threads)].concat();
        self.record.runs.push(run);
        self.each(|sink, record| sink.begin(record));

        let mut recorder = Recorder::new(self, &experiment);
        if !exceeds {
            recorder.look_at_first_round(pace, supervision.now());
        }
        let (series, stopped) = sample(&pace, &*supervision, seed, &experiment.turn(), &subjects, &mut recorder);

        let (seconds, surroundings) = (supervision.whole_time().as_secs_f64(), recorder.seen());
        let rows = rows(&experiment, &series, seed);
        let differing: Vec<bool> = series.iter().map(|series| series.differs).collect();
        let told = |run: &Run| (noise(run, &rows, pace.target), kinship(run, &rows, &differing, pace.target, seed));
        let (scatter, kinship) = self.record.runs.last().map(told).unwrap_or_default();
        let mut doubts = [surroundings.doubts(), scatter].concat();
        doubts.extend(kinship.into_iter().chain(backlog(&rows)).chain(lateness(&rows)));
        self.warn(&self.located(&doubts));
        let complaints = self.located(&complaints(&rows));
        self.update(|run| {
            run.rows = rows;
            run.seconds = seconds;
            run.surroundings = surroundings;
            run.warnings.extend(doubts);
            run.stop = Some(stop(&pace, &series, stopped, seconds));
        });
        self.each(|sink, record| sink.end(record));
        complaints.iter().for_each(|complaint| self.fail(complaint));
    }

    /// Changes the current run.
    fn update(&mut self, change: impl FnOnce(&mut Run)) {
        if let Some(run) = self.record.runs.last_mut() {
            change(run);
        }
    }

    /// What is to be said of the current run. If it is one of several, each line says of which.
    fn located(&self, doubts: &[String]) -> Vec<String> {
        let run = self.record.runs.last().filter(|_| self.several).map(view::distinction);
        let located = |doubt: &String| match &run {
            Some(run) => view::of_runs(doubt, std::slice::from_ref(run)),
            None => doubt.clone(),
        };
        doubts.iter().map(located).collect()
    }

    /// Does `step` with every sink, even if one of them fails. A failure is reported, unless the reader of the sink has
    /// gone away, such as `head`: then the sink gets nothing more.
    fn each(&mut self, mut step: impl FnMut(&mut dyn Sink, &Record) -> io::Result<()>) {
        let record = &self.record;
        let mut complaints = Vec::new();
        let mut gone = false;
        self.progress.aside(|| {
            self.sinks.retain_mut(|sink| match step(&mut **sink, record) {
                Err(why) if why.kind() == ErrorKind::BrokenPipe => {
                    gone = true;
                    false
                }
                Err(why) => {
                    complaints.push(format!("results could not be written: {why}"));
                    true
                }
                Ok(()) => true,
            });
        });
        self.unread |= gone && self.sinks.is_empty();
        complaints.retain(|complaint| !self.unwritten.contains(complaint));
        complaints.iter().for_each(|complaint| self.fail(complaint));
        self.unwritten.extend(complaints);
    }

    fn fail(&mut self, complaint: &str) {
        if self.voice >= Voice::Errors {
            self.progress.aside(|| error(complaint));
        }
        self.outcome = self.outcome.max(Outcome::Failed);
    }

    fn warn(&self, doubts: &[String]) {
        if self.voice >= Voice::All {
            self.progress.aside(|| doubts.iter().for_each(|doubt| warning(doubt)));
        }
    }
}

/// The executors without figures, except those for which an interrupt is the reason.
fn complaints(rows: &[Row]) -> Vec<String> {
    let of = |status, what| {
        let some = rows.iter().filter(|row| row.status() == status && !row.is_interrupted());
        let some: Vec<&str> = some.map(|row| row.executor.as_str()).collect();
        (!some.is_empty()).then(|| format!("{} of {} executors {what}: {}", some.len(), rows.len(), some.join(", ")))
    };
    [of(Status::Failed, "failed"), of(Status::NotMeasured, "were not measured")].into_iter().flatten().collect()
}

/// Why sampling stopped.
fn stop<S: Sample>(pace: &Pace, series: &[Series<S>], stopped: Stopped, seconds: f64) -> Stop {
    let sound = || series.iter().filter(|series| series.failure.is_none());
    let counts = || sound().map(|series| series.samples.len());
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    // An interrupted round has given some executors a sample, and others not.
    let samples = if least < most { format!("{least} or {most} samples") } else { number(most, "sample") };
    let all = sound().count() == series.len();
    let target = percent(pace.target);
    let budget = pace.budget_in_seconds();
    let (reason, why) = match stopped {
        Stopped::Precise => (Reason::Precise, format!("the RSE of each executor is at most {target} %")),
        Stopped::Budget => (Reason::Budget, format!("another round would exceed the budget of {budget} s")),
        Stopped::OverBudget => (Reason::Budget, format!("that took more than the budget of {budget} s")),
        Stopped::ProcessesDiffer => (
            Reason::Processes,
            format!(
                "processes differ too much for an RSE of {target} %, and others would exceed the budget of {budget} s"
            ),
        ),
        Stopped::Enough => (Reason::Enough, "no more are allowed".to_owned()),
        Stopped::NothingLeft => (Reason::NothingLeft, "no executor is left".to_owned()),
        Stopped::Interrupted => (Reason::Interrupted, "it was interrupted".to_owned()),
    };
    let remark = match stopped {
        Stopped::NothingLeft => format!("Stopped after {seconds:.1} s, as {why}."),
        _ if most == 0 => format!("Stopped after {seconds:.1} s without a sample, as {why}."),
        _ if all => format!("Stopped after {seconds:.1} s with {samples} of each executor, as {why}."),
        _ => format!("Stopped after {seconds:.1} s with {samples} of each executor that was measured, as {why}."),
    };
    Stop { reason, remark }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("record", &self.record).field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::{BurstsSample, BurstsTurn, OneLoad, Throughput, burst},
        failure::Failure,
        record::mock::record,
        registry::Ability,
        sink::Terminal,
        workload::{Labour, Load},
    };
    use std::cell::{Cell, RefCell};

    struct Nothing;

    impl Sample for Nothing {
        fn cost(&self) -> f64 {
            1.0
        }
    }

    #[test]
    fn what_stopped_says_how_many_samples_there_are_of_what_did_not_fail() {
        let pace =
            Pace { warm_up: 1, min_samples: 1, max_samples: 9, processes: 1, target: 0.02, budget: Duration::ZERO };
        let series = |samples: usize, failure| Series {
            name: "channel",
            samples: (0..samples).map(|_| Nothing).collect(),
            usages: Vec::new(),
            processes: Vec::new(),
            differs: false,
            failure,
        };
        let remark = |series: &[Series<Nothing>], stopped| stop(&pace, series, stopped, 1.0).remark;
        let failed = || Some(Failure::Interrupted);
        assert!(remark(&[series(1, None)], Stopped::Enough).contains("with 1 sample of each executor, as"));
        let told = remark(&[series(7, failed()), series(5, None)], Stopped::Enough);
        assert!(told.contains("with 5 samples of each executor that was measured, as"), "{told}");
        let told = remark(&[series(2, None)], Stopped::Precise);
        assert!(told.ends_with("as the RSE of each executor is at most 2 %."), "{told}");
        let told = remark(&[series(2, None)], Stopped::ProcessesDiffer);
        assert!(told.contains("as processes differ too much for an RSE of 2 %, and"), "{told}");
        let told = remark(&[series(2, None)], Stopped::OverBudget);
        assert!(told.ends_with("as that took more than the budget of 0 s."), "{told}");
        let told = remark(&[series(2, None), series(3, None)], Stopped::Interrupted);
        assert_eq!(told, "Stopped after 1.0 s with 2 or 3 samples of each executor, as it was interrupted.");
        let told = remark(&[series(0, failed()), series(0, None)], Stopped::Interrupted);
        assert_eq!(told, "Stopped after 1.0 s without a sample, as it was interrupted.");
        let told = remark(&[series(7, failed())], Stopped::NothingLeft);
        assert_eq!(told, "Stopped after 1.0 s, as no executor is left.");
    }

    #[test]
    fn an_interrupt_says_what_it_has_left() {
        let session = |record: Record| {
            let sinks: Vec<Box<dyn Sink>> = vec![Box::new(Terminal::new(Vec::new(), true))];
            Session::new(record, sinks, Duration::ZERO, Interrupt::default(), Voice::Silent)
        };
        let empty = Record { runs: Vec::new(), ..record() };
        assert!(session(empty).interrupted().ends_with("before anything was measured"));
        assert!(session(record()).interrupted().ends_with("measured until then"));
    }

    /// Does something whenever a sample is taken, which then takes no time.
    struct Hooked<F>(F);

    impl<F> fmt::Debug for Hooked<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Hooked")
        }
    }

    impl<F: Fn()> Subject<BurstsTurn<Labour>> for Hooked<F> {
        fn name(&self) -> &'static str {
            "hooked"
        }

        fn take(&self, turn: &BurstsTurn<Labour>) -> Result<BurstsSample, Failure> {
            (self.0)();
            Ok(BurstsSample { bursts: vec![burst(turn.load.jobs(), 1000)], ..BurstsSample::default() })
        }
    }

    /// It is tried out first, unless it must have its `full_size`.
    fn prepared(full_size: bool, hook: impl Fn() + 'static) -> Prepared<OneLoad<Throughput>> {
        let load = Load::new(1, 1_000_000, 0).expect("countable");
        let experiment = OneLoad::new(Throughput(Labour::default()), 1, load, full_size, Duration::from_secs(60));
        let budget = Duration::from_secs(60);
        let pace = Pace { warm_up: 0, min_samples: 2, max_samples: 2, processes: 1, target: 0.1, budget };
        let subjects: Vec<Box<dyn Subject<BurstsTurn<Labour>>>> = vec![Box::new(Hooked(hook))];
        let (least, left_out, ability, question) = (Duration::ZERO, Vec::new(), Ability::Jobs, None);
        Prepared { experiment, pace, subjects, threads: 1, least, left_out, ability, question }
    }

    /// Answers every request with what its function returns, and counts the requests.
    struct Asked(Rc<Cell<usize>>, fn() -> io::Result<()>);

    impl Asked {
        fn once_more(&self) -> io::Result<()> {
            self.0.set(self.0.get() + 1);
            (self.1)()
        }
    }

    impl Sink for Asked {
        fn begin(&mut self, _record: &Record) -> io::Result<()> {
            self.once_more()
        }

        fn update(&mut self, _record: &Record) -> io::Result<()> {
            self.once_more()
        }

        fn end(&mut self, _record: &Record) -> io::Result<()> {
            self.once_more()
        }

        fn finish(&mut self, _record: &Record) -> io::Result<()> {
            self.once_more()
        }
    }

    /// A session without a run.
    fn beginning(sinks: Vec<Box<dyn Sink>>, interrupt: &Interrupt) -> Session {
        let empty = Record { runs: Vec::new(), ..record() };
        Session::new(empty, sinks, Duration::ZERO, interrupt.clone(), Voice::Silent)
    }

    #[test]
    fn an_interrupt_of_the_trying_out_takes_nothing_away() {
        let (interrupt, asked) = (Interrupt::default(), Rc::<Cell<usize>>::default());
        let session = beginning(vec![Box::new(Asked(Rc::clone(&asked), || Ok(())))], &interrupt);
        let outcome = session.run(vec![Box::new(prepared(false, move || interrupt.come()))], |_| panic!("of what?"));
        assert_eq!((outcome, asked.get()), (Outcome::Failed, 0));
    }

    #[test]
    fn what_was_not_measured_for_an_interrupt_has_not_failed() {
        let interrupt = Interrupt::default();
        let mut session = beginning(Vec::new(), &interrupt);
        let mut prepared = prepared(true, move || interrupt.come());
        prepared.subjects.push(Box::new(Hooked(|| ())));
        session.measure(prepared);
        let rows = &session.record.runs[0].rows;
        assert!(!rows[0].is_interrupted() && rows[1].is_interrupted(), "{rows:?}");
        assert_eq!(session.outcome, Outcome::Done);
        assert!(session.interrupted().ends_with("measured until then"));
        session.record.runs[0].rows.remove(0);
        assert!(session.interrupted().ends_with("before anything was measured"));
    }

    #[test]
    fn what_cannot_be_written_is_tried_again_and_told_once() {
        let asked = Rc::<Cell<usize>>::default();
        let full: Vec<Box<dyn Sink>> = vec![Box::new(Asked(Rc::clone(&asked), || Err(ErrorKind::StorageFull.into())))];
        let mut session = beginning(full, &Interrupt::default());
        for times in 1..=3 {
            session.each(|sink, record| sink.update(record));
            assert_eq!((asked.get(), session.unwritten.len(), session.outcome), (times, 1, Outcome::Failed));
        }
    }

    #[test]
    fn a_run_begins_before_it_is_tried_out() {
        let began = Rc::<RefCell<Option<String>>>::default();
        let first = Rc::clone(&began);
        let mut session = beginning(Vec::new(), &Interrupt::default());
        session.measure(prepared(false, move || {
            let began = first.borrow_mut().get_or_insert_with(utc_now).clone();
            while utc_now() == began {
                std::thread::yield_now();
            }
        }));
        let (run, began) = (&session.record.runs[0], began.borrow());
        assert!(began.as_ref().is_some_and(|began| run.began_utc <= *began), "{began:?} and {}", run.began_utc);
    }

    #[test]
    fn what_is_doubtful_says_of_which_of_several_runs() {
        let mut session = Session::new(record(), Vec::new(), Duration::ZERO, Interrupt::default(), Voice::Silent);
        assert_eq!(session.located(&["noisy".to_owned()]), ["noisy"]);
        session.several = true;
        assert_eq!(session.located(&["noisy".to_owned()]), ["noisy (with threads 2, producers 2)"]);
    }

    #[test]
    fn what_nobody_reads_is_not_measured_on_unless_it_is_judged() {
        struct Gone;

        impl io::Write for Gone {
            fn write(&mut self, _text: &[u8]) -> io::Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        for judged in [false, true] {
            let sinks: Vec<Box<dyn Sink>> = vec![Box::new(Terminal::new(Gone, true))];
            let session = Session::new(record(), sinks, Duration::ZERO, Interrupt::default(), Voice::Silent);
            let mut session = session.judged(judged);
            assert!(!session.wants_end());
            session.each(|sink, record| sink.begin(record));
            assert_eq!((session.wants_end(), session.outcome), (!judged, Outcome::Done));
        }
    }
}
