//! Workers that use TLS to the coordinator and to each other.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::ChildStderr;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use filch_build::server::Certificate;
use filch_build::worker::remote::{RunningWorker, StartError};
use tokio::task::spawn_blocking;
use tonic::Code;
use tonic::transport::Channel;

use super::authority::{Authority, Encrypted};
use super::peers::{made, take};
use super::together::until;
use crate::client::{read, soon};
use crate::program::Program;

/// Returns the first line of a worker's log, and the rest: a worker that cannot write ends.
async fn log(worker: &mut Program) -> (String, BufReader<ChildStderr>) {
    let mut rest = BufReader::new(worker.stderr());
    let read = spawn_blocking(move || {
        let mut line = String::new();
        rest.read_line(&mut line).unwrap();
        (line, rest)
    });
    soon(read).await.unwrap()
}

#[tokio::test]
async fn a_worker_trusts_the_authority_that_it_was_told_of_and_no_other() {
    let farm = Encrypted::new().await;
    let start = |name: &str, authority: &Authority| {
        let options = ["--tls-ca", &authority.file(), "--name", name];
        Program::worker(&farm.url, &farm.folder(name), &options, &[])
    };
    let other = Authority::new();
    let mut misled = start("misled", &other);
    let (line, _log) = log(&mut misled).await;
    let why = "no connection to the coordinator: invalid peer certificate";
    assert!(line.contains(why), "{line}");
    let _right = start("right", &farm.authority);
    until(&farm.server, |farm| farm.workers.len() == 1).await;
    assert_eq!(farm.server.farm().snapshot().workers[0].name, "right");
    let input = farm.client.put("an input").await;
    let result = farm.client.sh("cat input", &[("input", input)]).await;
    assert_eq!(result.stdout_raw, b"an input");
}

/// A process, so that the options are the program's, and the trusted certificates are others.
#[tokio::test]
async fn without_an_authority_a_worker_trusts_what_the_system_trusts() {
    let farm = Encrypted::new().await;
    let Certificate { chain, key } = farm.authority.certificate();
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    let listen = ["--listen", "127.0.0.1:0"];
    let options = [&["--tls-cert", chain, "--tls-key", key], &listen[..]].concat();
    let system = ("SSL_CERT_FILE", &*farm.authority.file());
    let mut worker = Program::worker(&farm.url, &farm.folder("a"), &options, &[system]);
    let (line, _log) = log(&mut worker).await;
    assert!(line.contains("at work"), "{line}");
    until(&farm.server, |farm| farm.workers.len() == 1).await;
    let address = &farm.server.farm().snapshot().workers[0].address;
    assert!(address.starts_with("https://127.0.0.1:"), "{address}");
}

#[tokio::test]
async fn an_artifact_goes_from_worker_to_worker_encrypted() {
    let farm = Encrypted::new().await;
    let start = async |name| {
        let certificate = farm.authority.certificate();
        let config = farm.worker(name, Some(certificate));
        RunningWorker::start(config).await.unwrap()
    };
    let first = start("first").await;
    let (made, _busy) = made(&farm.client).await;
    let second = start("second").await;
    take(&farm.client, made).await;
    assert_eq!(first.traffic().served, 1);
    let traffic = second.traffic();
    assert_eq!((traffic.from_workers, traffic.failed), (1, 0));
    assert_eq!(traffic.from_coordinator, 0);

    let address = first.address().unwrap();
    let plain = Channel::from_shared(format!("http://{address}")).unwrap();
    let mut plain = ByteStreamClient::new(plain.connect_lazy());
    let refused = soon(plain.read(read(made))).await.unwrap_err();
    // The connection failed before anybody checked its key.
    assert_ne!(refused.code(), Code::Unauthenticated, "{refused}");
    let stranger = farm.authority.channel(format!("https://{address}")).await;
    let mut stranger = ByteStreamClient::new(stranger);
    let refused = soon(stranger.read(read(made))).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
    assert_eq!(first.traffic().served, 1);
}

#[tokio::test]
async fn what_a_worker_of_no_trust_has_comes_from_the_coordinator() {
    let farm = Encrypted::new().await;
    let other = Authority::new();
    let config = farm.worker("stranger", Some(other.certificate()));
    let stranger = RunningWorker::start(config).await.unwrap();
    let (made, _busy) = made(&farm.client).await;
    let options = ["--tls-ca", &farm.authority.file()];
    let mut reader = Program::worker(&farm.url, &farm.folder("reader"), &options, &[]);
    take(&farm.client, made).await;
    assert_eq!(stranger.traffic().served, 0);
    let mut said = reader.stderr();
    drop(reader);
    let mut log = String::new();
    said.read_to_string(&mut log).unwrap();
    let address = stranger.address().unwrap();
    let line = log.lines().find(|line| line.contains("did not come from"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains(&format!("https://{address}: ")), "{line}");
    assert!(line.contains("invalid peer certificate"), "{line}");
}

/// The scheme in a worker's address decides. A worker that shows its key in plain text reports that
/// itself.
#[tokio::test]
async fn a_worker_with_a_certificate_reads_from_one_without() {
    let farm = Encrypted::new().await;
    let authority = farm.authority.file();
    let listen = ["--listen", "127.0.0.1:0", "--slots", "1"];
    let options = [&["--tls-ca", &*authority], &listen[..]].concat();
    let mut plain = Program::worker(&farm.url, &farm.folder("plain"), &options, &[]);
    let (line, _log) = log(&mut plain).await;
    assert!(line.contains("this worker has no certificate"), "{line}");
    let (made, _busy) = made(&farm.client).await;
    let certificate = farm.authority.certificate();
    let reader = farm.worker("reader", Some(certificate));
    let reader = RunningWorker::start(reader).await.unwrap();
    take(&farm.client, made).await;
    let traffic = reader.traffic();
    assert_eq!((traffic.from_workers, traffic.failed), (1, 0));
}

#[tokio::test]
async fn a_certificate_and_an_address_have_to_fit() {
    let farm = Encrypted::new().await;
    let certificate = farm.authority.certificate();
    let refused = async |certificate: Option<&Certificate>, address: &str| {
        let mut config = farm.worker("a", certificate.cloned());
        config.listen.as_mut().unwrap().address = Some(address.to_owned());
        let error = RunningWorker::start(config).await.unwrap_err();
        assert!(matches!(error, StartError::Address { .. }), "{error}");
        error.to_string()
    };
    let error = refused(None, "https://here:1").await;
    assert!(error.contains("https needs a certificate"), "{error}");
    let error = refused(Some(&certificate), "http://here:1").await;
    assert!(error.contains("has to begin with https://"), "{error}");
    let error = refused(None, "here:1").await;
    assert!(error.contains("has to begin with http://"), "{error}");

    fs::write(&certificate.chain, "").unwrap();
    let config = farm.worker("a", Some(certificate));
    let error = RunningWorker::start(config.clone()).await.unwrap_err();
    assert!(matches!(error, StartError::Certificate(_)), "{error}");
    let mut config = farm.worker("a", None);
    config.authority = Some(farm.folder("nothing").into());
    let error = RunningWorker::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Certificate(_)), "{error}");

    let options = ["--tls-cert", "a", "--tls-key", "b"];
    let worker = Program::worker(&farm.url, &farm.folder("a"), &options, &[]);
    let (status, said) = worker.wait().await;
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("--listen <ADDRESS:PORT>"), "{said}");
}
