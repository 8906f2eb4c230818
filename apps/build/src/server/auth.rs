//! The tokens that clients and workers send, and what each allows.

use std::fmt;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use subtle::ConstantTimeEq as _;
use tonic::Status;

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

/// The tokens that are accepted. A client sends one as `Authorization: Bearer TOKEN` or as the
/// password of `Authorization: Basic`, which is what a URL with a password becomes.
#[derive(Clone)]
pub struct Tokens {
    all: Token,
    reading: Option<Token>,
}

/// A token's hash: all have one length, and the token itself is never printed.
#[derive(Clone)]
struct Token([u8; 32]);

impl Token {
    fn new(text: &[u8]) -> Self {
        Self(*Digest::of(text).hash())
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
    /// Takes one token for everything, and perhaps another that only allows reading.
    pub fn new(all: &str, reading: Option<&str>) -> Self {
        Self {
            all: Token::new(all.as_bytes()),
            reading: reading.map(|token| Token::new(token.as_bytes())),
        }
    }

    /// Reads them from files of one line each.
    ///
    /// # Errors
    /// If a file cannot be read, or has no token.
    pub fn read(all: &Path, reading: Option<&Path>) -> Result<Self, NotATokenFile> {
        let all = line(all)?;
        let reading = reading.map(line).transpose()?;
        Ok(Self::new(&all, reading.as_deref()))
    }

    /// Reads the one token of a file.
    ///
    /// # Errors
    /// If it cannot be read, or has none.
    pub fn line(file: &Path) -> Result<String, NotATokenFile> {
        line(file)
    }

    fn check(&self, request: &Request) -> Result<(), Refused> {
        let token = sent(request.headers()).ok_or(Refused::Unknown)?;
        // Both are compared, so that it takes the same time whichever it is.
        let (all, reading) = (
            self.all.is(&token),
            self.reading.as_ref().is_some_and(|known| known.is(&token)),
        );
        let reads = if is_grpc(request.headers()) {
            READS.contains(&request.uri().path())
        } else {
            matches!(*request.method(), Method::GET | Method::HEAD)
        };
        match (all, reading) {
            (true, _) => Ok(()),
            (false, true) if reads => Ok(()),
            (false, true) => Err(Refused::ReadOnly),
            (false, false) => Err(Refused::Unknown),
        }
    }
}

fn line(file: &Path) -> Result<String, NotATokenFile> {
    let refuse = |why: String| NotATokenFile {
        file: file.to_owned(),
        why,
    };
    let text = std::fs::read_to_string(file).map_err(|error| refuse(error.to_string()))?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refuse("not one line of visible ASCII characters".into()));
    }
    Ok(token.to_owned())
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

enum Refused {
    Unknown,
    ReadOnly,
}

/// Passes the requests that their token allows.
pub(super) async fn check(State(tokens): State<Tokens>, request: Request, next: Next) -> Response {
    let Err(refused) = tokens.check(&request) else {
        return next.run(request).await;
    };
    let (code, status) = match refused {
        Refused::Unknown => (
            StatusCode::UNAUTHORIZED,
            Status::unauthenticated("a token is needed, and none or a wrong one was sent"),
        ),
        Refused::ReadOnly => (
            StatusCode::FORBIDDEN,
            Status::permission_denied("this token allows to read, and nothing else"),
        ),
    };
    if is_grpc(request.headers()) {
        return status.into_http();
    }
    let mut response = Response::new(Body::from(format!("{}\n", status.message())));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    if code == StatusCode::UNAUTHORIZED {
        // A browser then asks for a password.
        headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        headers.append(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("Basic realm=\"filch\""),
        );
    }
    response
}

pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"application/grpc"))
}

/// A file that contains no token, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotATokenFile {
    file: PathBuf,
    why: String,
}

impl fmt::Display for NotATokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no token in {}: {}", self.file.display(), self.why)
    }
}

impl std::error::Error for NotATokenFile {}
