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
use tonic::Status;

use super::files;
use super::service::Cache;
use super::status::{Refusal, invalid};
use crate::digest::Digest;
use crate::storage::{Expected, MAX_RESULT, Range, StorageError, StoredResult};

/// The routes of the cache: below the name of the instance, if it has one.
pub fn router(cache: Cache) -> Router {
    let instance = cache.config().instance.clone();
    let routes = Router::new()
        .route("/cas/{hash}", get(read_blob).put(write_blob))
        .route("/ac/{hash}", get(read_result).put(write_result))
        .merge(files::routes())
        .with_state(cache);
    if instance.is_empty() {
        routes
    } else {
        Router::new().nest(&format!("/{instance}"), routes)
    }
}

fn hash(text: &str) -> Result<[u8; 32], Refusal> {
    let why = "the last part is not 64 lower-case hexadecimal digits of a SHA-256";
    let digest = Digest::new(text, 0).map_err(|_| invalid(why))?;
    Ok(*digest.hash())
}

async fn read_blob(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    method: Method,
) -> Result<Response, Refusal> {
    let digest = cache.storage().blobs.find(&hash(&name)?).await?;
    let digest = digest.ok_or_else(|| Status::not_found(format!("there is no blob {name}")))?;
    send(&cache, digest, &method).await
}

/// Answers with a blob, or without if the client asks for its size alone.
pub(super) async fn send(
    cache: &Cache,
    digest: Digest,
    method: &Method,
) -> Result<Response, Refusal> {
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let reader = cache.storage().blobs.open(digest, Range::default()).await?;
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
    let (hash, size) = (hash(&name)?, said_size(&headers)?);
    let mut writer = cache
        .storage()
        .blobs
        .writer(Expected { hash, size })
        .await?;
    let mut body = body.into_data_stream();
    while let Some(bytes) = next(&cache, &mut body).await? {
        writer.write(bytes).await?;
    }
    writer.finish().await?;
    Ok(StatusCode::OK)
}

async fn read_result(
    State(cache): State<Cache>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let result = cache.result(&hash(&name)?).await?;
    let headers = [(CONTENT_TYPE, "application/octet-stream")];
    Ok((headers, result.bytes().clone()).into_response())
}

async fn write_result(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let hash = hash(&name)?;
    let message = collect(&cache, &headers, body, MAX_RESULT).await?;
    let result = StoredResult::new(message).map_err(invalid)?;
    cache.storage().results.put(&hash, result).await?;
    Ok(StatusCode::OK)
}

/// Takes all bytes of an upload that updates a result, if results may be updated.
pub(super) async fn collect(
    cache: &Cache,
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<Bytes, Refusal> {
    cache.check_update()?;
    said_size(headers)?;
    let mut body = body.into_data_stream();
    let mut all = BytesMut::new();
    while let Some(bytes) = next(cache, &mut body).await? {
        if all.len() + bytes.len() > most {
            let limit = most as u64;
            return Err(StorageError::TooLarge { limit }.into());
        }
        all.extend_from_slice(&bytes);
    }
    Ok(all.freeze())
}

/// Returns the size that the client gives, if it does. Nothing is ever decompressed.
fn said_size(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let encoding = headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Err(Status::unimplemented("compressed blobs are not offered").into());
    }
    let Some(size) = headers.get(CONTENT_LENGTH) else {
        return Ok(None);
    };
    let size = size.to_str().ok().and_then(|size| size.parse().ok());
    Ok(Some(
        size.ok_or_else(|| invalid("the length is no number"))?,
    ))
}

async fn next(cache: &Cache, body: &mut BodyDataStream) -> Result<Option<Bytes>, Refusal> {
    let bytes = cache.in_time(body.next()).await?.transpose();
    Ok(bytes.map_err(|error| invalid(format_args!("the upload broke off: {error}")))?)
}
