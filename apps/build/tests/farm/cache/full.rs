//! A disk that gets full: a small file system, which the coordinator shares with others.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _, stderr};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use filch_build::digest::Digest;
use rustix::process::geteuid;
use tokio::task::spawn_blocking;
use tonic::Code;

use super::byte_stream::begin_by;
use crate::client::{Client, refused, soon, upload, write};
use crate::program::Program;
use crate::server::{eventually, http, noise};

const ROUNDS: u64 = 20;
const BLOB: usize = 256 << 10;

/// A file system of 8 MiB in memory. It lives as long as the process that is its own.
struct Small {
    keeper: Program,
}

impl Small {
    /// Mounts it; says so if that is not allowed here.
    fn mount() -> Option<Self> {
        if !geteuid().is_root() {
            let line = "SKIPPED: a full disk; only root may mount a small one\n";
            let _ = stderr().write_all(line.as_bytes());
            return None;
        }
        let mut keeper = Program::start(|_| {
            let mut command = Command::new("unshare");
            let mount = "mount -t tmpfs -o size=8M none /mnt && echo mounted && exec sleep 1000";
            command
                .args(["--mount", "sh", "-c", mount])
                .stdout(Stdio::piped());
            command
        });
        let mut said = String::new();
        let output = keeper.process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut said).unwrap();
        assert_eq!(said, "mounted\n");
        Some(Self { keeper })
    }

    fn path(&self, name: &str) -> PathBuf {
        format!("/proc/{}/root/mnt/{name}", self.keeper.process.id()).into()
    }

    /// Starts a coordinator with its storage there.
    async fn serve(&self, reserve: &str) -> (Program, Client, SocketAddr) {
        let mut command = Command::new("nsenter");
        let keeper = self.keeper.process.id().to_string();
        command.args([
            "--mount",
            "--target",
            &keeper,
            env!("CARGO_BIN_EXE_filch-build"),
        ]);
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--storage",
            "disk:/mnt/cache",
        ]);
        command
            .args(["--disk-reserve", reserve])
            .stderr(Stdio::null());
        let started = spawn_blocking(|| Program::coordinator(|_| command));
        let (program, address) = soon(started).await.unwrap();
        (program, Client::new(address).await, address)
    }

    /// Fills what is left of it, as others may do.
    fn fill(&self) {
        let mut file = File::create(self.path("others")).unwrap();
        let piece = vec![1; 64 << 10];
        let full = loop {
            if let Err(error) = file.write_all(&piece) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::StorageFull);
    }

    fn free(&self) {
        fs::remove_file(self.path("others")).unwrap();
    }
}

/// Reads all of these blobs that are there; returns the number.
async fn check(client: &Client, blobs: &[(Digest, Vec<u8>)]) -> usize {
    let missing = client
        .missing(blobs.iter().map(|blob| blob.0).collect())
        .await
        .unwrap();
    for (digest, bytes) in blobs {
        if !missing.contains(digest) {
            assert!(client.read(*digest).await.unwrap() == *bytes, "{digest}");
        }
    }
    blobs.len() - missing.len()
}

/// The coordinator is killed in each round, once after it took much, once in an upload; it starts
/// on a full disk. The last eight blobs that it took have room for sure.
#[tokio::test]
async fn a_full_disk_takes_again_what_there_is_room_for() {
    let Some(small) = Small::mount() else {
        return;
    };
    let mut blobs = Vec::new();
    for round in 0..ROUNDS {
        // Without a reserve, writes find the disk full.
        let reserve = ["1M", "1"][round as usize % 2];
        let (program, client, address) = small.serve(reserve).await;
        check(&client, &blobs).await;
        // In batches, and by `ByteStream`.
        for number in 0..32 {
            let bytes = noise(BLOB, 1 + round * 100 + number);
            let digest = Digest::of(&bytes);
            if number % 2 == 0 {
                assert_eq!(client.put(bytes.clone()).await, digest);
            } else {
                assert_eq!(client.store(&bytes).await, digest);
            }
            blobs.push((digest, bytes));
        }
        // Several at a time need room at a time.
        let together = (0..4).map(|number| noise(2 * BLOB, 50 + round * 100 + number));
        let together: Vec<_> = together.map(|bytes| (Digest::of(&bytes), bytes)).collect();
        let puts = together.iter().map(|(digest, bytes)| {
            let path = format!("/cas/{}", digest.hex());
            async move { http(address, "PUT", &path, &[], bytes.clone()).await }
        });
        for answer in futures_util::future::join_all(puts).await {
            answer.is(200);
        }
        blobs.extend(together);
        let last = blobs.split_off(blobs.len() - 8);
        assert_eq!(check(&client, &last).await, 8);
        assert!(
            check(&client, &blobs).await < blobs.len(),
            "nothing had to go"
        );
        blobs = last;
        drop(program);
        // With more to keep free, more goes at the next write.
        let (program, client, address) = small.serve("5M").await;
        assert_eq!(check(&client, &blobs).await, 8);
        let put = async |bytes: &[u8]| {
            let path = format!("/cas/{}", Digest::of(bytes).hex());
            http(address, "PUT", &path, &[], bytes.to_vec()).await
        };
        let bytes = noise(BLOB, 90 + round * 100);
        put(&bytes).await.is(200);
        blobs.push((Digest::of(&bytes), bytes));
        let left = check(&client, &blobs).await;
        assert!((2..9).contains(&left), "{left}");
        // Others take the rest. All that could go would not be enough, so all stays.
        small.fill();
        let bytes = noise(BLOB, 91 + round * 100);
        let digest = Digest::of(&bytes);
        put(&bytes).await.is(507);
        let refusal = client.upload(upload(digest, &bytes)).await;
        refused(refusal, Code::ResourceExhausted, "the storage is full");
        assert_eq!(check(&client, &blobs).await, left);
        small.free();
        put(&bytes).await.is(200);
        blobs.push((digest, bytes));
        let left = check(&client, &blobs).await;
        // Half of a blob is on the disk when it is killed.
        let bytes = noise(6 * BLOB, 92 + round * 100);
        let (sender, upload) = begin_by(&client);
        let half = write(Digest::of(&bytes), 0, &bytes[..5 * BLOB], false);
        sender.send(half).await.unwrap();
        let temporary = small.path("cache/temporary");
        let folder = temporary.join(&Digest::of(&bytes).hex()[..2]);
        eventually("half of a blob", || {
            fs::read_dir(&folder).unwrap().count() == 1
        })
        .await;
        drop(program);
        assert!(upload.await.unwrap().is_err());
        small.fill();
        let (_program, client, _) = small.serve(reserve).await;
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(!client.has(Digest::of(&bytes)).await);
        assert!((1..=left).contains(&check(&client, &blobs).await));
        small.free();
    }
}
