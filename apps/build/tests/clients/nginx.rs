//! nginx, another cache to compare with.

use std::fs;
use std::net::TcpStream;
use std::process::Command;

use crate::installed;
use crate::servers::{Server, free_port, wait_for};

/// The simplest cache that there is: nginx, which lets clients put files.
#[derive(Debug)]
pub(crate) struct Nginx {
    server: Server,
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
        Some(Self { server, port })
    }

    /// The number of its first process, which has started the others.
    pub(crate) fn process(&self) -> u32 {
        self.server.process.id()
    }
}
