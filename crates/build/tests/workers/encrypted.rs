//! Workers whose way to the coordinator is encrypted.

use std::io::{BufRead as _, BufReader};

use filch_build::server::{self, Server};
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use tonic::transport::{Channel, ClientTlsConfig};

use crate::client::{Client, soon};
use crate::processes::{Process, file};
use crate::together::until;

#[tokio::test]
async fn a_worker_trusts_the_authority_that_it_was_told_of_and_no_other() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| file(folder.path(), name, text);
    let [signed, other] =
        [(); 2].map(|()| rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap());
    let config = server::Config {
        certificate: Some(server::Certificate {
            chain: file("certificate", &signed.cert.pem()).into(),
            key: file("key", &signed.signing_key.serialize_pem()).into(),
        }),
        ..server::Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let url = format!("https://localhost:{}", server.address().port());
    let start = |name: &str, authority: &str| {
        let authority = file(&format!("trusted by {name}"), authority);
        let options = ["--tls-ca", &authority, "--name", name];
        Process::worker_with(&url, &folder.path().join(name), &options)
    };
    let mut misled = start("misled", &other.cert.pem());
    let said = BufReader::new(misled.stderr());
    let says_so = soon(spawn_blocking(|| {
        let mut lines = said.lines().map_while(Result::ok);
        lines.any(|line| line.contains("no connection to the coordinator"))
    }));
    assert!(says_so.await.unwrap(), "it has not ended");
    let _right = start("right", &signed.cert.pem());
    until(&server, |farm| farm.workers.len() == 1).await;
    assert_eq!(server.farm().snapshot().await.workers[0].name, "right");

    let trusted = tonic::transport::Certificate::from_pem(signed.cert.pem());
    let tls = ClientTlsConfig::new().ca_certificate(trusted);
    let endpoint = Channel::from_shared(url).unwrap().tls_config(tls).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let client = Client { channel };
    let input = client.put("an input").await;
    let script = client.script("cat input", &[("input", input)], &[]).await;
    assert_eq!(client.result(script).await.stdout_raw, b"an input");
}
