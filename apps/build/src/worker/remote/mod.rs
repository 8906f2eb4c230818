//! A worker of a coordinator: it gets actions from there, and blobs from other workers.
//!
//! | file | |
//! |---|---|
//! | `config` | the settings of a worker: the options of `filch-build worker` |
//! | `channel` | channels to the coordinator and to other workers |
//! | `transfer` | sends and receives blobs by the Remote Execution API |
//! | `peers` | other workers: the connections to them, and the service that gives them blobs |
//! | `cache` | the blobs of the worker, the ways to get others, counts of both, and the access of one action |
//! | `announced` | the blobs that the worker has announced to the coordinator |
//! | `link` | one connection to the coordinator: orders come, results go |
//! | `running` | the worker, from its start to its end |

mod announced;
mod cache;
mod channel;
mod config;
mod link;
mod peers;
mod running;
mod transfer;

pub use cache::Traffic;
pub use config::{Listen, StartError, WorkerConfig};
pub use running::RunningWorker;
