//! The pages `/status` for people and `/metrics` for Prometheus.

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use super::metrics::{self, Metrics};
use super::status;
use crate::cache::Cache;
use crate::farm::Farm;

#[derive(Debug, Clone)]
struct Pages {
    cache: Cache,
    farm: Farm,
    metrics: Metrics,
}

/// Adds the pages to the server's routes, and measures all requests.
pub(super) fn with_pages(routes: Router, cache: &Cache, farm: &Farm) -> Router {
    let metrics = Metrics::new(cache.storage().counters());
    let pages = Router::new()
        .route("/status", get(show_status))
        .route("/metrics", get(show_metrics))
        .with_state(Pages {
            cache: cache.clone(),
            farm: farm.clone(),
            metrics: metrics.clone(),
        });
    let routes = routes.merge(pages);
    routes.layer(from_fn_with_state(metrics, metrics::measure))
}

async fn show_status(State(pages): State<Pages>) -> Response {
    let farm = pages.farm.snapshot().await;
    let page = status::page(&farm, pages.cache.storage());
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // Text of clients is escaped. Even if it were not, no script would run.
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'",
        ),
    ];
    (headers, page.into_string()).into_response()
}

async fn show_metrics(State(pages): State<Pages>) -> Response {
    let farm = pages.farm.snapshot().await;
    let usage = pages.cache.storage().usage();
    match pages.metrics.encode(&farm, usage) {
        Ok(text) => ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
