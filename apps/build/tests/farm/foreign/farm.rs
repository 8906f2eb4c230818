//! The farm as people run it: a coordinator and workers, each a separate process.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use openmetrics_parser::OpenMetricsValue;
use openmetrics_parser::openmetrics::parse_openmetrics;
use tempfile::TempDir;

use crate::program::{Program, wait_for};

/// The number of actions that a worker runs at a time.
pub(crate) const SLOTS: usize = 2;

/// The token of a farm that requires one.
pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

#[derive(Debug)]
pub(crate) struct Farm {
    /// None while it is killed.
    server: Option<Program>,
    /// The folder of what it stores.
    folder: TempDir,
    options: Vec<String>,
    /// The socket that it is given, if any.
    pub(crate) socket: Option<TcpListener>,
    token: Option<PathBuf>,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
}

impl Farm {
    /// Starts a coordinator without workers, without a token, with these options.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::with(None, options)
    }

    /// Starts a coordinator that requires [`TOKEN`]; writes the token's file into `folder`.
    pub(crate) fn with_token(folder: &Path, options: &[&str]) -> Self {
        let file = folder.join("token");
        fs::write(&file, TOKEN).unwrap();
        Self::with(Some(file), options)
    }

    fn with(token: Option<PathBuf>, options: &[&str]) -> Self {
        let mut farm = Self {
            server: None,
            folder: tempfile::tempdir().expect("a temporary folder"),
            options: options.iter().map(ToString::to_string).collect(),
            socket: None,
            token,
            address: "127.0.0.1:0".to_owned(),
        };
        farm.restart();
        farm
    }

    /// Gives the coordinator a socket from now on, as systemd does.
    pub(crate) fn hold_socket(&mut self) {
        self.kill();
        self.socket = Some(TcpListener::bind(&self.address).expect("its port is free"));
        self.restart();
    }

    /// Kills the coordinator, as a crash would end it.
    pub(crate) fn kill(&mut self) {
        self.server = None;
    }

    /// Starts the coordinator again, at its address, with what it has stored.
    pub(crate) fn restart(&mut self) {
        let mut command = program("serve", self.token.as_deref());
        command.args(["--listen", &self.address, "--storage"]);
        command.arg(format!("disk:{}", self.folder.path().display()));
        command.args(&self.options);
        let mut stdin = Stdio::null();
        if let Some(socket) = &self.socket {
            let socket = socket.try_clone().expect("a copy of the socket");
            stdin = OwnedFd::from(socket).into();
            let pass = "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\"";
            let mut passing = Command::new("/bin/sh");
            passing.args(["-c", pass, "sh"]).arg(command.get_program());
            passing.args(command.get_args());
            command = passing;
        }
        let (server, address) = Program::coordinator_with(stdin, |_| command);
        self.server = Some(server);
        self.address = address.to_string();
    }

    /// Starts a worker of that name, which other workers can reach.
    pub(crate) fn worker(&self, name: &str) -> Program {
        self.worker_with(name, &[])
    }

    /// Starts one with these options as well.
    pub(crate) fn worker_with(&self, name: &str, options: &[&str]) -> Program {
        Program::start(|folder| {
            let mut command = program("worker", self.token.as_deref());
            command.args(["--name", name, "--listen", "127.0.0.1:0"]);
            command.args(["--slots", &SLOTS.to_string()]).args(options);
            command.args(["--coordinator", &format!("http://{}", self.address)]);
            command.arg("--cache").arg(folder.join("cache"));
            command.stdout(Stdio::null());
            command
        })
    }

    /// Loads a page: its status code and its text.
    pub(crate) fn get(&self, path: &str, token: Option<&str>) -> (u16, String) {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let mut request = ureq::Agent::from(agent).get(format!("http://{}{path}", self.address));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.call().expect("the coordinator answers");
        let text = response.body_mut().read_to_string().expect("a text");
        (response.status().as_u16(), text)
    }

    /// Waits until a metric has that value.
    pub(crate) fn wait_for(&self, name: &str, label: Option<(&str, &str)>, value: usize) {
        let what = format!("{name} {label:?} to be {value}");
        wait_for(&what, || (self.metric(name, label) == value).then_some(()));
    }

    /// Sums a metric over all series with this label.
    pub(crate) fn metric(&self, name: &str, label: Option<(&str, &str)>) -> usize {
        let (status, text) = self.get("/metrics", self.token.as_ref().map(|_| TOKEN));
        assert_eq!(status, 200, "{text}");
        let metrics = parse_openmetrics(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let family = metrics.families.get(&format!("filch_build_{name}"));
        let family = family.unwrap_or_else(|| panic!("no metric {name} in\n{text}"));
        let samples = family.iter_samples().filter(|sample| {
            label.is_none_or(|(name, value)| {
                let labels = sample.get_labelset().expect("labels");
                labels
                    .iter()
                    .any(|(other, its)| other == name && its == value)
            })
        });
        let values = samples.map(|sample| match &sample.value {
            OpenMetricsValue::Counter(counter) => counter.value.as_f64(),
            OpenMetricsValue::Gauge(gauge) => gauge.as_f64(),
            other => panic!("{name} is {other:?}"),
        });
        values.sum::<f64>() as usize
    }
}

/// The program `filch-build`.
fn program(command: &str, token: Option<&Path>) -> Command {
    let mut program = crate::program::filch_build(&[command]);
    if let Some(token) = token {
        program.arg("--token-file").arg(token);
    }
    program
}
