//! Two coordinators on one Redis.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use filch_build::server::{Config, Server};
use filch_build::storage::Location;

use crate::cache::shared::{Behind, share_a_cache};
use crate::installed;
use crate::program::{Program, wait_for};
use crate::server::{TestServer, start_with};

/// A Redis server that ends with the test.
pub(crate) struct Redis {
    _server: Program,
    pub(crate) socket: PathBuf,
}

impl Redis {
    /// Starts Redis. Returns `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = installed::of_the_system("redis-server")?;
        let mut socket = PathBuf::new();
        let mut server = Program::start(|folder| {
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

    /// Starts a coordinator that uses it as this user.
    async fn coordinator(&self, user: &str) -> TestServer {
        let location = format!("redis+unix://{user}{}", self.socket.display());
        start_with(|config| config.storage = location.parse().unwrap()).await
    }

    /// Runs a command of Redis; checks its answer.
    fn command(&self, arguments: &[&[u8]], wanted: &[u8]) {
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
        assert_eq!(answer, wanted);
    }
}

impl Behind for Redis {
    fn remove(&self, name: &str) {
        let key = format!("filch/{name}");
        self.command(&[b"DEL", key.as_bytes()], b":1\r\n");
    }

    fn replace(&self, name: &str, bytes: &[u8]) {
        let key = format!("filch/{name}");
        self.command(&[b"SET", key.as_bytes(), bytes], b"+OK\r\n");
    }
}

#[tokio::test]
async fn two_coordinators_share_a_cache() {
    let Some(redis) = Redis::start() else {
        return;
    };
    let (one, two) = (redis.coordinator("").await, redis.coordinator("").await);
    share_a_cache(&one, &two, &redis).await;
}

/// Time is paused, so the test does not wait between the tries.
#[tokio::test(start_paused = true)]
async fn a_redis_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("none");
    let storage = format!("redis+unix://{}", socket.display());
    let config = Config {
        storage: storage.parse().unwrap(),
        ..Config::default()
    };
    let error = Server::start(config).await.unwrap_err().to_string();
    assert!(error.contains("redis"), "{error}");
    assert!(error.contains("cannot be used"), "{error}");
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
    let users: [&[&[u8]]; 2] = [
        &[b"farm", b"on", b">a&b+c=d% e", b"~*", b"+@all"],
        &[b"default", b"off"],
    ];
    for user in users {
        let begin: [&[u8]; 2] = [b"ACL", b"SETUSER"];
        redis.command(&[&begin, user].concat(), b"+OK\r\n");
    }
    let server = redis.coordinator("farm:a&b+c=d%25%20e@localhost").await;
    let digest = server.store(b"small").await;
    assert_eq!(server.read(digest).await.unwrap(), b"small");
}
