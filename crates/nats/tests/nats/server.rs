//! A server of NATS that serves until it is dropped.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stderr};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

const PROGRAM: &str = "nats-server";

pub(crate) struct Server {
    process: Child,
    port: u16,
    arguments: Vec<String>,
}

impl Server {
    /// None where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        let program = installed()?;
        let arguments: Vec<_> = arguments.iter().map(|&one| one.to_owned()).collect();
        loop {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            // Somebody else may have taken it since: then another one.
            if let Some(process) = run(&program, port, &arguments) {
                return Some(Self {
                    process,
                    port,
                    arguments,
                });
            }
        }
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

/// Where Debian has its servers is not in everybody's `PATH`.
fn installed() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    let found = places.iter().map(|place| place.join(PROGRAM));
    let found = found.into_iter().find(|program| program.is_file());
    if found.is_none() {
        // What a test that passes prints by `eprintln` is not shown.
        let line = format!("SKIPPED: there is no {PROGRAM}; .ci/clients installs it\n");
        let _ = stderr().write_all(line.as_bytes());
    }
    found
}

/// Waits until it is ready. None if it has ended instead.
fn run(program: &PathBuf, port: u16, arguments: &[String]) -> Option<Child> {
    let mut process = Command::new(program)
        .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut lines = log.by_ref().map_while(Result::ok);
    if lines.any(|line| line.contains("Server is ready")) {
        // It must be able to go on writing.
        thread::spawn(move || log.for_each(drop));
        Some(process)
    } else {
        process.wait().unwrap();
        None
    }
}
