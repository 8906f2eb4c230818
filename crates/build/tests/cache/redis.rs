//! Two coordinators on one Redis.

use std::process::{Child, Command, Stdio};

use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, GetActionResultRequest, OutputFile, UpdateActionResultRequest,
};
use filch_build::server::{Config, Server};
use filch_build::storage::Location;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tonic::Code;

use crate::server::{TestServer, noise, refused, start_with};

/// Ends with the test.
struct Redis {
    child: Child,
    folder: TempDir,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Redis {
    /// None where there is no such program.
    async fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(folder.path().join("socket"))
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) => {
                println!("SKIPPED: no redis-server here ({error}): nothing of Redis was tested");
                return None;
            }
        };
        let redis = Self { child, folder };
        let socket = redis.folder.path().join("socket");
        let there = async { while UnixStream::connect(&socket).await.is_err() {} };
        let there = tokio::time::timeout(crate::server::LONG, there).await;
        assert!(there.is_ok(), "redis-server does not answer");
        Some(redis)
    }

    fn location(&self) -> Location {
        let socket = self.folder.path().join("socket");
        format!("redis+unix://{}", socket.display())
            .parse()
            .unwrap()
    }

    async fn coordinator(&self) -> TestServer {
        start_with(|config| config.storage = self.location()).await
    }

    /// Runs a command of Redis.
    fn command(&self, arguments: &[&[u8]]) -> Vec<u8> {
        use std::io::{Read as _, Write as _};
        let socket = self.folder.path().join("socket");
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
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

#[tokio::test]
async fn two_coordinators_share_a_cache() {
    let Some(redis) = Redis::start().await else {
        return;
    };
    let (one, two) = (redis.coordinator().await, redis.coordinator().await);
    let large = noise(5 << 20, 1);
    let digest = one.store(&large).await;
    assert!(two.has(digest).await && !two.has(Digest::of(b"absent")).await);
    assert!(two.read(digest).await.unwrap() == large);
    assert!(two.read_part(digest, 1 << 20, 10).await.unwrap() == large[1 << 20..][..10]);
    let small = two.store(b"small").await;
    assert_eq!(one.read(small).await.unwrap(), b"small");
    let action = Digest::of(b"an action");
    let result = ActionResult {
        output_files: vec![OutputFile {
            path: "out".into(),
            digest: Some(small.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let request = UpdateActionResultRequest {
        action_digest: Some(action.into()),
        action_result: Some(result.clone()),
        ..Default::default()
    };
    one.actions().update_action_result(request).await.unwrap();
    let request = GetActionResultRequest {
        action_digest: Some(action.into()),
        ..Default::default()
    };
    let answer = two
        .actions()
        .get_action_result(request.clone())
        .await
        .unwrap();
    assert_eq!(answer.into_inner(), result);
    // Redis forgets what it likes: then the result is none.
    let key = |digest: Digest| {
        let hex = digest.hex();
        format!("filch/blobs/{}/{hex}", &hex[..2]).into_bytes()
    };
    assert_eq!(redis.command(&[b"DEL", &key(small)]), b":1\r\n");
    let answer = one.actions().get_action_result(request).await;
    refused(answer, Code::NotFound, "not all of its blobs");
    // What somebody else wrote there is not served.
    let mut wrong = large.clone();
    wrong[3 << 20] ^= 1;
    assert_eq!(redis.command(&[b"SET", &key(digest), &wrong]), b"+OK\r\n");
    refused(two.read(digest).await, Code::DataLoss, "are those of");
    assert!(!one.has(digest).await);
}

/// Nobody waits for the tries in between.
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
    let error = Server::start(config).await.unwrap_err().to_string();
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
    let Some(redis) = Redis::start().await else {
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
    let socket = redis.folder.path().join("socket");
    let location = format!(
        "redis+unix://farm:a&b+c=d%25%20e@localhost{}",
        socket.display()
    );
    let server = start_with(|config| config.storage = location.parse().unwrap()).await;
    let digest = server.store(b"small").await;
    assert_eq!(server.read(digest).await.unwrap(), b"small");
}
