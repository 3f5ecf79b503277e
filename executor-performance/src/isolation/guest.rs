//! An executor in a process of its own, as a subject of this one.

use crate::{
    experiment::{Subject, Turn},
    failure::{Failure, says_nothing_about_executor},
    usage::Usage,
};
use std::{
    cell::RefCell,
    collections::HashMap,
    fmt,
    io::{self, BufRead, BufReader, Write},
    marker::PhantomData,
    process::{Child, Command},
    rc::Rc,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// An executor in a process of its own. Once it has failed, it is not tried again.
pub struct Guest<T> {
    name: &'static str,
    command: RefCell<Command>,
    limit: Duration,
    state: RefCell<State>,
    failures: Failures,
    turn: PhantomData<fn(&T)>,
}

#[derive(Debug)]
enum State {
    NotCalled,
    Called(Process),
}

/// Which executors have failed, and how. Guests that share this are not tried again once another guest of the same name
/// has failed.
#[derive(Debug, Clone, Default)]
pub struct Failures(Rc<RefCell<HashMap<&'static str, String>>>);

/// The process of a guest. Dropping this kills it.
#[derive(Debug)]
struct Process {
    child: Child,
    answers: Receiver<String>,
}

impl<T: Turn> Guest<T> {
    /// The executor called `name`, in the process that `command` starts, with pipes for its input and output. A turn
    /// may take as long as `limit`. A failure of the executor is added to the `failures`.
    pub fn new(name: &'static str, command: Command, limit: Duration, failures: Failures) -> Self {
        Guest {
            name,
            command: RefCell::new(command),
            limit,
            state: RefCell::new(State::NotCalled),
            failures,
            turn: PhantomData,
        }
    }

    fn answered(&self, state: &mut State, turn: &T) -> Result<(T::Sample, Usage), Failure> {
        let process = match state {
            State::Called(process) => process,
            State::NotCalled => {
                let called = Process::start(&mut self.command.borrow_mut());
                *state = State::Called(called.map_err(Failure::Host)?);
                return self.answered(state, turn);
            }
        };
        let answer = process.answer(&serde_json::to_string(turn).expect("a turn is plain data"), self.limit)?;
        let answer: Result<(T::Sample, Usage), String> = serde_json::from_str(&answer)
            .map_err(|why| Failure::Crashed(format!("it wrote what is no answer: {why}")))?;
        answer.map_err(Failure::Told)
    }
}

impl<T: Turn> Subject<T> for Guest<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn take(&self, turn: &T) -> Result<T::Sample, Failure> {
        self.take_metered(turn).map(|(sample, _)| sample)
    }

    fn take_metered(&self, turn: &T) -> Result<(T::Sample, Usage), Failure> {
        if let Some(why) = self.failures.0.borrow().get(self.name) {
            return Err(Failure::Told(why.clone()));
        }
        let mut state = self.state.borrow_mut();
        self.answered(&mut state, turn).inspect_err(|failure| {
            *state = State::NotCalled;
            let why = failure.to_string();
            if !says_nothing_about_executor(&why) {
                self.failures.0.borrow_mut().insert(self.name, why);
            }
        })
    }

    fn renew(&self) {
        *self.state.borrow_mut() = State::NotCalled;
    }
}

impl Process {
    fn start(command: &mut Command) -> io::Result<Self> {
        let (sender, answers) = mpsc::channel();
        // If anything is refused from here on, dropping this ends the child, and waits for it.
        let mut process = Process { child: command.spawn()?, answers };
        let Child { stdin, stdout, .. } = &mut process.child;
        let output = stdout.take().filter(|_| stdin.is_some()).ok_or_else(|| io::Error::other("it has no pipes"))?;
        let listen =
            move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
        thread::Builder::new().name("listener".to_owned()).spawn(listen)?;
        Ok(process)
    }

    /// The answer to a line.
    fn answer(&mut self, line: &str, limit: Duration) -> Result<String, Failure> {
        /// If this thread comes back later than that, the tool was suspended: the time is over, but the answer may be
        /// there, and unread as yet.
        const GRACE: Duration = Duration::from_millis(100);
        // If the process is gone already, there is no answer, and its end says why.
        let _ = self.child.stdin.as_mut().map(|turns| writeln!(turns, "{line}").and_then(|()| turns.flush()));
        let asked = Instant::now();
        let answer = match self.answers.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) if asked.elapsed() > limit.saturating_add(GRACE) => {
                self.answers.recv_timeout(GRACE)
            }
            answer => answer,
        };
        answer.map_err(|why| match why {
            RecvTimeoutError::Timeout => Failure::Hung { limit },
            RecvTimeoutError::Disconnected => Failure::Crashed(self.end()),
        })
    }

    /// Waits for the end of the process, which has come or is near, and says how it ended. It does not wait for long: a
    /// process that has closed its output need not end, and one that the system holds cannot be killed.
    fn end(&mut self) -> String {
        const PATIENCE: Duration = Duration::from_secs(1);
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if begin.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(1)),
                Ok(None) => return "it has closed its output, and was killed".to_owned(),
                Err(why) => return why.to_string(),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails only for a process that has ended and was waited for.
        let _ = self.child.kill();
        self.end();
    }
}

impl<T> fmt::Debug for Guest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("name", &self.name).field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{
        clock::WallClock,
        experiment::Sample,
        sampler::{Pace, Series, Stopped, Watcher, sample},
    };
    use serde::{Deserialize, Serialize};
    use std::process::Stdio;

    const LONG: Duration = Duration::from_secs(60);

    #[derive(Debug, Serialize, Deserialize)]
    struct Unit;

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    struct Number(f64);

    impl Sample for Number {
        fn cost(&self) -> f64 {
            self.0
        }
    }

    impl Turn for Unit {
        type Sample = Number;
    }

    /// A guest that does what `script` says.
    fn guest(name: &'static str, script: &str, limit: Duration) -> Guest<Unit> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Guest::new(name, command, limit, Failures::default())
    }

    /// Answers every turn with 7 and an empty usage.
    const GOOD: &str = r#"while read turn; do echo '{"Ok":[7.0,{"wall":{"secs":0,"nanos":1}}]}'; done"#;

    /// Never answers: a second line never comes.
    const HANGS: &str = "read turn; read more";

    const CRASHES: &str = "read turn; kill -s ABRT $$";

    fn complaint(script: &str, limit: Duration) -> String {
        let guest = guest("guest", script, limit);
        let complaint = guest.take(&Unit).expect_err(script).to_string();
        assert_eq!(guest.take(&Unit).expect_err("it is left alone").to_string(), complaint);
        complaint
    }

    #[test]
    fn takes_one_turn_after_the_other() {
        let guest = guest("good", GOOD, LONG);
        for _ in 0..3 {
            let (number, usage) = guest.take_metered(&Unit).expect("an answer");
            assert_eq!((number, usage.wall), (Number(7.0), Duration::from_nanos(1)));
        }
    }

    #[test]
    fn a_new_process_takes_the_turns_after_it_is_renewed() {
        let counts = r#"turns=0; while read turn; do turns=$((turns + 1));
            echo "{\"Ok\":[$turns.0,{\"wall\":{\"secs\":0,\"nanos\":1}}]}"; done"#;
        let guest = guest("counts", counts, LONG);
        let take = || guest.take(&Unit).expect("an answer");
        assert_eq!([take(), take()], [Number(1.0), Number(2.0)]);
        guest.renew();
        assert_eq!(take(), Number(1.0));
    }

    #[test]
    fn what_has_failed_is_not_renewed() {
        let guest = guest("crashes", CRASHES, LONG);
        guest.take(&Unit).expect_err("it crashes");
        guest.renew();
        assert!(guest.take(&Unit).expect_err("it is left alone").to_string().contains("crashed"));
    }

    #[test]
    fn those_that_share_failures_are_left_alone_together() {
        let failures = Failures::default();
        let guest = |name, script| Guest { failures: failures.clone(), ..guest(name, script, LONG) };
        let complaint = guest("bad", CRASHES).take(&Unit).expect_err("it crashes").to_string();
        assert_eq!(guest("bad", GOOD).take(&Unit).expect_err("it is left alone").to_string(), complaint);
        assert!(guest("good", GOOD).take(&Unit).is_ok());
    }

    #[test]
    fn says_how_it_failed() {
        for (script, parts) in [
            (HANGS, ["hung", "--timeout"]),
            (CRASHES, ["crashed", "signal: 6"]),
            ("read turn; exit 3", ["crashed", "exit status: 3"]),
            ("read turn; exec >&-; read more", ["crashed", "closed its output"]),
            ("read turn; echo hello; read more", ["crashed", "no answer"]),
            (r#"read turn; echo '{"Err":"stalled: 1 of 2"}'; read more"#, ["stalled: ", "1 of 2"]),
        ] {
            let limit = if script == HANGS { Duration::from_millis(10) } else { LONG };
            let complaint = complaint(script, limit);
            assert!(parts.iter().all(|part| complaint.contains(part)), "{script}: {complaint}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_cannot_be_used_is_not_left_behind() {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(Stdio::piped()).stdout(Stdio::null());
        let guest = Guest::<Unit>::new("mute", command, LONG, Failures::default());
        assert!(guest.take(&Unit).expect_err("it is mute").to_string().contains("it has no pipes"));
        // Those that this thread has started: other tests have threads of their own.
        assert_eq!(std::fs::read_to_string("/proc/thread-self/children").expect("a list"), "");
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let guest = Guest::<Unit>::new("none", Command::new("/no/such/program"), LONG, Failures::default());
        assert!(guest.take(&Unit).expect_err("it is not there").to_string().contains("no process"));
    }

    struct Nobody;

    impl Watcher<Number> for Nobody {
        fn sampling(&mut self, _executor: &str) {}
        fn round_ended(&mut self, _elapsed: Duration, _error: f64, _series: &[Series<Number>]) {}
        fn wants_end(&self) -> bool {
            false
        }
    }

    #[test]
    fn the_others_are_measured_when_one_hangs_and_one_crashes() {
        let subjects: Vec<Box<dyn Subject<Unit>>> = vec![
            Box::new(guest("hangs", HANGS, Duration::from_millis(10))),
            Box::new(guest("good", GOOD, LONG)),
            Box::new(guest("crashes", CRASHES, LONG)),
        ];
        let pace = Pace { warm_up: 1, min_samples: 3, max_samples: 3, processes: 1, target: 0.01, budget: LONG };
        let (series, stopped) = sample(&pace, &WallClock::start(), 0, &Unit, &subjects, &mut Nobody);
        assert_eq!(stopped, Stopped::Precise);
        assert!(matches!(series[0].failure, Some(Failure::Hung { .. })));
        assert_eq!((series[1].samples.len(), series[1].failure.is_none()), (3, true));
        assert!(matches!(series[2].failure, Some(Failure::Crashed(_))));
    }
}
