//! How fast the cache is, against what it stands beside: `cp` and `sha256sum` for a large blob, and
//! nginx with its dav module for small ones.
//!
//! ```sh
//! cargo run --release -p filch-build --example cache_speed -- ROUNDS
//! ```
//!
//! Rounds are interleaved. The median is printed, and the least and the greatest in brackets.

use std::error::Error;
use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bazel_remote_apis::google::bytestream::WriteRequest;
use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bytes::Bytes;
use filch_build::digest::Digest;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::{
    ActionResult, BatchReadBlobsRequest, BatchUpdateBlobsRequest, FindMissingBlobsRequest,
    GetActionResultRequest, OutputFile, UpdateActionResultRequest, batch_update_blobs_request,
};
use filch_build::server::{Config, Server};
use filch_build::storage::Location;
use futures_util::stream;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tonic::transport::Channel;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const LARGE: usize = 1 << 30;
const SMALL: usize = 4000;
const ACTIONS: usize = 10_000;
const CONNECTIONS: usize = 4;

#[tokio::main]
async fn main() -> Result<()> {
    let Some(rounds) = std::env::args().nth(1) else {
        println!("It takes minutes: say how many rounds.");
        return Ok(());
    };
    let rounds: usize = rounds.parse()?;
    let folder = tempfile::tempdir()?;
    let config = Config {
        storage: Location::Disk(folder.path().join("cache")),
        ..Config::default()
    };
    let server = Server::start(config).await?;
    let channel = Channel::from_shared(format!("http://{}", server.address()))?;
    let channel = channel
        .initial_stream_window_size(4 << 20)
        .connect()
        .await?;

    large(&channel, folder.path(), rounds).await?;
    small(&channel, server.address(), folder.path(), rounds).await?;
    actions(&channel, rounds).await?;
    server.shutdown().await;
    Ok(())
}

async fn large(channel: &Channel, folder: &Path, rounds: usize) -> Result<()> {
    let mut plain = Vec::new();
    let mut ours = Vec::new();
    let file = folder.join("large");
    for round in 0..rounds {
        fs::write(&file, noise(LARGE, round as u64 + 1))?;
        let digest = Digest::of(&fs::read(&file)?);
        let begin = Instant::now();
        let copied = Command::new("cp")
            .arg(&file)
            .arg(folder.join("copy"))
            .status()?;
        let sum = Command::new("sha256sum")
            .arg(&file)
            .stdout(Stdio::null())
            .status()?;
        assert!(copied.success() && sum.success());
        plain.push(LARGE as f64 / 1e6 / begin.elapsed().as_secs_f64());
        fs::remove_file(folder.join("copy"))?;

        let begin = Instant::now();
        let mut source = fs::File::open(&file)?;
        let mut offset = 0;
        let pieces = stream::iter(std::iter::from_fn(move || {
            let mut data = vec![0; 1 << 20];
            let read = source.read(&mut data).ok().filter(|read| *read > 0)?;
            data.truncate(read);
            let message = WriteRequest {
                resource_name: format!("uploads/u-{round}/blobs/{digest}"),
                write_offset: offset as i64,
                finish_write: offset + read == LARGE,
                data,
            };
            offset += read;
            Some(message)
        }));
        let answer = ByteStreamClient::new(channel.clone()).write(pieces).await?;
        assert_eq!(answer.into_inner().committed_size, LARGE as i64);
        ours.push(LARGE as f64 / 1e6 / begin.elapsed().as_secs_f64());
    }
    fs::remove_file(&file)?;
    let (plain, ours) = (
        report("1 GiB: cp, then sha256sum", "MB/s", plain),
        report("1 GiB: upload by ByteStream", "MB/s", ours),
    );
    println!("  ratio {:.2}", ours / plain);
    Ok(())
}

/// `SMALL` blobs of a few hundred bytes up to 8 KiB.
fn blobs(seed: usize) -> Vec<(Digest, Bytes)> {
    let blobs = (0..SMALL).map(|number| {
        let bytes = noise(200 + number % 8 * 1000, (seed * SMALL + number) as u64);
        (Digest::of(&bytes), Bytes::from(bytes))
    });
    blobs.collect()
}

async fn small(channel: &Channel, address: SocketAddr, folder: &Path, rounds: usize) -> Result<()> {
    let nginx = Nginx::start(&folder.join("nginx"))?;
    let mut grpc = Vec::new();
    let [mut puts, mut gets, mut rival_puts, mut rival_gets] = [(); 4].map(|()| Vec::new());
    for round in 0..rounds {
        grpc.push(batches(channel, &blobs(2 * round)).await?);
        let blobs = Arc::new(blobs(2 * round + 1));
        puts.push(http(address, "PUT", &blobs).await?);
        if let Some(nginx) = &nginx {
            rival_puts.push(http(nginx.address, "PUT", &blobs).await?);
            rival_gets.push(http(nginx.address, "GET", &blobs).await?);
        }
        gets.push(http(address, "GET", &blobs).await?);
    }
    report(
        "small blobs: FindMissing + BatchUpdate + BatchRead",
        "blobs/s",
        grpc,
    );
    let puts = report("small blobs: PUT", "blobs/s", puts);
    let gets = report("small blobs: GET", "blobs/s", gets);
    if nginx.is_some() {
        let rival_puts = report("small blobs: PUT, nginx", "blobs/s", rival_puts);
        let rival_gets = report("small blobs: GET, nginx", "blobs/s", rival_gets);
        println!(
            "  ratio {:.2} PUT, {:.2} GET",
            puts / rival_puts,
            gets / rival_gets
        );
    }
    Ok(())
}

async fn batches(channel: &Channel, blobs: &[(Digest, Bytes)]) -> Result<f64> {
    let mut client =
        ContentAddressableStorageClient::new(channel.clone()).max_decoding_message_size(8 << 20);
    let begin = Instant::now();
    for batch in blobs.chunks(100) {
        let digests: Vec<_> = batch.iter().map(|(digest, _)| (*digest).into()).collect();
        let request = FindMissingBlobsRequest {
            blob_digests: digests.clone(),
            ..Default::default()
        };
        let missing = client.find_missing_blobs(request).await?.into_inner();
        assert_eq!(missing.missing_blob_digests.len(), batch.len());
        let requests = batch
            .iter()
            .map(|(digest, data)| batch_update_blobs_request::Request {
                digest: Some((*digest).into()),
                data: data.to_vec(),
                ..Default::default()
            });
        let request = BatchUpdateBlobsRequest {
            requests: requests.collect(),
            ..Default::default()
        };
        let answer = client.batch_update_blobs(request).await?.into_inner();
        assert!(
            answer
                .responses
                .iter()
                .all(|blob| blob.status.as_ref().is_some_and(|status| status.code == 0))
        );
        let request = BatchReadBlobsRequest {
            digests,
            ..Default::default()
        };
        let answer = client.batch_read_blobs(request).await?.into_inner();
        assert!(
            answer
                .responses
                .iter()
                .zip(batch)
                .all(|(read, (_, data))| read.data == data[..])
        );
    }
    Ok(blobs.len() as f64 / begin.elapsed().as_secs_f64())
}

/// The same client for both: a few connections, each with one request at a time.
async fn http(
    address: SocketAddr,
    method: &'static str,
    blobs: &Arc<Vec<(Digest, Bytes)>>,
) -> Result<f64> {
    let begin = Instant::now();
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|first| {
            let blobs = blobs.clone();
            tokio::spawn(async move {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
                tokio::spawn(connection);
                for (digest, data) in blobs.iter().skip(first).step_by(CONNECTIONS) {
                    let body = if method == "PUT" {
                        data.clone()
                    } else {
                        Bytes::new()
                    };
                    let request = http::Request::builder()
                        .method(method)
                        .uri(format!("/cas/{}", digest.hex()))
                        .header("host", "localhost")
                        .body(Full::new(body))?;
                    sender.ready().await?;
                    let (head, body) = sender.send_request(request).await?.into_parts();
                    let body = body.collect().await?.to_bytes();
                    assert!(head.status.is_success(), "{method}: {}", head.status);
                    assert!(method == "PUT" || body == *data);
                }
                Result::Ok(())
            })
        })
        .collect();
    for connection in connections {
        connection.await??;
    }
    Ok(blobs.len() as f64 / begin.elapsed().as_secs_f64())
}

async fn actions(channel: &Channel, rounds: usize) -> Result<()> {
    let mut client = ActionCacheClient::new(channel.clone());
    let mut content = ContentAddressableStorageClient::new(channel.clone());
    let output = noise(100, u64::MAX);
    let digest = Digest::of(&output);
    content
        .batch_update_blobs(BatchUpdateBlobsRequest {
            requests: vec![batch_update_blobs_request::Request {
                digest: Some(digest.into()),
                data: output,
                ..Default::default()
            }],
            ..Default::default()
        })
        .await?;
    let actions: Vec<_> = (0..ACTIONS)
        .map(|number| Digest::of(&number.to_le_bytes()))
        .collect();
    for action in &actions {
        let result = ActionResult {
            output_files: vec![OutputFile {
                path: "out".into(),
                digest: Some(digest.into()),
                ..Default::default()
            }],
            ..Default::default()
        };
        client
            .update_action_result(UpdateActionResultRequest {
                action_digest: Some((*action).into()),
                action_result: Some(result),
                ..Default::default()
            })
            .await?;
    }
    let actions = Arc::new(actions);
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        let tasks: Vec<_> = (0..64)
            .map(|first| {
                let (actions, mut client) = (actions.clone(), client.clone());
                tokio::spawn(async move {
                    for action in actions.iter().skip(first).step_by(64) {
                        let request = GetActionResultRequest {
                            action_digest: Some((*action).into()),
                            ..Default::default()
                        };
                        client.get_action_result(request).await?;
                    }
                    Result::Ok(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        rates.push(ACTIONS as f64 / begin.elapsed().as_secs_f64());
    }
    report("10 000 cached actions: GetActionResult", "actions/s", rates);
    Ok(())
}

/// The simplest cache that there is: files, by PUT and GET.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    /// None where there is no such program.
    fn start(folder: &Path) -> Result<Option<Self>> {
        fs::create_dir_all(folder.join("files"))?;
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
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
        // Its workers have another user, who has to get there.
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
            println!("SKIPPED: no nginx here: nothing to compare small blobs with");
            return Ok(None);
        };
        let nginx = Self { child, address };
        let begin = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            if begin.elapsed() > Duration::from_secs(10) {
                return Err("nginx does not answer".into());
            }
        }
        Ok(Some(nginx))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It has workers, which end with it if it is asked to end.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.child.wait();
    }
}

/// Prints the rates and returns the median.
fn report(what: &str, unit: &str, mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let (least, greatest) = (rates[0], rates[rates.len() - 1]);
    println!("{what}: {median:.0} {unit} [{least:.0} to {greatest:.0}]");
    median
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let words = (0..length.div_ceil(8)).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let mut bytes: Vec<u8> = words.collect();
    bytes.truncate(length);
    bytes
}
