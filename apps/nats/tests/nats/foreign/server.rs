//! A server of NATS that serves until it is dropped.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stderr};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use super::common::LIMIT;

const PROGRAM: &str = "nats-server";

pub(crate) struct Server {
    process: Child,
    port: u16,
    arguments: Vec<String>,
}

impl Server {
    /// Starts one. Returns `None` if `nats-server` is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        let program = installed()?;
        let arguments: Vec<_> = arguments.iter().map(|&one| one.to_owned()).collect();
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            // If somebody else has taken the port since, another one is tried.
            if let Some(process) = run(&program, port, &arguments) {
                return Some(Self {
                    process,
                    port,
                    arguments,
                });
            }
        }
        panic!("{PROGRAM} {arguments:?} has ended at once, ten times");
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it as a power failure would.
    pub(crate) fn stop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again, at the same address.
    pub(crate) fn start_again(&mut self) {
        let program = installed().expect("it was there before");
        self.process = run(&program, self.port, &self.arguments).expect("its port is free again");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Finds the program. Debian has its servers in a folder that is not in everybody's `PATH`.
fn installed() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    let found = places.iter().map(|place| place.join(PROGRAM));
    let found = found.into_iter().find(|program| program.is_file());
    if found.is_none() {
        // Output of `eprintln` is hidden if the test passes.
        let line = format!("SKIPPED: there is no {PROGRAM}; .ci/clients installs it\n");
        let _ = stderr().write_all(line.as_bytes());
    }
    found
}

/// Waits until it is ready. Returns `None` if it ends instead.
fn run(program: &PathBuf, port: u16, arguments: &[String]) -> Option<Child> {
    let mut process = Command::new(program)
        .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stderr.take().unwrap()).lines();
    let (teller, ready) = mpsc::channel();
    thread::spawn(move || {
        // The log is read to its end, so that the server can go on writing.
        for line in log.map_while(Result::ok) {
            if line.contains("Server is ready") {
                let _ = teller.send(());
            }
        }
    });
    match ready.recv_timeout(LIMIT) {
        Ok(()) => Some(process),
        Err(RecvTimeoutError::Disconnected) => {
            process.wait().unwrap();
            None
        }
        Err(RecvTimeoutError::Timeout) => {
            let _ = process.kill();
            panic!("waited in vain for {PROGRAM} to be ready");
        }
    }
}
