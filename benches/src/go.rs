//! Go as a rival: a program of its own, `benches/go`, which does a round when it is told to and says how long that took.
//!
//! `cargo xtask bench` builds it where it finds a Go toolchain, and names it in `FILCH_GO_RIVAL`. Where that is not set there
//! is no such contender.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::harness::Scenario;
use crate::rivals::WORKERS;

/// The program, between rounds.
struct Rival {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Rival {
    fn start(program: &str) -> Self {
        let mut child = Command::new(program)
            .env("GOMAXPROCS", WORKERS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("FILCH_GO_RIVAL is a program");
        let orders = child.stdin.take().expect("it was piped");
        let answers = BufReader::new(child.stdout.take().expect("it was piped"));
        Self {
            child,
            orders,
            answers,
        }
    }

    /// Nanoseconds that one round took.
    fn round(&mut self, order: &str) -> f64 {
        let mut answer = String::new();
        writeln!(self.orders, "{order}")
            .and_then(|()| self.answers.read_line(&mut answer))
            .expect("the Go program lives");
        answer.trim().parse().expect("the Go program fails loudly")
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It lives on its standard input only, which ends here; there is no one to tell if it does not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Scenario {
    /// Go, if it is there. A round is `order` to its program, and `operations` operations.
    pub(crate) fn go(self, order: String, operations: u64) -> Self {
        let Ok(program) = std::env::var("FILCH_GO_RIVAL") else {
            return self;
        };
        let mut rival = None;
        self.contender("Go", move || {
            let rival = rival.get_or_insert_with(|| Rival::start(&program));
            rival.round(&order) / operations as f64
        })
    }
}
