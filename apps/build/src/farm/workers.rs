//! The service that workers call, `filch.build.v1.Farm`; checks of their messages; those that are
//! connected.

use std::collections::HashMap;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use filch_build_scheduler::{Platform, WorkerId};
use filch_sync::lock;
use futures_util::{Stream, stream};
use tokio::sync::mpsc;
use tonic::{Code, Request, Response, Status, Streaming};

use super::coordinator::Farm;
use super::failure::Failure;
use super::session::serve;
use super::snapshot::Worker;
use crate::digest::Digest;
use crate::protocol::{
    self, Blobs, FromWorker, Hello, MOST_IN_MESSAGE, Property, ToWorker, farm_server,
};

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

/// The most slots of a worker.
pub(super) const MOST_SLOTS: usize = 1024;
/// The most bytes of a worker's name or address.
const LONGEST: usize = 256;

/// The most properties of a worker.
const MOST_PROPERTIES: usize = 64;

/// Checks a greeting, for that instance.
pub(super) fn check_hello(hello: &Hello, instance: &str) -> Result<(), Status> {
    let refused = |why: String| Err(Status::invalid_argument(why));
    if hello.instance != instance {
        let why = format!("it is for {:?}, but this is {instance:?}", hello.instance);
        return refused(format!("the worker has another instance: {why}"));
    }
    let slots = hello.slots as usize;
    if slots == 0 || slots > MOST_SLOTS {
        return refused(format!("{slots} slots: 1 to {MOST_SLOTS} are allowed"));
    }
    if hello.name.len() > LONGEST || hello.address.len() > LONGEST {
        return refused(format!("a name or an address of more than {LONGEST} bytes"));
    }
    let long = |property: &Property| property.name.len().max(property.value.len()) > LONGEST;
    if hello.properties.len() > MOST_PROPERTIES || hello.properties.iter().any(long) {
        let why = format!("{MOST_PROPERTIES} properties of {LONGEST} bytes are allowed");
        return refused(why);
    }
    let address: Result<tonic::transport::Uri, _> = hello.address.parse();
    let is_http = |uri: &tonic::transport::Uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some()
    };
    if !hello.address.is_empty() && !address.is_ok_and(|uri| is_http(&uri)) {
        return refused(format!("{:?} is not http://host:port", hello.address));
    }
    Ok(())
}

/// Takes the platform out of a good greeting.
pub(super) fn platform_of(hello: &mut Hello) -> Platform {
    let properties = mem::take(&mut hello.properties).into_iter();
    Platform {
        properties: properties
            .map(|Property { name, value }| (name, value))
            .collect(),
        cpus: match hello.milli_cpus {
            0 => 1000 * u64::from(hello.slots),
            cpus => cpus.into(),
        },
        memory: match hello.memory {
            0 => u64::MAX,
            memory => memory,
        },
    }
}

pub(super) fn digests(blobs: Blobs) -> Result<Vec<Digest>, Status> {
    if blobs.blobs.len() > MOST_IN_MESSAGE {
        let most = format!("more than {MOST_IN_MESSAGE} blobs in a message");
        return Err(Status::resource_exhausted(most));
    }
    let digests = blobs.blobs.iter().map(Digest::try_from);
    let digests = digests.collect::<Result<_, _>>();
    digests.map_err(|error| Status::invalid_argument(error.to_string()))
}

pub(super) fn failure_of(failure: protocol::Failure) -> Result<Failure, Status> {
    let code = Code::from_i32(failure.code);
    if code == Code::Ok {
        return Err(Status::invalid_argument("a failure whose code is OK"));
    }
    if failure.missing.is_empty() {
        return Ok(Failure::new(code, failure.message));
    }
    let blobs = failure.missing;
    Ok(Failure::missing(digests(Blobs { blobs })?))
}

#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<HashMap<WorkerId, Worker>>);

impl Roster {
    pub(super) fn add(&self, id: WorkerId, worker: Worker) {
        self.lock().insert(id, worker);
    }

    pub(super) fn remove(&self, id: WorkerId) {
        self.lock().remove(&id);
    }

    /// Changes what is known of a worker.
    pub(super) fn update(&self, id: WorkerId, change: impl FnOnce(&mut Worker)) {
        self.lock().get_mut(&id).map(change);
    }

    /// Returns the address where that worker serves its blobs, if it does.
    pub(super) fn address(&self, id: WorkerId) -> Option<String> {
        let workers = self.lock();
        let address = &workers.get(&id)?.address;
        (!address.is_empty()).then(|| address.clone())
    }

    pub(super) fn workers(&self) -> Vec<Worker> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkerId, Worker>> {
        lock(&self.0)
    }
}
