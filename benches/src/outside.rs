//! Rivals outside Rust: programs of their own in `benches/go` and `benches/beam`, which do a round
//! when they are told to and say what it cost.
//!
//! `cargo xtask bench` builds each where it finds its compiler, and says in a variable where it is.
//! Where that is not set there is no such contender.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::harness::Scenario;
use crate::rivals::WORKERS;

/// Go's scheduler, if it is there.
fn go() -> Option<Command> {
    let mut go = Command::new(env::var_os("FILCH_GO_RIVAL")?);
    go.env("GOMAXPROCS", WORKERS.to_string());
    Some(go)
}

/// Erlang's, if it is there.
fn beam() -> Option<Command> {
    let modules = env::var_os("FILCH_BEAM_RIVAL")?;
    let mut beam = Command::new("erl");
    // As many schedulers as workers; room for a million processes and more; and no shell.
    beam.args(["+S", &format!("{WORKERS}:{WORKERS}"), "+P", "4000000"])
        .arg("-noshell")
        .arg("-pa")
        .arg(modules)
        .args(["-s", "filch_rival"]);
    Some(beam)
}

/// A program, between rounds.
struct Rival {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Rival {
    fn start(command: &mut Command) -> Self {
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

    /// What one round cost.
    fn round(&mut self, order: &str) -> f64 {
        let mut answer = String::new();
        writeln!(self.orders, "{order}")
            .and_then(|()| self.answers.read_line(&mut answer))
            .expect("the program lives");
        answer.trim().parse().expect("the program fails loudly")
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It lives on its standard input only, which ends here; there is no one to tell if it does
        // not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Scenario {
    /// Those outside Rust that are there. A round is `order` to their programs, and `operations`
    /// operations.
    pub(crate) fn outside(self, order: &str, operations: u64) -> Self {
        self.each_outside(|command| {
            let (mut command, order) = (command, order.to_owned());
            let mut rival = None;
            move || {
                let rival = rival.get_or_insert_with(|| Rival::start(&mut command));
                rival.round(&order) / operations as f64
            }
        })
    }

    /// The same, each round by a program that has done nothing before.
    pub(crate) fn outside_anew(self, order: &str, operations: u64) -> Self {
        self.each_outside(|command| {
            let (mut command, order) = (command, order.to_owned());
            move || Rival::start(&mut command).round(&order) / operations as f64
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
