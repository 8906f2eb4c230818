//! A node in a separate program that can be killed: this very test program, run again.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stdin};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use filch_actors::prelude::*;
use filch_scheduler::{Node, Pid};

use super::common::{Note, TestNode, await_next};
use super::server::Server;

const SERVER: &str = "FILCH_NATS_TEST_SERVER";

/// Begins each line for the program that has started this one.
const MARK: &str = "=> ";

/// Node 2, in another program. It has a process with the name `forward`.
pub(crate) struct OtherProgram {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    pub(crate) pid: Pid,
}

impl OtherProgram {
    pub(crate) fn start(server: &Server) -> Self {
        let name = "foreign::other_program::the_other_program";
        let mut process = Command::new(env::current_exe().unwrap())
            .args([name, "--exact", "--ignored", "--nocapture"])
            .env(SERVER, server.address())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let (teller, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(MARK) {
                    // The test may have ended already.
                    let _ = teller.send(line.to_owned());
                }
            }
        });
        let pid = Pid::from_bits(0);
        let mut program = Self {
            process,
            input,
            lines,
            pid,
        };
        program.pid = Pid::from_bits(program.line().parse().unwrap());
        program
    }

    /// Waits for its next line.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        await_next("a line of the other program", &self.lines)
    }

    /// Sends it a command.
    pub(crate) fn tell(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    /// Stops it without anybody being told: its connection to the server stays.
    pub(crate) fn freeze(&self) {
        let command = format!("kill -STOP {}", self.process.id());
        let frozen = Command::new("sh").args(["-c", &command]).status();
        assert!(frozen.unwrap().success());
    }

    /// Kills it, without a goodbye.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for OtherProgram {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "it is the other program, which tests start"]
fn the_other_program() {
    let Ok(server) = env::var(SERVER) else { return };
    let node = TestNode::at(2, &server, |builder| builder);
    let (pid, notes) = node.forward();
    node.scheduler.register("forward", pid).unwrap();
    println!("\n{MARK}{}", pid.to_bits());
    for line in stdin().lines() {
        match line.unwrap().as_str() {
            "call" => {
                node.connect(Node(1)).unwrap();
                println!("{MARK}called");
            }
            "next" => match notes.recv().unwrap() {
                Note::Number(number) => println!("{MARK}{number}"),
                other => panic!("{other:?}"),
            },
            "stats" => {
                let stats = node.nats.stats();
                println!("{MARK}{} delivered, {} stale", stats.delivered, stats.stale);
            }
            other => panic!("{other}"),
        }
    }
}
