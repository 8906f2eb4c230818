//! The speed of the cache, against that of nginx with its dav module.
//!
//! ```sh
//! cargo test --profile measured -p filch-build --test farm -- --ignored --nocapture cache::speed
//! ```
//!
//! The servers are processes; rounds are interleaved. Prints medians, ranges and processor time.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use bytes::Bytes;
use filch_build::digest::Digest;
use filch_build::reapi::BatchReadBlobsRequest;
use http_body_util::{BodyExt as _, Full};
use tokio::task::JoinSet;

use crate::client::{Client, batch, pieces, read, with_output};
use crate::installed;
use crate::program::{Program, filch_build, free_port};
use crate::server::{connect, noise};

const ROUNDS: u64 = 3;
const CONNECTIONS: usize = 4;

type Blobs = Arc<Vec<(Digest, Bytes)>>;

fn make(seed: u64, sizes: impl Iterator<Item = usize>) -> Blobs {
    let blobs = (seed * 1_000_003..).zip(sizes).map(|(seed, size)| {
        let bytes = Bytes::from(noise(size, seed));
        (Digest::of(&bytes), bytes)
    });
    Arc::new(blobs.collect())
}

/// The speed of a server at one task: the number done in a second, and its processor time for each,
/// in microseconds.
#[derive(Clone, Copy)]
struct Rate {
    rate: f64,
    cpu: f64,
}

impl Rate {
    async fn of(process: u32, count: f64, work: impl Future<Output = ()>) -> Self {
        let (begin, cpu) = (Instant::now(), cpu_time(process).unwrap());
        work.await;
        let taken = begin.elapsed();
        let cpu = cpu_time(process).unwrap() - cpu;
        Self {
            rate: count / taken.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / count,
        }
    }
}

fn report(what: &str, unit: &str, rates: &[Rate]) {
    let cpu = spread(rates.iter().map(|rate| rate.cpu).collect());
    let rates = spread(rates.iter().map(|rate| rate.rate).collect());
    println!("{what}: {rates} {unit}/s; {cpu} us of the server for each");
}

/// Puts or gets blobs by HTTP, by a few connections, each with one request at a time.
async fn all(address: SocketAddr, method: &'static str, blobs: &Blobs) {
    let mut connections = JoinSet::new();
    for first in 0..CONNECTIONS {
        connections.spawn(every(first, address, method, blobs.clone()));
    }
    connections.join_all().await;
}

async fn every(first: usize, address: SocketAddr, method: &str, blobs: Blobs) {
    let mut sender = connect(address).await;
    for (digest, data) in blobs.iter().skip(first).step_by(CONNECTIONS) {
        let is_put = method == "PUT";
        let body = if is_put { data.clone() } else { Bytes::new() };
        let path = format!("/cas/{}", digest.hex());
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("host", "localhost").body(Full::new(body));
        sender.ready().await.unwrap();
        let answer = sender.send_request(request.unwrap()).await.unwrap();
        let (head, mut body) = answer.into_parts();
        assert!(head.status.is_success(), "{method}: {}", head.status);
        // Compared piece by piece: holding all in memory would cost the client more than the rest.
        let mut rest = &data[..];
        while let Some(frame) = body.frame().await {
            if let (Ok(piece), false) = (frame.unwrap().into_data(), is_put) {
                rest = rest.strip_prefix(&piece[..]).expect("the blob");
            }
        }
        assert!(is_put || rest.is_empty());
    }
}

/// The servers, and the client of ours.
struct Bench {
    ours: Program,
    address: SocketAddr,
    client: Client,
    nginx: Option<Nginx>,
}

impl Bench {
    async fn new() -> Self {
        let (ours, address) = Program::coordinator(|folder| {
            let mut command = filch_build(&["serve", "--listen", "127.0.0.1:0", "--storage"]);
            command.arg(format!("disk:{}", folder.join("stored").display()));
            command
        });
        Self {
            ours,
            address,
            client: Client::new(address).await,
            nginx: Nginx::start(),
        }
    }

    async fn rate(&self, count: f64, work: impl Future<Output = ()>) -> Rate {
        Rate::of(self.ours.process.id(), count, work).await
    }

    /// Puts and gets blobs by HTTP, with both servers; `round` makes them.
    async fn http(&self, what: &str, unit: &str, count: f64, blobs: impl Fn(u64) -> Blobs) {
        let nginx = self.nginx.as_ref().map(|nginx| {
            let address = SocketAddr::from(([127, 0, 0, 1], nginx.port));
            ("nginx", nginx.process(), address)
        });
        let ours = ("ours", self.ours.process.id(), self.address);
        let servers: Vec<_> = [Some(ours), nginx].into_iter().flatten().collect();
        let mut rates = vec![[Vec::new(), Vec::new()]; servers.len()];
        for round in 0..ROUNDS {
            let blobs = blobs(round);
            for (way, method) in ["PUT", "GET"].into_iter().enumerate() {
                for (rates, (_, process, address)) in rates.iter_mut().zip(&servers) {
                    let work = all(*address, method, &blobs);
                    rates[way].push(Rate::of(*process, count, work).await);
                }
            }
        }
        for (way, method) in ["PUT", "GET"].into_iter().enumerate() {
            for (rates, (name, ..)) in rates.iter().zip(&servers) {
                report(&format!("{what}: {method}, {name}"), unit, &rates[way]);
            }
            if let [ours, nginx] = &rates[..] {
                let rounds = ours[way].iter().zip(&nginx[way]);
                let ratios = rounds.map(|(ours, nginx)| ours.rate / nginx.rate);
                println!("  of nginx: {}", spread(ratios.collect()));
            }
        }
    }
}

/// Looks for blobs, stores and reads them, in batches.
async fn batches(client: &Client, blobs: &Blobs) {
    for blobs in blobs.chunks(100) {
        let digests: Vec<_> = blobs.iter().map(|(digest, _)| *digest).collect();
        let missing = client.missing(digests.clone()).await.unwrap();
        assert_eq!(missing.len(), blobs.len());
        let request: Vec<_> = blobs
            .iter()
            .map(|(digest, data)| (*digest, &data[..]))
            .collect();
        let stored = client.content().batch_update_blobs(batch(&request)).await;
        let stored = stored.unwrap().into_inner().responses;
        assert!(
            stored
                .iter()
                .all(|blob| blob.status.as_ref().unwrap().code == 0)
        );
        let request = BatchReadBlobsRequest {
            digests: digests.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        let read = client.content().batch_read_blobs(request).await.unwrap();
        let read = read.into_inner().responses;
        assert!(
            read.iter()
                .zip(blobs)
                .all(|(read, (_, data))| read.data == data[..])
        );
    }
}

/// Does something with each of these, all at a time.
async fn each<T, F>(of: impl IntoIterator<Item = T>, work: impl Fn(T) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for one in of {
        tasks.spawn(work(one));
    }
    tasks.join_all().await;
}

/// Reads a blob, without keeping it.
async fn check(client: Client, digest: Digest, data: Bytes) {
    let pieces = client.bytes().read(read(digest)).await;
    let (mut pieces, mut rest) = (pieces.unwrap().into_inner(), &data[..]);
    while let Some(piece) = pieces.message().await.unwrap() {
        rest = rest.strip_prefix(&piece.data[..]).expect("the blob");
    }
    assert!(rest.is_empty());
}

/// Stores a blob whose messages are made before.
async fn store(client: Client, digest: Digest, data: Bytes) {
    let stored = client.upload(pieces(digest, &data, 64 << 10)).await;
    assert_eq!(stored.unwrap(), data.len() as i64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn speed() {
    let bench = Bench::new().await;
    let client = &bench.client;

    // A build in which nothing has changed: 64 requests at a time.
    const ACTIONS: usize = 10_000;
    let result = with_output("out", client.put([7; 100]).await);
    let actions = (0..ACTIONS).map(|number| Digest::of(&number.to_le_bytes()));
    let actions: Vec<_> = actions.collect();
    for &action in &actions {
        client.learn(action, &result).await.unwrap();
    }
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let work = each(actions.chunks(ACTIONS.div_ceil(64)), |actions| {
            let (actions, client) = (actions.to_vec(), client.clone());
            async move {
                for action in actions {
                    client.known(action).await.unwrap();
                }
            }
        });
        rates.push(bench.rate(ACTIONS as f64, work).await);
    }
    report("10 000 cached actions: GetActionResult", "actions", &rates);

    // Blobs of a few hundred bytes up to 8 KiB.
    const COUNT: usize = 10_000;
    let small = |seed| make(seed, (0..COUNT).map(|number| 200 + number % 8 * 1000));
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let blobs = small(100 + round);
        rates.push(bench.rate(COUNT as f64, batches(client, &blobs)).await);
    }
    report(
        "small: FindMissing, BatchUpdate, BatchRead",
        "blobs",
        &rates,
    );
    bench.http("small", "blobs", COUNT as f64, small).await;

    const LARGE: [usize; 4] = [64 << 20; 4];
    let megabytes = LARGE.iter().sum::<usize>() as f64 / 1e6;
    let large = |seed| make(1000 + seed, LARGE.into_iter());
    bench.http("64 MiB", "MB", megabytes, large).await;
    let [mut writes, mut reads] = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let blobs = large(100 + round);
        let all = || blobs.iter().cloned();
        let work = each(all(), |(digest, data)| store(client.clone(), digest, data));
        writes.push(bench.rate(megabytes, work).await);
        let work = each(all(), |(digest, data)| check(client.clone(), digest, data));
        reads.push(bench.rate(megabytes, work).await);
    }
    report("64 MiB: ByteStream.Write", "MB", &writes);
    report("64 MiB: ByteStream.Read", "MB", &reads);
}

/// Returns the processor time of a process and those that it started, to 10 ms.
pub(crate) fn cpu_time(process: u32) -> io::Result<Duration> {
    let children = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(children)?;
    let children = children.split_whitespace();
    let processes = children.filter_map(|child| child.parse().ok());
    processes.chain([process]).map(of_one).sum()
}

fn of_one(process: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The program's name, in brackets, may have spaces in it. Of the fields after it, the twelfth
    // and the next are its own time and the kernel's for it, in hundredths of a second.
    let numbers = stat.rsplit(')').next().unwrap_or_default();
    let numbers = numbers.split_whitespace().skip(11).take(2);
    let hundredths = numbers.filter_map(|number| number.parse::<u64>().ok());
    Ok(Duration::from_millis(10 * hundredths.sum::<u64>()))
}

/// Writes the median, the least and the greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let [first, .., last] = &values[..] else {
        return format!("{values:?}");
    };
    format!("{:7.2} ({first:.2} to {last:.2})", values[values.len() / 2])
}

/// The simplest cache there is: nginx, with files that clients put.
#[derive(Debug)]
struct Nginx {
    server: Program,
    port: u16,
}

impl Nginx {
    /// Returns `None`, and prints a line on the terminal, if it is not installed.
    fn start() -> Option<Self> {
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
    fn process(&self) -> u32 {
        self.server.process.id()
    }
}
