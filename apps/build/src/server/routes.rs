//! The services of the server.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStreamServer;
use http::StatusCode;
use tonic::Status;
use tonic::service::Routes;

use super::auth::is_grpc;
use super::pages::with_pages;
use crate::cache::{self, Cache, MAX_MESSAGE};
use crate::farm::{ExecutionService, Farm};
use crate::protocol::farm_server::FarmServer;
use crate::reapi::action_cache_server::ActionCacheServer;
use crate::reapi::capabilities_server::CapabilitiesServer;
use crate::reapi::content_addressable_storage_server::ContentAddressableStorageServer;
use crate::reapi::execution_server::ExecutionServer;

/// Makes all routes of the server.
pub(super) fn routes(cache: &Cache, farm: &Farm) -> Router {
    let execution = ExecutionService::new(farm.clone(), cache.clone());
    let mut services = Routes::builder();
    services
        .add_service(CapabilitiesServer::new(cache.clone()))
        .add_service(
            ContentAddressableStorageServer::new(cache.clone())
                .max_decoding_message_size(MAX_MESSAGE),
        )
        .add_service(ByteStreamServer::new(cache.clone()).max_decoding_message_size(MAX_MESSAGE))
        .add_service(ActionCacheServer::new(cache.clone()).max_decoding_message_size(MAX_MESSAGE))
        .add_service(ExecutionServer::new(execution))
        .add_service(FarmServer::new(farm.clone()).max_decoding_message_size(MAX_MESSAGE));
    let routes = services
        .routes()
        .into_axum_router()
        .route_layer(from_fn(grpc_alone))
        .merge(cache::router(cache.clone()))
        .fallback(unknown);
    with_pages(routes, cache, farm)
}

/// Refuses other requests on the paths of gRPC: its library would answer them, although their token
/// was not checked as that of a gRPC call.
async fn grpc_alone(request: Request, next: Next) -> Response {
    if is_grpc(request.headers()) {
        return next.run(request).await;
    }
    let text = "this is a method of gRPC: its content type is application/grpc\n";
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response()
}

async fn unknown(request: Request) -> Response {
    if is_grpc(request.headers()) {
        let path = request.uri().path();
        return Status::unimplemented(format!("there is no method {path}")).into_http();
    }
    let text = "there is nothing here; see /status; the cache is at /ac/HASH and /cas/HASH\n";
    (StatusCode::NOT_FOUND, text).into_response()
}
