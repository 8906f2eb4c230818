//! Two coordinators on one Redis.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use filch_build::server::{Config, Server as Coordinator};
use filch_build::storage::Location;

use crate::installed;
use crate::server::{TestServer, start_with};
use crate::servers::{Server, wait_for};
use crate::shared::{Behind, share_a_cache};

/// A Redis server that ends with the test.
pub(crate) struct Redis {
    _server: Server,
    pub(crate) socket: PathBuf,
}

impl Redis {
    /// Starts Redis. Returns `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = installed::of_the_system("redis-server")?;
        let mut socket = PathBuf::new();
        let mut server = Server::start(|folder| {
            socket = folder.join("socket");
            let mut redis = Command::new(program);
            redis.args(["--port", "0", "--save", "", "--unixsocket"]);
            redis.arg(&socket).arg("--dir").arg(folder);
            redis.stdout(Stdio::null());
            redis
        });
        wait_for("redis-server", || {
            assert_eq!(server.process.try_wait().unwrap(), None, "it has ended");
            UnixStream::connect(&socket).ok()
        });
        Some(Self {
            _server: server,
            socket,
        })
    }

    fn location(&self) -> Location {
        let text = format!("redis+unix://{}", self.socket.display());
        text.parse().unwrap()
    }

    async fn coordinator(&self) -> TestServer {
        start_with(|config| config.storage = self.location()).await
    }

    /// Runs a command of Redis.
    fn command(&self, arguments: &[&[u8]]) -> Vec<u8> {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let mut text = format!("*{}\r\n", arguments.len()).into_bytes();
        for argument in arguments {
            text.extend(format!("${}\r\n", argument.len()).into_bytes());
            text.extend(*argument);
            text.extend(b"\r\n");
        }
        stream.write_all(&text).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }
}

impl Behind for Redis {
    fn remove(&self, name: &str) {
        let key = format!("filch/{name}");
        assert_eq!(self.command(&[b"DEL", key.as_bytes()]), b":1\r\n");
    }

    fn replace(&self, name: &str, bytes: &[u8]) {
        let key = format!("filch/{name}");
        assert_eq!(self.command(&[b"SET", key.as_bytes(), bytes]), b"+OK\r\n");
    }
}

#[tokio::test]
async fn two_coordinators_share_a_cache() {
    let Some(redis) = Redis::start() else {
        return;
    };
    let (one, two) = (redis.coordinator().await, redis.coordinator().await);
    share_a_cache(&one, &two, &redis).await;
}

/// Time is paused, so the test does not wait between the tries.
#[tokio::test(start_paused = true)]
async fn a_redis_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("none");
    let storage = format!("redis+unix://{}", socket.display())
        .parse()
        .unwrap();
    let config = Config {
        storage,
        ..Config::default()
    };
    let error = Coordinator::start(config).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("redis") && error.contains("cannot be used"),
        "{error}"
    );
}

#[test]
fn locations_are_urls() {
    for text in [
        "disk:/a b",
        "memory",
        "redis://host",
        "redis://u:p@host:1/2",
        "s3://bucket/a",
    ] {
        assert!(text.parse::<Location>().is_ok(), "{text}");
    }
    for text in ["", "disk:", "/path", "http://host", "s3:///prefix", "redis"] {
        assert!(text.parse::<Location>().is_err(), "{text}");
    }
    let secret: Location = "redis://user:secret@host".parse().unwrap();
    assert!(!format!("{secret} {secret:?}").contains("secret"));
}

#[tokio::test]
async fn a_password_is_taken_as_a_url_writes_it() {
    let Some(redis) = Redis::start() else {
        return;
    };
    let user: [&[u8]; 7] = [
        b"ACL",
        b"SETUSER",
        b"farm",
        b"on",
        b">a&b+c=d% e",
        b"~*",
        b"+@all",
    ];
    assert_eq!(redis.command(&user), b"+OK\r\n");
    let nobody: [&[u8]; 4] = [b"ACL", b"SETUSER", b"default", b"off"];
    assert_eq!(redis.command(&nobody), b"+OK\r\n");
    let location = format!(
        "redis+unix://farm:a&b+c=d%25%20e@localhost{}",
        redis.socket.display()
    );
    let server = start_with(|config| config.storage = location.parse().unwrap()).await;
    let digest = server.store(b"small").await;
    assert_eq!(server.read(digest).await.unwrap(), b"small");
}
