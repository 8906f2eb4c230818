//! The services of the server, and the pages `/status` for people and `/metrics` for Prometheus.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStreamServer;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{StatusCode, Uri};
use tonic::Status;
use tonic::service::Routes;

use super::auth::is_grpc;
use super::metrics::{self, Metrics};
use super::status;
use crate::cache::{self, Cache, MAX_MESSAGE};
use crate::farm::{ExecutionService, Farm};
use crate::protocol::farm_server::FarmServer;
use crate::reapi::action_cache_server::ActionCacheServer;
use crate::reapi::capabilities_server::CapabilitiesServer;
use crate::reapi::content_addressable_storage_server::ContentAddressableStorageServer;
use crate::reapi::execution_server::ExecutionServer;
use crate::storage::Limits;

/// Makes all routes of the server.
pub(super) fn routes(cache: &Cache, farm: &Farm, limits: Limits) -> Router {
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
    with_pages(routes, cache, farm, limits)
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
    let text = "there is nothing here; see /status; the cache is at /ac/HASH, /cas/HASH and \
                /files/NAME\n";
    (StatusCode::NOT_FOUND, text).into_response()
}

#[derive(Debug, Clone)]
struct Pages {
    cache: Cache,
    farm: Farm,
    metrics: Metrics,
    limits: Limits,
}

/// Adds the pages to the server's routes, and measures all requests.
fn with_pages(routes: Router, cache: &Cache, farm: &Farm, limits: Limits) -> Router {
    let metrics = Metrics::new(cache.storage().counters(), farm.times());
    let pages = Router::new()
        .route("/status", get(show_status))
        .route("/metrics", get(show_metrics))
        .with_state(Pages {
            cache: cache.clone(),
            farm: farm.clone(),
            metrics: metrics.clone(),
            limits,
        });
    let routes = routes.merge(pages);
    routes.layer(from_fn_with_state(metrics, metrics::measure))
}

async fn show_status(State(pages): State<Pages>, uri: Uri) -> Response {
    let farm = pages.farm.snapshot();
    let query = uri.query().unwrap_or_default().as_bytes();
    let mut asked = url::form_urlencoded::parse(query);
    let asked = asked.find(|(name, _)| name == "q").map(|(_, text)| text);
    let page = status::page(&farm, pages.cache.storage(), pages.limits, asked.as_deref());
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // Text of clients is escaped. Even if it were not, no script would run.
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
        ),
    ];
    (headers, page.into_string()).into_response()
}

async fn show_metrics(State(pages): State<Pages>) -> Response {
    let farm = pages.farm.snapshot();
    let usage = pages.cache.storage().usage();
    match pages.metrics.encode(&farm, usage, pages.limits) {
        Ok(text) => ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
