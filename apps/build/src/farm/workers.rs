//! The service that workers call: `filch.build.v1.Farm`.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, stream};
use tokio::sync::mpsc;
use tonic::{Request, Response, Status, Streaming};

use super::coordinator::Farm;
use super::messages::MOST_SLOTS;
use super::session::serve;
use crate::protocol::{FromWorker, ToWorker, farm_server};

#[tonic::async_trait]
impl farm_server::Farm for Farm {
    type WorkStream = Pin<Box<dyn Stream<Item = Result<ToWorker, Status>> + Send>>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let shared = Arc::clone(&self.shared);
        if shared.leaving.is_cancelled() {
            return Err(Status::unavailable("the coordinator is about to end"));
        }
        let inbound = request.into_inner();
        // A run and its cancel for each slot, twice: the worker's last `Done` may come before it
        // has read the whole stream.
        let (orders, out) = mpsc::channel(4 * MOST_SLOTS);
        tokio::spawn(async move {
            if let Err(status) = serve(shared, inbound, orders.clone()).await {
                // If nobody listens, nobody needs to know.
                let _ = orders.send(Err(status)).await;
            }
        });
        let out = stream::unfold(out, async |mut out| Some((out.recv().await?, out)));
        Ok(Response::new(Box::pin(out)))
    }
}
