//! The rights of each token, and TLS.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use filch_build::digest::Digest;
use filch_build::reapi::action_cache_client::ActionCacheClient;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::reapi::{ActionResult, FindMissingBlobsRequest, UpdateActionResultRequest};
use filch_build::server::{Certificate, Config, Server, StartError, Tokens};
use prost::Message as _;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig};
use tonic::{Code, Request, Status};

use crate::server::http_types::request;
use crate::server::{TestServer, batch, channel, http, refused, start_with};

async fn guarded() -> TestServer {
    let tokens = Tokens::new("the secret", Some("the other"));
    start_with(|config| config.tokens = Some(tokens)).await
}

#[derive(Clone)]
struct Header(Option<String>);

impl tonic::service::Interceptor for Header {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(header) = &self.0 {
            let value = header.parse().unwrap();
            request.metadata_mut().insert("authorization", value);
        }
        Ok(request)
    }
}

async fn client(
    server: &TestServer,
    header: Option<&str>,
) -> ContentAddressableStorageClient<InterceptedService<Channel, Header>> {
    let channel = channel(server.running.address()).await;
    let header = Header(header.map(ToOwned::to_owned));
    ContentAddressableStorageClient::with_interceptor(channel, header)
}

fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let server = guarded().await;
    let path = format!("/cas/{}", Digest::EMPTY.hex());
    let wrong = [
        None,
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some("Bearer the secre".to_owned()),
        Some("Bearer the secrets".to_owned()),
        Some("the secret".to_owned()),
        Some("Digest the secret".to_owned()),
        Some("Basic the secret".to_owned()),
        Some(basic("the secret")),
        Some(basic("the secret:")),
        Some(basic("user:the secret:")),
    ];
    for header in wrong {
        let mut client = client(&server, header.as_deref()).await;
        let answer = client
            .find_missing_blobs(FindMissingBlobsRequest::default())
            .await;
        refused(answer, Code::Unauthenticated, "a token is needed");
        for path in [&path, "/", "/status", "/metrics", "/nothing"] {
            let mut get = request("GET", path);
            if let Some(header) = &header {
                get = get.header("authorization", header);
            }
            let answer = http(server.running.address(), get, "").await;
            assert_eq!(answer.status, 401, "{header:?} {path}");
            assert_eq!(answer.headers.get_all("www-authenticate").iter().count(), 2);
        }
    }
    for header in ["Bearer the secret".to_owned(), basic("anybody:the secret")] {
        let mut client = client(&server, Some(&header)).await;
        let digest = Digest::of(header.as_bytes());
        let answer = client
            .batch_update_blobs(batch(&[(digest, header.as_bytes())]))
            .await;
        assert_eq!(
            answer.unwrap().into_inner().responses[0]
                .status
                .as_ref()
                .unwrap()
                .code,
            0
        );
        let get = request("GET", &path).header("authorization", &header);
        assert_eq!(http(server.running.address(), get, "").await.status, 200);
    }
}

#[tokio::test]
async fn one_token_may_be_for_reading_only() {
    let server = guarded().await;
    let header = "Bearer the other";
    let mut client = client(&server, Some(header)).await;
    client
        .find_missing_blobs(FindMissingBlobsRequest::default())
        .await
        .unwrap();
    let digest = Digest::of(b"x");
    let answer = client.batch_update_blobs(batch(&[(digest, b"x")])).await;
    refused(answer, Code::PermissionDenied, "allows to read");
    let channel = channel(server.running.address()).await;
    let mut actions = ActionCacheClient::with_interceptor(channel, Header(Some(header.into())));
    let answer = actions
        .update_action_result(UpdateActionResultRequest::default())
        .await;
    refused(answer, Code::PermissionDenied, "allows to read");
    let path = format!("/cas/{}", digest.hex());
    for (method, status) in [("GET", 404), ("HEAD", 404), ("PUT", 403), ("DELETE", 403)] {
        let request = request(method, &path).header("authorization", header);
        assert_eq!(
            http(server.running.address(), request, "x").await.status,
            status,
            "{method}"
        );
    }
}

/// The request is not a gRPC call, but has the path and the body of one.
#[tokio::test]
async fn a_token_for_reading_does_not_write_in_disguise() {
    let server = guarded().await;
    let address = server.running.address();
    let action = Digest::of(b"an action");
    let message = UpdateActionResultRequest {
        action_digest: Some(action.into()),
        action_result: Some(ActionResult::default()),
        ..Default::default()
    };
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let frame = [&[0], &length[..], &message].concat();
    let method = "build.bazel.remote.execution.v2.ActionCache/UpdateActionResult";
    for (verb, status) in [("GET", 415), ("HEAD", 415), ("POST", 403), ("PUT", 403)] {
        let call = request(verb, &format!("/{method}")).header("authorization", "Bearer the other");
        let answer = http(address, call, frame.clone()).await;
        assert_eq!(answer.status, status, "{verb}");
    }
    let path = format!("/ac/{}", action.hex());
    let get = request("GET", &path).header("authorization", "Bearer the other");
    assert_eq!(http(address, get, "").await.status, 404);
}

#[tokio::test]
async fn tokens_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "  abc123\n").unwrap();
    assert!(Tokens::read(&file, None).is_ok());
    for text in ["", "\n", "two words", "two\nlines"] {
        fs::write(&file, text).unwrap();
        let error = Tokens::read(&file, None).unwrap_err().to_string();
        assert!(error.contains("not one line"), "{error}");
    }
    let error = Tokens::read(&folder.path().join("none"), None).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
    let tokens = Tokens::new("the secret", None);
    assert!(!format!("{tokens:?}").contains("secret"));
}

#[tokio::test]
async fn tls_is_spoken_where_there_is_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = Certificate {
        chain: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    fs::write(&certificate.chain, signed.cert.pem()).unwrap();
    fs::write(&certificate.key, signed.signing_key.serialize_pem()).unwrap();
    let config = Config {
        certificate: Some(certificate.clone()),
        ..Config::default()
    };
    let running = Server::start(config.clone()).await.unwrap();
    let address = running.address();
    let url = format!("https://localhost:{}", address.port());
    let trusted = tonic::transport::Certificate::from_pem(signed.cert.pem());
    let tls = ClientTlsConfig::new().ca_certificate(trusted);
    let endpoint = Channel::from_shared(url.clone())
        .unwrap()
        .tls_config(tls)
        .unwrap();
    let channel = endpoint.connect().await.unwrap();
    let mut client = ContentAddressableStorageClient::new(channel);
    client
        .find_missing_blobs(FindMissingBlobsRequest::default())
        .await
        .unwrap();
    // A client that does not trust the certificate fails, as does one that speaks no TLS.
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let trusted = tonic::transport::Certificate::from_pem(other.cert.pem());
    let tls = ClientTlsConfig::new().ca_certificate(trusted);
    let endpoint = Channel::from_shared(url).unwrap().tls_config(tls).unwrap();
    assert!(endpoint.connect().await.is_err());
    let plain = Channel::from_shared(format!("http://{address}"))
        .unwrap()
        .connect_lazy();
    let mut client = ContentAddressableStorageClient::new(plain);
    let answer = client
        .find_missing_blobs(FindMissingBlobsRequest::default())
        .await;
    assert!(answer.is_err());
    running.shutdown().await;

    for (chain, key, why) in [
        ("", None, "no certificate"),
        ("not a certificate", None, "no certificate"),
        (&*signed.cert.pem(), Some("no key"), "key.pem"),
        (&*other.cert.pem(), None, "cannot be used"),
    ] {
        fs::write(&certificate.chain, chain).unwrap();
        if let Some(key) = key {
            fs::write(&certificate.key, key).unwrap();
        } else {
            fs::write(&certificate.key, signed.signing_key.serialize_pem()).unwrap();
        }
        let error = Server::start(config.clone()).await.unwrap_err();
        assert!(matches!(error, StartError::Certificate { .. }));
        assert!(error.to_string().contains(why), "{error}");
    }
    fs::remove_file(&certificate.key).unwrap();
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Certificate { .. }), "{error}");
}
