//! Executors that fail, and runs that are ended.

use crate::support::{BRIEF, fresh, json, program, run, stderr, stdout};
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs,
    process::{Child, Command, Stdio},
};

#[test]
fn an_executor_that_stalls_is_a_failure_and_not_a_number() {
    let output = run(&format!("{BRIEF} --patience 0.001 -m 1 -a 0 -e channel throughput --pre 2000000000"));
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("FAILED: channel stalled: 0 of "), "{text}");
    assert!(stderr(&output).contains("error: 1 of 1 executors failed: channel"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_there_is() {
    use std::{os::unix::process::ExitStatusExt, time::Duration};
    let path = fresh("interrupted", "json");
    let line = format!("--budget 600 --rse 0.000001 -m 10 -e channel -o {path} throughput");
    let mut child =
        program().args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let sampled = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        record["runs"][0]["rows"][0]["samples"]["values"].as_array().map_or(0, Vec::len)
    };
    // The record has what has been measured so far at any time. The program would end by itself after ten minutes.
    while sampled() == 0 {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(Signal::INT, &child);
    assert_eq!(child.wait().expect("it ends").signal(), Some(2));
    let record = json(&fs::read_to_string(&path).expect("a record"));
    assert_eq!(record["runs"][0]["stop"]["reason"], "interrupted", "{}", record["runs"][0]["stop"]);
    assert!(sampled() > 0);
}

/// Sends `signal` to `child`.
#[cfg(unix)]
fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).expect("it is there until it was waited for");
}

/// What `look` finds about `child`, which must be found soon.
#[cfg(unix)]
fn soon<R>(child: &mut Child, look: impl Fn(&mut Child) -> Option<R>) -> R {
    use std::{
        thread,
        time::{Duration, Instant},
    };
    let begin = Instant::now();
    loop {
        match look(child) {
            Some(found) => return found,
            None if begin.elapsed() < Duration::from_secs(10) => thread::sleep(Duration::from_millis(5)),
            None => {
                let _ = child.kill();
                panic!("it takes too long");
            }
        }
    }
}

/// The signal that ends `child`, which must end soon.
#[cfg(unix)]
fn soon_ended_by(child: &mut Child) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;

    soon(child, |child| child.try_wait().expect("it is known")).signal()
}

#[cfg(unix)]
#[test]
fn a_signal_ends_what_reads_from_a_pipe() {
    use std::io::Write;
    let mut child =
        program().args(["report", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    // More than a pipe holds, so this returns only when most of it has been read.
    child.stdin.as_mut().expect("it is piped").write_all(&[b' '; 1 << 20]).expect("it reads");
    // Not an interrupt: what a shell starts in the background ignores those unless it handles them.
    send(Signal::TERM, &child);
    assert_eq!(soon_ended_by(&mut child), Some(15));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_what_waits_for_a_reader_after_it_has_measured() {
    use std::io::Read;
    let line = "--in-process --budget 0.1 -t 1,2 -m 100000 -e channel -o - wake -s 1";
    let mut child =
        program().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // The record is written when all has been measured, and its histograms are more than a pipe holds.
    child.stdout.as_mut().expect("it is piped").read_exact(&mut [0]).expect("it writes");
    send(Signal::INT, &child);
    assert_eq!(soon_ended_by(&mut child), Some(2));
}

/// A second signal need not be the same as the first: after Ctrl-C, a supervisor may send its own.
#[cfg(unix)]
#[test]
fn a_second_signal_of_either_kind_ends_the_program_at_once() {
    use std::io::{BufRead, BufReader};
    for signals in [[Signal::INT, Signal::TERM], [Signal::TERM, Signal::INT]] {
        // The sample takes half a minute, so the first signal would end the program after that.
        let mut child = program()
            .args("--in-process -m 1 -e channel wake -s 30s".split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        // It handles signals before it says anything.
        assert!(output.read_line(&mut String::new()).expect("a line") > 0);
        for signal in signals {
            until_none_is_pending(&mut child);
            send(signal, &child);
        }
        assert!(matches!(soon_ended_by(&mut child), Some(2 | 15)), "{signals:?}");
    }
}

/// Waits until `child` has begun to handle what was sent to it, where the system tells that: two of its threads may
/// handle two signals at the same moment, and then neither is the second.
#[cfg(unix)]
fn until_none_is_pending(child: &mut Child) {
    let is_pending =
        |line: &str| line.strip_prefix("ShdPnd:").is_some_and(|set| set.trim().bytes().any(|it| it != b'0'));
    soon(child, |child| {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        (!status.lines().any(is_pending)).then_some(())
    });
}

/// Starts a sweep of many points, sends `signal` to it as soon as there are rows of the first, and returns the record
/// and the rows that it leaves.
#[cfg(unix)]
fn swept_until(name: &str, signal: Signal) -> (serde_json::Value, Vec<String>) {
    let (rows, record) = (fresh(name, "csv"), fresh(name, "json"));
    let line =
        format!("--budget 0.3 --rse 0.000001 -t 1..200 -m 10 -e channel,workstealing -o {rows} -o {record} throughput");
    let mut child =
        program().args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The title, and the first point. The program would end by itself after a minute.
    while fs::read_to_string(&rows).unwrap_or_default().lines().count() < 3 {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send(signal, &child);
    assert!(!child.wait().expect("it ends").success());
    let text = fs::read_to_string(&rows).expect("a file");
    assert!(text.ends_with('\n'), "{text}");
    let rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    (json(&fs::read_to_string(&record).expect("a record")), rows)
}

#[cfg(unix)]
#[test]
fn an_interrupt_of_a_sweep_loses_no_rows() {
    let (record, rows) = swept_until("sweep-interrupted", Signal::INT);
    let runs = record["runs"].as_array().expect("runs");
    assert_eq!(rows.len(), 2 * runs.len(), "{rows:?}");
    for (run, rows) in runs.iter().zip(rows.chunks(2)) {
        let samples = run["rows"][0]["samples"]["values"].as_array().map_or(0, Vec::len);
        let (threads, stop) = (&run["settings"]["threads"], run["stop"]["reason"].as_str().expect("it has stopped"));
        assert!(rows[0].contains(",channel,") && rows[0].contains(&format!(",{threads},")), "{rows:?}");
        assert!(rows.iter().all(|row| row.contains(&format!(",{stop},"))), "{rows:?}");
        assert!(samples > 0 || stop == "interrupted", "{run}");
    }
}

#[cfg(unix)]
#[test]
fn whatever_ends_a_sweep_loses_no_rows_of_points_that_have_ended() {
    let (record, rows) = swept_until("sweep-killed", Signal::KILL);
    let ended = record["runs"].as_array().expect("runs").iter().filter(|run| !run["stop"].is_null()).count();
    // The rows of a point may have been written just before its record.
    assert!(rows.len() >= 2 && rows.len() % 2 == 0 && rows.len() / 2 >= ended, "{ended}: {rows:?}");
}

/// Runs `line` where each thread takes `mib` MiB of the two GiB of addresses that a process may have. No other limit
/// keeps root, too, from starting threads.
#[cfg(target_os = "linux")]
fn with_large_stacks(mib: u64, line: &str, service: Option<&str>) -> std::process::Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 2097152 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_executor-performance")]);
    shell.args(line.split_whitespace()).env("RUST_MIN_STACK", (mib << 20).to_string()).stdin(Stdio::null());
    shell.envs(service.map(|service| ("EXECUTOR_PERFORMANCE_SERVES", service)));
    shell.output().expect("sh starts")
}

/// Some would return an error, some panic, one hang, and some wait for the threads.
#[cfg(target_os = "linux")]
#[test]
fn executors_that_cannot_have_their_threads_have_not_failed() {
    let executors =
        if cfg!(feature = "peers") { "channel,tokio,rusty_pool-growing,published-channel" } else { "channel" };
    let count = executors.split(',').count();
    for own in ["", "--in-process"] {
        let line = |threads| format!("{BRIEF} {own} -m 10 -t {threads} -e {executors} throughput");
        let output = with_large_stacks(128, &line(16), None);
        let (text, complaint) = (stdout(&output), stderr(&output));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        let told = format!("{count} of {count} executors were not measured: {}", executors.replace(',', ", "));
        assert!(complaint.contains(&told), "{complaint}");
        assert_eq!(text.matches("no thread for it").count(), count, "{text}");
        let output = with_large_stacks(128, &line(1), None);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_cannot_have_a_thread_to_read_turns_says_so() {
    let output = with_large_stacks(4096, "-e channel throughput", Some("0:channel"));
    let text = stdout(&output);
    assert!(text.starts_with("{\"Err\":\"not measured: no thread for it: "), "{text}{}", stderr(&output));
}

/// Processes whose parent is `parent` and which serve `executor`, according to the system.
#[cfg(target_os = "linux")]
fn guests(parent: u32, executor: &str) -> Vec<Pid> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let serves = |pid: &&str| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| {
            variable.starts_with(b"EXECUTOR_PERFORMANCE_SERVES=")
                && variable.ends_with(format!(":{executor}").as_bytes())
        })
    };
    let pid = |text: &str| Pid::from_raw(text.parse().ok()?);
    children.split_whitespace().filter(serves).filter_map(pid).collect()
}

/// Starts the program with `line`, sends `signal` to the process of the executor `channel` as soon as there is one, and
/// waits for the end of the program.
#[cfg(target_os = "linux")]
fn harmed(line: &str, signal: Signal) -> std::process::Output {
    let mut child = program()
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // It may have gone by the time that the signal is sent.
    while !guests(child.id(), "channel").into_iter().any(|guest| kill_process(guest, signal).is_ok()) {
        assert!(child.try_wait().expect("it is known").is_none(), "it ended too soon");
        std::thread::yield_now();
    }
    child.wait_with_output().expect("it ends")
}

/// The first of several attempts in which there is something to `see`: a signal may come when a process has given its
/// last answer.
#[cfg(target_os = "linux")]
fn attempted<T>(see: impl Fn() -> Option<T>) -> T {
    (0..5).find_map(|_| see()).expect("one of the signals comes in time")
}

/// Measures two executors, sends `signal` to the process of one, and returns the error in that one's row.
#[cfg(target_os = "linux")]
fn error_of_harmed(name: &str, signal: Signal) -> String {
    const LEAST: usize = 10;
    let path = fresh(name, "json");
    let line = format!(
        "--timeout 15 --processes 1 --budget 3 --rse 0.000001 --min-samples {LEAST} -m 1000 -a 0 -e channel,workstealing \
         -o {path} throughput --full-size"
    );
    attempted(|| {
        let output = harmed(&line, signal);
        let record = json(&fs::read_to_string(&path).expect("a record"));
        let rows = &record["runs"][0]["rows"];
        let error = rows[0]["error"].as_str()?.to_owned();
        assert_eq!(output.status.code(), Some(1), "{rows}");
        // The other has the whole budget, however long this one was waited for.
        assert!(rows[1]["samples"]["values"].as_array().is_some_and(|values| values.len() > LEAST), "{rows}");
        Some(error)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_crashes_has_a_row_that_says_so_and_the_others_have_theirs() {
    let complaint = error_of_harmed("crash", Signal::KILL);
    assert_eq!(complaint, "crashed: the process that ran it ended (signal: 9 (SIGKILL))");
}

#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_hangs_has_a_row_that_says_so_and_the_others_have_theirs() {
    let complaint = error_of_harmed("hang", Signal::STOP);
    assert!(complaint.starts_with("hung: a sample took more than 15 s"), "{complaint}");
}

/// A recommendation waits for an executor that hangs once, and not once in each of three runs.
#[cfg(target_os = "linux")]
#[test]
fn an_executor_that_hangs_is_waited_for_once_before_another_is_recommended() {
    const TIMEOUT: f64 = 15.0;
    let path = fresh("hang-recommended", "json");
    let line = format!(
        "--timeout {TIMEOUT} --budget 3 --processes 1 --min-samples 10 -t 2 -e channel,workstealing -o {path} recommend \
         --job-time 0.1"
    );
    attempted(|| {
        let output = harmed(&line, Signal::STOP);
        let text = stdout(&output);
        let record = json(&fs::read_to_string(&path).expect("a record"));
        let runs = record["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), 3, "{text}");
        let hung = |run: &serde_json::Value| {
            run["rows"][0]["error"].as_str().is_some_and(|why| why.starts_with("hung: a sample took more than 15 s"))
        };
        let first = runs.iter().position(hung)?;
        // Only one process was stopped, so those of the later runs would have answered.
        assert!(runs[first..].iter().all(hung), "{text}");
        let waited = runs.iter().filter(|run| run["seconds"].as_f64().is_some_and(|seconds| seconds >= TIMEOUT));
        assert_eq!(waited.count(), 1, "{text}");
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains("Take `workstealing`"), "{text}");
        assert!(text.contains("Left out because they failed: channel."), "{text}");
        Some(())
    });
}
