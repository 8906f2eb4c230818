//! One build of the programs, alive: it does a round when it is told to.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::error::Result;

pub(super) struct Contender {
    pub(super) core: &'static str,
    pub(super) threads: String,
    pub(super) programs: Vec<String>,
    child: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// What a round took, in nanoseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Round {
    /// Said in the first one.
    pub(super) sequential: Option<f64>,
    pub(super) elapsed: f64,
}

impl Contender {
    /// Starts `program`, which must run on that core.
    pub(super) fn start(core: &'static str, program: &Path, small: bool) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(small.then_some("--small"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = child.stdin.take().ok_or("no way to tell it anything")?;
        let output = child.stdout.take().ok_or("no way to hear from it")?;
        let mut contender = Self {
            core,
            threads: String::new(),
            programs: Vec::new(),
            child,
            commands,
            answers: BufReader::new(output).lines(),
        };
        contender.greet()?;
        Ok(contender)
    }

    fn greet(&mut self) -> Result<()> {
        loop {
            let line = self.answer()?;
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["core", core, threads] if *core == self.core => {
                    self.threads = (*threads).to_owned();
                }
                ["program", name] => self.programs.push((*name).to_owned()),
                ["ready"] => return Ok(()),
                _ => return Err(format!("built for {}'s core, it says: {line}", self.core).into()),
            }
        }
    }

    pub(super) fn round(&mut self, name: &str) -> Result<Round> {
        writeln!(self.commands, "{name}")?;
        let mut sequential = None;
        loop {
            let line = self.answer()?;
            let (label, figure) = line.split_once(' ').ok_or("an answer without a figure")?;
            let elapsed = figure.parse()?;
            if label == name {
                return Ok(Round {
                    sequential,
                    elapsed,
                });
            }
            sequential = Some(elapsed);
        }
    }

    fn answer(&mut self) -> Result<String> {
        match self.answers.next() {
            Some(line) => Ok(line?),
            None => Err(format!("{}'s programs: {}", self.core, self.child.wait()?).into()),
        }
    }
}

impl Drop for Contender {
    /// A program that hangs must not outlive the comparison.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
