//! Files under names that clients choose, as caches of compilers and Gradle want them: `GET`,
//! `HEAD` and `PUT` of `/files/NAME`, and as much of WebDAV as those need that ask for folders.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use http::{HeaderMap, Method, StatusCode};
use tonic::Status;

use super::http::{collect, send};
use super::service::Cache;
use super::status::{Refusal, invalid};
use crate::digest::Digest;
use crate::reapi::{ActionResult, OutputFile};
use crate::storage::StoredResult;

/// The most bytes of a file: it is in memory until all of it has come, as its digest is not known
/// before.
const MAX_FILE: usize = 64 << 20;

pub(super) fn routes() -> Router<Cache> {
    let methods = get(read).put(write).fallback(folder);
    Router::new().route("/files/{*name}", methods)
}

/// Returns the name of a file among those of actions: the text before it makes it one of none.
fn key(name: &str) -> [u8; 32] {
    *Digest::of(format!("file {name}").as_bytes()).hash()
}

async fn read(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    method: Method,
) -> Result<Response, Refusal> {
    let result = cache.storage().results.get(&key(&name)).await?;
    let files = result.map(|result| result.into_message().output_files);
    let file = files.iter().flatten().next();
    let file = file.ok_or_else(|| Status::not_found(format!("there is no file {name:?}")))?;
    let blob = Digest::of_field(file.digest.as_ref(), "the file").map_err(invalid)?;
    send(&cache, blob, &method).await
}

/// Stores a file, in place of the one that had its name: as a blob, and as the result that has it.
async fn write(
    State(cache): State<Cache>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let bytes = collect(&cache, &headers, body, MAX_FILE).await?;
    let blob = Digest::of(&bytes);
    cache.storage().blobs.write(blob, bytes).await?;
    let result = ActionResult {
        output_files: vec![OutputFile {
            path: "file".to_owned(),
            digest: Some(blob.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let result = StoredResult::try_from(&result).map_err(invalid)?;
    cache.storage().results.put(&key(&name), result).await?;
    Ok(StatusCode::CREATED)
}

/// Answers as if each folder were missing until a client makes it; none is ever stored.
async fn folder(method: Method) -> StatusCode {
    match method.as_str() {
        "PROPFIND" => StatusCode::NOT_FOUND,
        "MKCOL" => StatusCode::CREATED,
        _ => StatusCode::METHOD_NOT_ALLOWED,
    }
}
