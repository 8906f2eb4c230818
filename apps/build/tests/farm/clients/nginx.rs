//! nginx, another cache for comparison.

use std::fs;
use std::net::TcpStream;
use std::process::Command;

use crate::installed;
use crate::servers::{Server, free_port, wait_for};

/// The simplest cache there is: nginx, with files that clients put.
#[derive(Debug)]
pub(crate) struct Nginx {
    server: Server,
    pub(crate) port: u16,
}

impl Nginx {
    /// Returns `None`, and prints a line on the terminal, if it is not installed.
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
            // nginx opens its default log before it reads where the log should be.
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
        Some(Self { server, port })
    }

    /// Returns the id of its first process, which has started the others.
    pub(crate) fn process(&self) -> u32 {
        self.server.process.id()
    }
}
