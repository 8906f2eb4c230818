//! The simple cache of Bazel: `GET`, `HEAD` and `PUT` of `/cas/HASH` and `/ac/HASH`.

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};
use tokio::time::timeout;

use super::service::Cache;
use super::status::text;
use crate::digest::Digest;
use crate::storage::{Expected, Range, StorageError, StoredResult};

/// The most bytes of an encoded result.
const MAX_RESULT: usize = 4 << 20;

/// The routes of the cache: below the name of the instance, if it has one.
pub fn router(cache: Cache) -> Router {
    let instance = cache.config().instance.clone();
    let routes = Router::new()
        .route("/cas/{hash}", get(read_blob).put(write_blob))
        .route("/ac/{hash}", get(read_result).put(write_result))
        .with_state(cache);
    if instance.is_empty() {
        routes
    } else {
        Router::new().nest(&format!("/{instance}"), routes)
    }
}

/// A refused request: the status code and the reason, as a line of text.
struct Refusal(StatusCode, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (
            self.0,
            [(CONTENT_TYPE, "text/plain; charset=utf-8")],
            self.1 + "\n",
        )
            .into_response()
    }
}

impl Refusal {
    fn reading(error: &StorageError) -> Self {
        let status = match error {
            StorageError::Missing(_) => StatusCode::NOT_FOUND,
            StorageError::WrongDigest { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self(status, text(error))
    }

    fn writing(error: &StorageError) -> Self {
        let status = match error {
            StorageError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            StorageError::WrongDigest { .. } | StorageError::TooLong(_) => StatusCode::BAD_REQUEST,
            StorageError::Disk(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                StatusCode::INSUFFICIENT_STORAGE
            }
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self(status, text(error))
    }
}

fn hash(text: &str) -> Result<[u8; 32], Refusal> {
    let digest = Digest::new(text, 0).map_err(|_| {
        let why = "the last part is not 64 lower-case hexadecimal digits of a SHA-256";
        Refusal(StatusCode::BAD_REQUEST, why.into())
    })?;
    Ok(*digest.hash())
}

async fn read_blob(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    method: Method,
) -> Result<Response, Refusal> {
    let hash = hash(&name)?;
    let blobs = &cache.storage().blobs;
    let digest = blobs
        .find(&hash)
        .await
        .map_err(|error| Refusal::reading(&error))?;
    let digest =
        digest.ok_or_else(|| Refusal(StatusCode::NOT_FOUND, format!("there is no blob {name}")))?;
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let reader = blobs.open(digest, Range::ALL).await;
        let reader = reader.map_err(|error| Refusal::reading(&error))?;
        // An error breaks the connection, and so the client sees that bytes are missing.
        Body::from_stream(stream::try_unfold(reader, |mut reader| async move {
            let piece = reader.next().await?;
            Ok::<_, StorageError>(piece.map(|piece| (piece, reader)))
        }))
    };
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, digest.size().to_string()),
    ];
    Ok((headers, body).into_response())
}

async fn write_blob(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let hash = hash(&name)?;
    let size = said_size(&headers)?;
    let writer = cache.storage().blobs.writer(Expected { hash, size }).await;
    let mut writer = writer.map_err(|error| Refusal::writing(&error))?;
    let mut body = body.into_data_stream();
    while let Some(bytes) = next(&cache, &mut body).await? {
        writer
            .write(bytes)
            .await
            .map_err(|error| Refusal::writing(&error))?;
    }
    writer
        .finish()
        .await
        .map_err(|error| Refusal::writing(&error))?;
    Ok(StatusCode::OK)
}

async fn read_result(
    State(cache): State<Cache>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let hash = hash(&name)?;
    let result = cache.storage().results.get(&hash).await;
    match result.map_err(|error| Refusal::reading(&error))? {
        Some(result) => {
            let headers = [(CONTENT_TYPE, "application/octet-stream")];
            Ok((headers, result.bytes().clone()).into_response())
        }
        None => Err(Refusal(
            StatusCode::NOT_FOUND,
            format!("there is no result of the action {name}, or not all of its blobs"),
        )),
    }
}

async fn write_result(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let hash = hash(&name)?;
    if !cache.config().updates {
        let why = "clients may not store results of actions here";
        return Err(Refusal(StatusCode::FORBIDDEN, why.into()));
    }
    said_size(&headers)?;
    let mut body = body.into_data_stream();
    let mut message = BytesMut::new();
    while let Some(bytes) = next(&cache, &mut body).await? {
        if message.len() + bytes.len() > MAX_RESULT {
            let why = format!("a result may have {MAX_RESULT} bytes at most");
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        message.extend_from_slice(&bytes);
    }
    let result = StoredResult::new(message.freeze())
        .map_err(|error| Refusal(StatusCode::BAD_REQUEST, error.to_string()))?;
    let stored = cache.storage().results.put(&hash, result).await;
    stored.map_err(|error| Refusal::writing(&error))?;
    Ok(StatusCode::OK)
}

/// Returns the size that the client gives, if it does. Nothing is ever decompressed.
fn said_size(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let why = "compressed blobs are not offered".to_owned();
        return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let size = headers
        .get(CONTENT_LENGTH)
        .map(|size| size.to_str().ok()?.parse().ok());
    match size {
        Some(None) => Err(Refusal(
            StatusCode::BAD_REQUEST,
            "the length is no number".into(),
        )),
        Some(size) => Ok(size),
        None => Ok(None),
    }
}

async fn next(cache: &Cache, body: &mut BodyDataStream) -> Result<Option<Bytes>, Refusal> {
    let idle = cache.config().idle;
    match timeout(idle, body.next()).await {
        Ok(bytes) => bytes.transpose().map_err(|error| {
            Refusal(
                StatusCode::BAD_REQUEST,
                format!("the upload broke off: {error}"),
            )
        }),
        Err(_) => Err(Refusal(
            StatusCode::REQUEST_TIMEOUT,
            format!("nothing of the upload came for {idle:?}"),
        )),
    }
}
