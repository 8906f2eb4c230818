//! The place of a storage, as an option of the command line.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use opendal::layers::{RetryLayer, TimeoutLayer};
use opendal::{HttpTransporter, Operator};
use opendal_http_transport_reqwest::ReqwestTransport;
use percent_encoding::percent_decode_str;
use thiserror::Error;
use tokio_rustls::rustls::crypto::ring;
use url::Url;

use super::store::StorageError;
use super::writer::PART;

/// The place of a storage.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// `disk:PATH`, or a path alone: a folder that one process uses.
    Disk(PathBuf),
    /// `memory`: gone when the process ends, and without a limit.
    Memory,
    /// `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, or `rediss:` with TLS, or
    /// `redis+unix:///SOCKET`.
    Redis(Url),
    /// `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]`; what the URL leaves out is taken from the
    /// environment (`AWS_ENDPOINT_URL`, `AWS_REGION`), as are the keys (`AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`).
    S3(Url),
}

impl Location {
    /// Returns the most bytes that a blob can have there.
    pub const fn limit(&self) -> u64 {
        match self {
            // Redis takes no larger strings, and a blob is in memory while it is written.
            Self::Redis(_) => 512 << 20,
            // S3 takes no more parts of a blob.
            Self::S3(_) => 10_000 * PART as u64,
            Self::Disk(_) | Self::Memory => u64::MAX,
        }
    }
}

impl FromStr for Location {
    type Err = NotALocation;

    fn from_str(text: &str) -> Result<Self, NotALocation> {
        let refuse = |why: String| Err(NotALocation(why));
        if text == "memory" {
            return Ok(Self::Memory);
        }
        if let Some(path) = text.strip_prefix("disk:") {
            return match path {
                "" => refuse("disk: needs a path".into()),
                _ => Ok(Self::Disk(path.into())),
            };
        }
        if !text.contains("://") {
            return refuse(format!(
                "not a storage: {text:?} (disk:PATH, memory, redis://HOST, s3://BUCKET)"
            ));
        }
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => return refuse(format!("not a URL: {error}")),
        };
        match url.scheme() {
            "redis" | "rediss" | "redis+unix" => Ok(Self::Redis(url)),
            "s3" if url.host_str().is_none() => refuse("s3:// needs a bucket".into()),
            "s3" => Ok(Self::S3(url)),
            scheme => refuse(format!("there is no storage of the kind {scheme:?}")),
        }
    }
}

/// Shows no passwords.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(path) => write!(f, "disk:{}", path.display()),
            Self::Memory => f.write_str("memory"),
            Self::Redis(url) | Self::S3(url) => {
                let host = url.host_str().unwrap_or_default();
                write!(f, "{}://{host}{}", url.scheme(), url.path())
            }
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that is not the place of a storage.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotALocation(String);

/// The time limit of a try. A blob is written in parts, and each part has that time.
const TRY: Duration = Duration::from_secs(10);

/// Retries what fails for a moment; makes an error of what never answers.
fn patient(operator: Operator) -> Operator {
    operator
        .layer(TimeoutLayer::new().with_timeout(TRY).with_io_timeout(TRY))
        .layer(RetryLayer::new().with_max_times(3))
}

/// Decodes a part of the URL.
fn decoded(part: &str) -> Result<String, StorageError> {
    let text = percent_decode_str(part).decode_utf8();
    text.map(Cow::into_owned)
        .map_err(|_| wrong("the URL of the storage is not UTF-8".into()))
}

fn wrong(what: String) -> StorageError {
    opendal::Error::new(opendal::ErrorKind::ConfigInvalid, what).into()
}

pub(super) fn redis(url: &Url) -> Result<Operator, StorageError> {
    let mut builder = opendal::services::Redis::default().root("/filch");
    let mut endpoint = url.clone();
    if let Some(password) = url.password() {
        builder = builder.password(&decoded(password)?);
    }
    if !url.username().is_empty() {
        builder = builder.username(&decoded(url.username())?);
    }
    if url.scheme() == "redis+unix" {
        // The URL needs a host, which means nothing here.
        let socket = format!("unix://localhost{}", url.path());
        return Ok(patient(Operator::new(builder.endpoint(&socket))?));
    }
    // Neither fails for a URL with a host; opendal refuses those without one.
    let _ = endpoint.set_password(None);
    let _ = endpoint.set_username("");
    let database = url.path().trim_start_matches('/');
    if !database.is_empty() {
        let number = database.parse().map_err(|_| {
            wrong(format!(
                "not the number of a database of Redis: {database:?}"
            ))
        })?;
        builder = builder.db(number);
    }
    endpoint.set_path("");
    Ok(patient(Operator::new(builder.endpoint(endpoint.as_str()))?))
}

pub(super) fn s3(url: &Url) -> Result<Operator, StorageError> {
    if !url.username().is_empty() || url.password().is_some() || url.port().is_some() {
        let what = "s3:// names a bucket alone: keys are in the environment, hosts in ?endpoint=";
        return Err(wrong(what.into()));
    }
    let mut builder = opendal::services::S3::default()
        .bucket(url.host_str().unwrap_or_default())
        .root(&decoded(url.path())?);
    for (key, value) in url.query_pairs() {
        builder = match &*key {
            "endpoint" => builder.endpoint(&value),
            "region" => builder.region(&value),
            _ => {
                return Err(wrong(format!(
                    "s3:// knows endpoint and region, not {key:?}"
                )));
            }
        };
    }
    // reqwest uses the crypto provider of the process. If there is one already, it stays.
    let _ = ring::default_provider().install_default();
    let operator = Operator::new(builder)?;
    let transport = HttpTransporter::new(ReqwestTransport::default());
    let context = operator.context().with_http_transport(transport);
    Ok(patient(operator.with_context(context)))
}
