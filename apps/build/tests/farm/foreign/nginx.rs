//! nginx, another cache for comparison.

use std::fs;
use std::process::Command;

use crate::installed;
use crate::program::{Program, free_port};

/// The simplest cache there is: nginx, with files that clients put.
#[derive(Debug)]
pub(crate) struct Nginx {
    server: Program,
    pub(crate) port: u16,
}

impl Nginx {
    /// Returns `None`, and prints a line on the terminal, if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = installed::of_the_system("nginx")?;
        let port = free_port();
        let mut server = Program::start(|folder| {
            fs::create_dir(folder.join("stored")).unwrap();
            let place = folder.join("nginx.conf");
            let configuration = include_str!("nginx.conf");
            let configuration = configuration.replace("PORT", &port.to_string());
            fs::write(&place, configuration).unwrap();
            let mut nginx = Command::new(program);
            // nginx opens its default log before it reads where the log should be.
            nginx.args(["-e", "stderr", "-p"]).arg(folder);
            nginx.arg("-c").arg(place);
            nginx
        });
        server.listens(port);
        Some(Self { server, port })
    }

    /// Returns the id of its first process, which has started the others.
    pub(crate) fn process(&self) -> u32 {
        self.server.process.id()
    }
}
