//! Processes that serve until they are dropped; nginx.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::installed;

/// A process that is killed when it is dropped, with those that it started.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Child,
    /// Its files.
    _folder: TempDir,
}

impl Server {
    /// `command` gets a folder of its own.
    pub(crate) fn start(command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(folder.path());
        // Its own group: a ctrl-c is for the test, which ends it.
        command.stdin(Stdio::null()).process_group(0);
        let process = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            process,
            _folder: folder,
        }
    }
}

impl Server {
    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.process);
        kill_process(id, signal).expect("a process that runs");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
    }
}

/// The simplest cache that there is: nginx, which lets clients put files.
#[derive(Debug)]
pub(crate) struct Nginx {
    _server: Server,
    pub(crate) port: u16,
}

impl Nginx {
    /// `None` if it is not installed, and a line on the terminal says so.
    pub(crate) fn start() -> Option<Self> {
        let program = installed::of_the_system("nginx")?;
        let port = free_port();
        let mut server = Server::start(|folder| {
            fs::create_dir(folder.join("stored")).unwrap();
            let place = folder.join("nginx.conf");
            let configuration = include_str!("nginx.conf");
            let configuration = configuration.replace("PORT", &port.to_string());
            fs::write(&place, configuration).unwrap();
            let mut nginx = Command::new(program);
            // It says where its log is before it reads where that should be.
            nginx
                .arg("-e")
                .arg("stderr")
                .arg("-p")
                .arg(folder)
                .arg("-c")
                .arg(place);
            nginx
        });
        wait_for("nginx", || {
            assert!(
                server.process.try_wait().unwrap().is_none(),
                "nginx has ended"
            );
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        let _server = server;
        Some(Self { _server, port })
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Looks until there is something, for a minute at most. What other programs do gives no sign
/// that could be waited for.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
