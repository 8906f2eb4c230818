//! The tokens that clients and workers send, and what each allows.

use std::fmt;
use std::path::Path;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue};
use subtle::ConstantTimeEq as _;
use tonic::{Code, Status};

use crate::cache::Refusal;
use crate::digest::Digest;

/// The calls of gRPC that change nothing.
const READS: &[&str] = &[
    "/build.bazel.remote.execution.v2.ActionCache/GetActionResult",
    "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree",
    "/google.bytestream.ByteStream/QueryWriteStatus",
    "/google.bytestream.ByteStream/Read",
];

/// The call by which a worker takes actions.
const WORK: &str = "/filch.build.v1.Farm/Work";

/// The calls of a worker beside these. It stores blobs, which are what their digests say, and no
/// results: the coordinator does that, for the action that it gave to the worker.
const WORKS: &[&str] = &[
    "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
    WORK,
    "/google.bytestream.ByteStream/Write",
];

/// The tokens that are accepted. A client sends one as `Authorization: Bearer TOKEN` or as the
/// password of `Authorization: Basic`, which is what a URL with a password becomes.
#[derive(Clone, Args)]
pub struct Tokens {
    /// A file with the token that clients must send
    #[arg(long = "token-file", value_name = "FILE", required = false, value_parser = Token::read)]
    all: Token,
    /// A file with a token that only allows reading
    #[arg(long = "read-token-file", value_name = "FILE", requires = "all")]
    #[arg(value_parser = Token::read)]
    reading: Option<Token>,
    /// A file with a token for workers: it allows to read, to store blobs and to take actions, and
    /// not to run any or to store results. If it is given, clients' tokens take no actions
    #[arg(long = "worker-token-file", value_name = "FILE", requires = "all")]
    #[arg(value_parser = Token::read)]
    working: Option<Token>,
}

/// A token's hash: all have one length, and the token itself is never printed.
#[derive(Clone)]
struct Token([u8; 32]);

impl Token {
    fn new(text: &[u8]) -> Self {
        Self(*Digest::of(text).hash())
    }

    fn read(file: &str) -> Result<Self, String> {
        Tokens::line(file).map(|token| Self::new(token.as_bytes()))
    }

    /// Takes the same time whether they are equal or not.
    fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Takes one token for everything, and perhaps others that only allow reading, and working.
    pub fn new(all: &str, reading: Option<&str>, working: Option<&str>) -> Self {
        let token = |token: &str| Token::new(token.as_bytes());
        Self {
            all: token(all),
            reading: reading.map(token),
            working: working.map(token),
        }
    }

    /// Reads the one token of a file.
    ///
    /// # Errors
    /// If it cannot be read, or has none.
    pub fn line(file: impl AsRef<Path>) -> Result<String, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        let token = text.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("not one line of visible ASCII characters".into());
        }
        Ok(token.to_owned())
    }

    fn check(&self, request: &Request) -> Result<(), Status> {
        let unknown =
            || Status::unauthenticated("a token is needed, and none or a wrong one was sent");
        let token = sent(request.headers()).ok_or_else(unknown)?;
        // All are compared, so that it takes the same time whichever it is.
        let is = |known: &Option<Token>| known.as_ref().is_some_and(|known| known.is(&token));
        let (all, reading, working) = (self.all.is(&token), is(&self.reading), is(&self.working));
        let path = request.uri().path();
        let (reads, works) = if is_grpc(request.headers()) {
            (READS.contains(&path), WORKS.contains(&path))
        } else {
            let reads = matches!(request.method().as_str(), "GET" | "HEAD" | "PROPFIND");
            (reads, false)
        };
        let (allowed, allows) = match (all, working, reading) {
            (true, ..) => (self.working.is_none() || path != WORK, "is not a worker's"),
            (_, true, _) => (reads || works, "is a worker's: it stores no results"),
            (_, _, true) => (reads, "allows to read, and nothing else"),
            _ => return Err(unknown()),
        };
        if allowed {
            return Ok(());
        }
        Err(Status::permission_denied(format!("this token {allows}")))
    }
}

/// Reads the token that a client sends.
fn sent(headers: &HeaderMap) -> Option<Token> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let space = value.iter().position(|byte| *byte == b' ')?;
    let (scheme, rest) = value.split_at(space);
    let rest = rest.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(Token::new(rest));
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let pair = STANDARD.decode(rest).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    Some(Token::new(&pair[colon + 1..]))
}

/// Passes the requests that their token allows.
pub(super) async fn check(State(tokens): State<Tokens>, request: Request, next: Next) -> Response {
    let Err(status) = tokens.check(&request) else {
        return next.run(request).await;
    };
    if is_grpc(request.headers()) {
        return status.into_http();
    }
    let is_unknown = status.code() == Code::Unauthenticated;
    let mut response = Refusal::from(status).into_response();
    if is_unknown {
        // A browser then asks for a password.
        for scheme in ["Bearer", "Basic realm=\"filch\""] {
            let scheme = HeaderValue::from_static(scheme);
            response.headers_mut().append(WWW_AUTHENTICATE, scheme);
        }
    }
    response
}

pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"application/grpc"))
}
