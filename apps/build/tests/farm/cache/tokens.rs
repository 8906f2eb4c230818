//! The rights of each token, and TLS.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use filch_build::digest::Digest;
use filch_build::protocol::farm_client::FarmClient;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::execution_client::ExecutionClient;
use filch_build::reapi::{
    ActionResult, ExecuteRequest, FindMissingBlobsRequest, UpdateActionResultRequest,
};
use filch_build::server::{Certificate, Config, Server, StartError, Tokens};
use futures_util::stream;
use prost::Message as _;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{self, Channel, ClientTlsConfig, Error};
use tonic::{Code, Request, Status};

use crate::client::{Client, batch, refused, upload};
use crate::program::file;
use crate::server::{TestServer, start_with};

async fn guarded() -> TestServer {
    let tokens = Tokens::new("the secret", Some("the other"), Some("the hands"));
    start_with(|config| config.tokens = Some(tokens)).await
}

#[derive(Clone)]
struct Header(String);

impl tonic::service::Interceptor for Header {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if !self.0.is_empty() {
            let value = self.0.parse().unwrap();
            request.metadata_mut().insert("authorization", value);
        }
        Ok(request)
    }
}

fn client(
    server: &TestServer,
    header: &str,
) -> ContentAddressableStorageClient<InterceptedService<Channel, Header>> {
    let channel = server.channel.clone();
    ContentAddressableStorageClient::with_interceptor(channel, Header(header.to_owned()))
}

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let server = guarded().await;
    let path = format!("/cas/{}", Digest::EMPTY.hex());
    let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    for header in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer the secre",
        "Bearer the secrets",
        "the secret",
        "Digest the secret",
        "Basic the secret",
        &basic("the secret"),
        &basic("the secret:"),
        &basic("user:the secret:"),
    ] {
        let request = FindMissingBlobsRequest::default();
        let answer = client(&server, header).find_missing_blobs(request).await;
        refused(answer, Code::Unauthenticated, "a token is needed");
        for path in [&path, "/", "/status", "/metrics", "/nothing"] {
            let sent = [("authorization", header)];
            let sent = if header.is_empty() { &[] } else { &sent[..] };
            let answer = server.http_with("GET", path, sent, "").await;
            assert_eq!(answer.status, 401, "{header:?} {path}");
            let ways = answer.headers.get_all("www-authenticate");
            assert_eq!(ways.iter().count(), 2);
        }
    }
    for header in ["Bearer the secret", &basic("anybody:the secret")] {
        let digest = Digest::of(header.as_bytes());
        let request = batch(&[(digest, header.as_bytes())]);
        let answer = client(&server, header).batch_update_blobs(request).await;
        let status = answer.unwrap().into_inner().responses.remove(0).status;
        assert_eq!(status.unwrap().code, 0);
        let sent = [("authorization", header)];
        server.http_with("GET", &path, &sent, "").await.is(200);
    }
}

const READS: &str = "Bearer the other";

#[tokio::test]
async fn one_token_may_be_for_reading_only() {
    let server = guarded().await;
    let mut client = client(&server, READS);
    let request = FindMissingBlobsRequest::default();
    client.find_missing_blobs(request).await.unwrap();
    let digest = Digest::of(b"x");
    let answer = client.batch_update_blobs(batch(&[(digest, b"x")])).await;
    refused(answer, Code::PermissionDenied, "allows to read");
    let header = Header(READS.into());
    let mut actions = ActionCacheClient::with_interceptor(server.channel.clone(), header);
    let request = UpdateActionResultRequest::default();
    let answer = actions.update_action_result(request).await;
    refused(answer, Code::PermissionDenied, "allows to read");
    let path = format!("/cas/{}", digest.hex());
    for (method, status) in [
        ("GET", 404),
        ("HEAD", 404),
        ("PROPFIND", 405),
        ("PUT", 403),
        ("MKCOL", 403),
        ("DELETE", 403),
    ] {
        let sent = [("authorization", READS)];
        let answer = server.http_with(method, &path, &sent, "x").await;
        assert_eq!(answer.status, status, "{method}");
    }
}

/// A worker that lies about an action that it was not given finds nowhere to say so.
#[tokio::test]
async fn a_workers_token_stores_blobs_and_no_results() {
    const HANDS: &str = "Bearer the hands";
    let server = guarded().await;
    let header = || Header(HANDS.into());
    let digest = Digest::of(b"x");
    let mut content = client(&server, HANDS);
    let request = batch(&[(digest, b"x")]);
    content.batch_update_blobs(request).await.unwrap();
    let request = FindMissingBlobsRequest::default();
    content.find_missing_blobs(request).await.unwrap();
    let channel = || server.channel.clone();
    let mut bytes = ByteStreamClient::with_interceptor(channel(), header());
    let upload = stream::iter(upload(Digest::of(b"y"), b"y"));
    bytes.write(upload).await.unwrap();

    let mut actions = ActionCacheClient::with_interceptor(channel(), header());
    let request = UpdateActionResultRequest::default();
    let answer = actions.update_action_result(request).await;
    refused(answer, Code::PermissionDenied, "stores no results");
    let mut execution = ExecutionClient::with_interceptor(channel(), header());
    let answer = execution.execute(ExecuteRequest::default()).await;
    refused(
        answer.map(drop),
        Code::PermissionDenied,
        "stores no results",
    );
    for path in ["ac", "cas"] {
        let path = format!("/{path}/{}", digest.hex());
        let sent = [("authorization", HANDS)];
        server.http_with("PUT", &path, &sent, "x").await.is(403);
    }
    // And no client takes actions.
    for (header, allowed) in [(HANDS, true), (READS, false), ("Bearer the secret", false)] {
        let mut farm = FarmClient::with_interceptor(channel(), Header(header.into()));
        let answer = farm.work(stream::pending()).await.map(drop);
        match allowed {
            true => answer.unwrap(),
            false => refused(answer, Code::PermissionDenied, "this token"),
        }
    }
}

/// The request is not a gRPC call, but has the path and the body of one.
#[tokio::test]
async fn a_token_for_reading_does_not_write_in_disguise() {
    let server = guarded().await;
    let action = Digest::of(b"an action");
    let message = UpdateActionResultRequest {
        action_digest: Some(action.into()),
        action_result: Some(ActionResult::default()),
        ..Default::default()
    };
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let frame = [&[0], &length[..], &message].concat();
    let sent = [("authorization", READS)];
    let method = "/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult";
    for (verb, status) in [("GET", 415), ("HEAD", 415), ("POST", 403), ("PUT", 403)] {
        let answer = server.http_with(verb, method, &sent, frame.clone()).await;
        assert_eq!(answer.status, status, "{verb}");
    }
    let path = format!("/ac/{}", action.hex());
    server.http_with("GET", &path, &sent, "").await.is(404);
}

#[tokio::test]
async fn tokens_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let token = |text: &str| Tokens::line(file(folder.path(), "token", text));
    assert_eq!(token("  abc123\n").unwrap(), "abc123");
    for text in ["", "\n", "two words", "two\nlines"] {
        let error = token(text).unwrap_err();
        assert!(error.contains("not one line"), "{error}");
    }
    let error = Tokens::line("/nowhere/token").unwrap_err();
    assert!(error.contains("No such file"), "{error}");
    let tokens = Tokens::new("the secret", None, None);
    assert!(!format!("{tokens:?}").contains("secret"));
}

#[tokio::test]
async fn tls_is_spoken_where_there_is_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = signed.signing_key.serialize_pem();
    let certificate = |chain: &str, key: &str| Certificate {
        chain: file(folder.path(), "cert.pem", chain).into(),
        key: file(folder.path(), "key.pem", key).into(),
    };
    let config = Config {
        certificate: Some(certificate(&signed.cert.pem(), &key)),
        ..Config::default()
    };
    let running = Server::start(config.clone()).await.unwrap();
    let port = running.address().port();
    let connect = async |trusted: &rcgen::Certificate| -> Result<Channel, Error> {
        let trusted = transport::Certificate::from_pem(trusted.pem());
        let tls = ClientTlsConfig::new().ca_certificate(trusted);
        let endpoint = Channel::from_shared(format!("https://localhost:{port}")).unwrap();
        endpoint.tls_config(tls)?.connect().await
    };
    let channel = connect(&signed.cert).await.unwrap();
    assert!(Client { channel }.has(Digest::EMPTY).await);
    // A client that does not trust the certificate fails, as does one that speaks no TLS.
    assert!(connect(&other.cert).await.is_err());
    let plain = Channel::from_shared(format!("http://127.0.0.1:{port}")).unwrap();
    let channel = plain.connect_lazy();
    assert!(Client { channel }.missing(vec![]).await.is_err());
    running.shutdown().await;

    for (chain, key, why) in [
        ("", &*key, "no certificate"),
        ("not a certificate", &key, "no certificate"),
        (&signed.cert.pem(), "no key", "key.pem"),
        (&other.cert.pem(), &key, "cannot be used"),
    ] {
        certificate(chain, key);
        let error = Server::start(config.clone()).await.unwrap_err();
        assert!(matches!(error, StartError::Certificate(_)));
        assert!(error.to_string().contains(why), "{error}");
    }
    fs::remove_file(folder.path().join("key.pem")).unwrap();
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Certificate(_)), "{error}");
}
