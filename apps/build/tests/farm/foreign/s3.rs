//! Two coordinators on one bucket of S3, served by `s3s-fs`, which checks signatures.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use filch_build::digest::Digest;
use tempfile::TempDir;
use tonic::Code;

use crate::cache::byte_stream::begin;
use crate::cache::shared::{Behind, share_a_cache};
use crate::client::{read, refused, upload};
use crate::installed;
use crate::program::{Program, free_port};
use crate::server::{TestServer, Variables, eventually, noise, refusal, start_separately};

const SECRET: &str = "not-to-be-seen";

/// The keys, and the environment variables in which a coordinator finds them.
pub(crate) const KEYS: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "farm"),
    ("AWS_SECRET_ACCESS_KEY", SECRET),
];

/// A server of S3 that ends with the test.
pub(crate) struct S3 {
    program: PathBuf,
    server: Program,
    pub(crate) port: u16,
    /// The folder of its buckets.
    folder: TempDir,
}

impl S3 {
    /// Starts it with one bucket, `cache`. Returns `None` if `s3s-fs` is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = installed::in_the_folder("bin/s3s-fs")?;
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cache")).unwrap();
        let port = free_port();
        let server = serve(&program, port, &folder);
        Some(Self {
            program,
            server,
            port,
            folder,
        })
    }

    fn kill(&mut self) {
        self.server.process.kill().unwrap();
        self.server.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.server = serve(&self.program, self.port, &self.folder);
    }

    fn location(&self, bucket: &str) -> String {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        format!("s3://{bucket}/a%20farm?endpoint={endpoint}&region=eu-north-1")
    }

    async fn coordinator(&self) -> TestServer<Program> {
        start_separately(&self.location("cache"), &KEYS).await
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("cache/a farm").join(name)
    }

    /// Returns true if it has a part of a blob whose other parts are still to come.
    fn has_a_part(&self) -> bool {
        let files = fs::read_dir(self.folder.path()).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name());
        names.any(|name| name.to_string_lossy().contains(".part-"))
    }
}

fn serve(program: &PathBuf, port: u16, folder: &TempDir) -> Program {
    let mut server = Program::start(|_| {
        let mut s3 = Command::new(program);
        s3.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        s3.args(["--access-key", "farm", "--secret-key", SECRET]);
        s3.arg(folder.path());
        s3.stdout(Stdio::null()).stderr(Stdio::null());
        s3
    });
    server.listens(port);
    server
}

impl Behind for S3 {
    fn remove(&self, name: &str) {
        fs::remove_file(self.file(name)).unwrap();
    }

    fn replace(&self, name: &str, bytes: &[u8]) {
        assert!(self.file(name).exists());
        fs::write(self.file(name), bytes).unwrap();
    }
}

#[tokio::test]
async fn two_coordinators_share_a_cache() {
    let Some(s3) = S3::start() else {
        return;
    };
    let (one, two) = (s3.coordinator().await, s3.coordinator().await);
    share_a_cache(&one, &two, &s3).await;
    // An upload of other bytes leaves nothing, not even a part.
    let bytes = noise(20 << 20, 2);
    let wrong = Digest::from_hash(*Digest::of(b"other").hash(), bytes.len() as u64);
    let answer = one.upload(upload(wrong, &bytes)).await;
    refused(answer, Code::InvalidArgument, "are those of");
    eventually("the parts go", || !s3.has_a_part()).await;
    assert!(!two.has(wrong).await);
}

#[tokio::test]
async fn a_storage_that_cannot_be_used_is_named_and_no_secret_is() {
    let Some(s3) = S3::start() else {
        return;
    };
    let [key, _] = KEYS;
    let wrong = [key, ("AWS_SECRET_ACCESS_KEY", "not-this-one")];
    let unknown = [("AWS_ACCESS_KEY_ID", "nobody"), KEYS[1]];
    let port = free_port();
    let nobody_there = format!("s3://cache?endpoint=http://127.0.0.1:{port}&region=a");
    let right = s3.location("cache");
    let in_the_url = right.replace("s3://", &format!("s3://farm:{SECRET}@"));
    let cases: [(&str, Variables, &str); 8] = [
        (&right, &wrong, "SignatureDoesNotMatch"),
        (&right, &unknown, "PermissionDenied"),
        (&right, &[], "failed to load signing credential"),
        (&s3.location("none"), &KEYS, "NoSuchBucket"),
        (&nobody_there, &KEYS, "Connection refused"),
        (&in_the_url, &KEYS, "names a bucket alone"),
        ("s3://cache", &KEYS, "region is missing"),
        ("s3://cache?host=a", &KEYS, "knows endpoint and region"),
    ];
    for (storage, environment, why) in cases {
        let said = refusal(storage, environment).await;
        assert!(said.contains(why), "{storage}: {said}");
        assert!(said.contains("the storage s3://"), "{said}");
        assert!(!said.contains(SECRET), "{said}");
        assert!(!said.contains("not-this-one"), "{said}");
    }
}

#[tokio::test]
async fn what_dies_half_way_is_unavailable_until_it_is_back() {
    let Some(mut s3) = S3::start() else {
        return;
    };
    let server = s3.coordinator().await;
    let (stored, bytes) = (noise(20 << 20, 3), noise(20 << 20, 4));
    let before = server.store(&stored).await;
    let small = server.store(b"small").await;
    // The server dies when the storage has a part of a blob: a part is sent once the next one has
    // begun.
    let digest = Digest::of(&bytes);
    let (send, answer) = begin(&server);
    let mut to_come = upload(digest, &bytes).into_iter();
    for message in to_come.by_ref().take(18) {
        send.send(message).await.unwrap();
    }
    eventually("a part comes", || s3.has_a_part()).await;
    let download = server.bytes().read(read(before)).await;
    let mut download = download.unwrap().into_inner();
    download.message().await.unwrap().unwrap();
    s3.kill();

    let upload = async {
        for message in to_come {
            // The answer may have come before that.
            let _ = send.send(message).await;
        }
        drop(send);
        answer.await.unwrap()
    };
    let download = async {
        loop {
            match download.message().await {
                Ok(Some(_)) => {}
                end => return end,
            }
        }
    };
    let (upload, download, read) = tokio::join!(upload, download, server.read(small));
    let why = "the storage does not answer as it should";
    refused(upload, Code::Unavailable, why);
    refused(download, Code::Unavailable, why);
    refused(read, Code::Unavailable, why);

    s3.restart();
    assert!(server.read(before).await.unwrap() == stored);
    assert!(!server.has(digest).await);
    assert_eq!(server.store(&bytes).await, digest);
    assert!(server.read(digest).await.unwrap() == bytes);
    let log = server.log();
    assert!(log.contains("Connection refused"), "{log}");
    assert!(!log.contains(SECRET), "{log}");
}
