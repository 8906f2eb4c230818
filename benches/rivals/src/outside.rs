//! Rivals outside Rust: the programs in `benches/rivals/go` and `benches/rivals/beam`, which do a
//! round on request and answer with its cost.
//!
//! `cargo xtask bench` builds each if it finds the compiler, and passes the program's path in a
//! variable. Without the variable the contender is left out.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::clock::processor_time_of;
use crate::harness::Scenario;
use crate::memory::resident_and_peak;
use crate::work::workers;

/// Go's side, if it was built.
fn go() -> Option<Command> {
    let mut go = Command::new(env::var_os("FILCH_GO_RIVAL")?);
    go.env("GOMAXPROCS", workers().to_string());
    Some(go)
}

/// The Go original of the process scheduler, if it was built.
fn original() -> Option<Command> {
    let mut original = Command::new(env::var_os("FILCH_ORIGINAL_RIVAL")?);
    original.env("GOMAXPROCS", workers().to_string());
    Some(original)
}

/// Erlang's side, if it was built.
fn beam() -> Option<Command> {
    let modules = env::var_os("FILCH_BEAM_RIVAL")?;
    let mut beam = Command::new("erl");
    // As many schedulers as workers, room for four million processes, no shell.
    beam.args(["+S", &format!("{0}:{0}", workers()), "+P", "4000000"])
        .arg("-noshell")
        .arg("-pa")
        .arg(modules)
        .args(["-s", "filch_rival"]);
    Some(beam)
}

/// A running program, between rounds.
pub(crate) struct Rival {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Rival {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the variable is right");
        let orders = child.stdin.take().expect("it was piped");
        let answers = BufReader::new(child.stdout.take().expect("it was piped"));
        Self {
            child,
            orders,
            answers,
        }
    }

    pub(crate) fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").expect("the program lives");
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut answer = String::new();
        let read = self
            .answers
            .read_line(&mut answer)
            .expect("the program lives");
        assert!(read > 0, "the program has ended");
        answer.trim().to_owned()
    }

    /// The processor time of its present threads.
    pub(crate) fn processor_time(&self) -> Duration {
        processor_time_of(&self.child.id().to_string())
    }

    /// Returns the cost of one round.
    fn round(&mut self, order: &str) -> f64 {
        self.order(order);
        self.answer().parse().expect("the program fails loudly")
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It ends with its standard input anyway; an error here has no consequence.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A round is `operations` of those that the program does by `order`.
fn rounds(mut command: Command, order: &str, operations: u64) -> impl FnMut() -> f64 + 'static {
    let order = order.to_owned();
    let mut rival = None;
    move || {
        let rival = rival.get_or_insert_with(|| Rival::start(&mut command));
        rival.round(&order) / operations as f64
    }
}

impl Scenario {
    /// Adds the rivals outside Rust that were built. A round sends `order` to the program, which
    /// does `operations` operations.
    pub(crate) fn outside(self, order: &str, operations: u64) -> Self {
        self.each_outside(|command| rounds(command, order, operations))
    }

    /// As `outside`, for the Go original of the process scheduler. The scenario's name says if that
    /// is missing.
    pub(crate) fn beside_the_original(name: &str, order: &str, operations: u64) -> Self {
        let unit = "ns per process";
        match original() {
            Some(command) => {
                let rounds = rounds(command, order, operations);
                Self::new(name, unit).contender("the original, in Go", rounds)
            }
            None => Self::new(format!("{name} (without the original: no Go)"), unit),
        }
    }

    /// Adds them by the bytes that are resident at most, for each of `count`, in a new program that
    /// does `order` so often.
    pub(crate) fn outside_resident(self, order: &str, times: u64, count: u64) -> Self {
        self.each_outside(|command| {
            let (mut command, order) = (command, order.to_owned());
            move || {
                let mut rival = Rival::start(&mut command);
                // The program's own, its threads' among them.
                rival.round("idle 16");
                let [before, _] = resident_and_peak(rival.child.id());
                for _ in 0..times {
                    rival.round(&order);
                }
                let [_, most] = resident_and_peak(rival.child.id());
                (most - before) as f64 / count as f64
            }
        })
    }

    fn each_outside<R>(self, round: impl Fn(Command) -> R) -> Self
    where
        R: FnMut() -> f64 + 'static,
    {
        [("Go", go()), ("BEAM", beam())]
            .into_iter()
            .fold(self, |scenario, (name, command)| match command {
                Some(command) => scenario.contender(name, round(command)),
                None => scenario,
            })
    }
}
