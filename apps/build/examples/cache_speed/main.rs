//! The speed of the cache, against that of nginx with its dav module, and of an upload to the disk
//! against `cp` and `sha256sum`.
//!
//! ```sh
//! cargo run --release -p filch-build --example cache_speed -- ROUNDS [WHAT]
//! ```
//!
//! `WHAT` is one of `actions`, `small`, `large`, `stream` and `upload`; by default, all are run.
//! The servers are processes; rounds are interleaved. Prints medians, ranges and processor time.
//! least and the greatest in brackets, and what the server took of the processors.

#[path = "../../tests/common/cpu.rs"]
mod cpu;
mod grpc;
mod http;
mod rate;
mod servers;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use filch_build::digest::Digest;
use tonic::transport::Channel;

use rate::{Rate, report};
use servers::Process;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
type Blobs = Arc<Vec<(Digest, Bytes)>>;

const CONNECTIONS: usize = 4;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (rounds, part) = match &*arguments {
        [serve, folder] if serve == "serve" => return servers::serve(Path::new(folder)).await,
        [rounds] => (rounds.parse()?, None),
        [rounds, part] => (rounds.parse()?, Some(&**part)),
        _ => {
            println!("It takes minutes: say how many rounds.");
            return Ok(());
        }
    };
    let wanted = |name| part.is_none_or(|part| part == name);
    let folder = tempfile::tempdir()?;
    let ours = Process::ours(&folder.path().join("cache"))?;
    let nginx = Process::nginx(&folder.path().join("nginx"))?;
    let channel = Channel::from_shared(format!("http://{}", ours.address))?;
    let channel = channel
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(16 << 20)
        .connect()
        .await?;

    if wanted("actions") {
        grpc::actions(&channel, &ours, rounds).await?;
    }
    if wanted("small") {
        small(&channel, &ours, nginx.as_ref(), rounds).await?;
    }
    if wanted("large") {
        large(&ours, nginx.as_ref(), rounds).await?;
    }
    if wanted("stream") {
        stream(&channel, &ours, rounds).await?;
    }
    if wanted("upload") {
        upload(&channel, folder.path(), rounds).await?;
    }
    Ok(())
}

/// Measures blobs of a few hundred bytes up to 8 KiB.
async fn small(
    channel: &Channel,
    ours: &Process,
    nginx: Option<&Process>,
    rounds: usize,
) -> Result<()> {
    const COUNT: usize = 10_000;
    let blobs = |seed: usize| -> Blobs {
        let sizes = (0..COUNT).map(|number| 200 + number % 8 * 1000);
        make(seed, sizes)
    };
    let mut batches = Vec::new();
    let mut http = Http::default();
    for round in 0..rounds {
        let blobs = [blobs(2 * round), blobs(2 * round + 1)];
        let work = grpc::batches(channel, &blobs[0]);
        batches.push(Rate::of(ours, COUNT as f64, work).await?);
        http.round(ours, nginx, &blobs[1], COUNT as f64).await?;
    }
    report(
        "small: FindMissing, BatchUpdate, BatchRead",
        "blobs",
        batches,
    );
    http.report("small:", "blobs");
    Ok(())
}

/// The bytes of a large blob.
const LARGE: usize = 64 << 20;
const LARGES: usize = 4;
const MEGABYTES: f64 = (LARGES * LARGE) as f64 / 1e6;

fn large_blobs(seed: usize) -> Blobs {
    make(seed, [LARGE; LARGES].into_iter())
}

async fn large(ours: &Process, nginx: Option<&Process>, rounds: usize) -> Result<()> {
    let mut http = Http::default();
    for round in 0..rounds {
        http.round(ours, nginx, &large_blobs(1000 + round), MEGABYTES)
            .await?;
    }
    http.report("64 MiB:", "MB");
    Ok(())
}

async fn stream(channel: &Channel, ours: &Process, rounds: usize) -> Result<()> {
    let [mut writes, mut reads] = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        let blobs = large_blobs(2000 + round);
        let work = grpc::write(channel, &blobs);
        writes.push(Rate::of(ours, MEGABYTES, work).await?);
        let work = grpc::read(channel, &blobs);
        reads.push(Rate::of(ours, MEGABYTES, work).await?);
    }
    report("64 MiB: ByteStream.Write", "MB", writes);
    report("64 MiB: ByteStream.Read", "MB", reads);
    Ok(())
}

/// The rates of PUT and GET, with the farm's cache and with nginx.
#[derive(Default)]
struct Http {
    puts: [Vec<Rate>; 2],
    gets: [Vec<Rate>; 2],
}

impl Http {
    async fn round(
        &mut self,
        ours: &Process,
        nginx: Option<&Process>,
        blobs: &Blobs,
        count: f64,
    ) -> Result<()> {
        for (number, server) in [Some(ours), nginx].into_iter().enumerate() {
            let Some(server) = server else { continue };
            let work = http::all(server.address, "PUT", blobs);
            self.puts[number].push(Rate::of(server, count, work).await?);
        }
        for (number, server) in [nginx, Some(ours)].into_iter().enumerate() {
            let Some(server) = server else { continue };
            let work = http::all(server.address, "GET", blobs);
            self.gets[1 - number].push(Rate::of(server, count, work).await?);
        }
        Ok(())
    }

    fn report(self, what: &str, unit: &str) {
        for (method, [ours, nginx]) in [("PUT", self.puts), ("GET", self.gets)] {
            let ratio = rate::ratio(&ours, &nginx);
            report(&format!("{what} {method}"), unit, ours);
            report(&format!("{what} {method}, nginx"), unit, nginx);
            println!("  of nginx: {ratio}");
        }
    }
}

const GIB: usize = 1 << 30;

/// Copies 1 GiB from one file to another place.
async fn upload(channel: &Channel, folder: &Path, rounds: usize) -> Result<()> {
    let [mut plain, mut uploads] = [Vec::new(), Vec::new()];
    let file = folder.join("large");
    let megabytes = GIB as f64 / 1e6;
    for round in 0..rounds {
        fs::write(&file, noise(GIB, round as u64 + 1))?;
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
        plain.push(megabytes / begin.elapsed().as_secs_f64());
        fs::remove_file(folder.join("copy"))?;

        let begin = Instant::now();
        grpc::upload(channel, digest, fs::File::open(&file)?).await?;
        uploads.push(megabytes / begin.elapsed().as_secs_f64());
    }
    fs::remove_file(&file)?;
    println!("1 GiB: cp, then sha256sum: {} MB/s", rate::spread(plain));
    println!(
        "1 GiB: upload by ByteStream: {} MB/s",
        rate::spread(uploads)
    );
    Ok(())
}

fn make(seed: usize, sizes: impl Iterator<Item = usize>) -> Blobs {
    let blobs = sizes.enumerate().map(|(number, size)| {
        let bytes = noise(size, (seed * 1_000_003 + number) as u64);
        (Digest::of(&bytes), Bytes::from(bytes))
    });
    Arc::new(blobs.collect())
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
