//! The servers that are measured, each a process: the farm's cache, and nginx.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use filch_build::server::{Config, Server};
use filch_build::storage::Location;

use crate::Result;
use crate::cpu::cpu_time;

/// A server process. Dropping it ends the process.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// Serves the farm's cache, in the process that [`Process::ours`] starts.
pub(crate) async fn serve(folder: &Path) -> Result<()> {
    let config = Config {
        storage: Location::Disk(folder.to_owned()),
        ..Config::default()
    };
    let server = Server::start(config).await?;
    println!("{}", server.address());
    std::future::pending().await
}

impl Process {
    /// Starts the farm's cache.
    pub(crate) fn ours(folder: &Path) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("it is piped")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse()?;
        Ok(Self { child, address })
    }

    /// Starts the simplest cache there is: files, by PUT and GET. Returns `None` if nginx is not
    /// installed.
    pub(crate) fn nginx(folder: &Path) -> Result<Option<Self>> {
        fs::create_dir_all(folder.join("files"))?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let path = folder.display();
        let config = format!(
            "daemon off; worker_processes auto; pid {path}/pid; error_log {path}/log;
            include /etc/nginx/modules-enabled/*.conf;
            events {{ worker_connections 256; }}
            http {{
                access_log off; sendfile on; tcp_nodelay on;
                client_body_temp_path {path}/body; proxy_temp_path {path}/proxy;
                fastcgi_temp_path {path}/fastcgi; uwsgi_temp_path {path}/uwsgi;
                scgi_temp_path {path}/scgi;
                client_max_body_size 0; keepalive_requests 1000000;
                server {{
                    listen {address};
                    location / {{
                        root {path}/files; dav_methods PUT; create_full_put_path on;
                    }}
                }}
            }}"
        );
        fs::write(folder.join("nginx.conf"), config)?;
        // Its workers run as another user, who needs access.
        let mode = std::os::unix::fs::PermissionsExt::from_mode;
        let parent = folder.parent().unwrap_or(folder);
        for folder in [parent, folder, &folder.join("files")] {
            fs::set_permissions(folder, mode(0o777))?;
        }
        let child = Command::new("nginx")
            .arg("-c")
            .arg(folder.join("nginx.conf"))
            .spawn();
        let Ok(child) = child else {
            println!("SKIPPED: no nginx here: nothing to compare with");
            return Ok(None);
        };
        let nginx = Self { child, address };
        let begin = Instant::now();
        while TcpStream::connect(address).is_err() {
            if begin.elapsed() > Duration::from_secs(10) {
                return Err("nginx does not answer".into());
            }
        }
        Ok(Some(nginx))
    }

    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        Ok(cpu_time(self.child.id())?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // nginx has workers, which end with it only if it is asked to end.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.child.wait();
    }
}
