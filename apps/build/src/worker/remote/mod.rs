//! A worker of a coordinator: it gets actions from there, and blobs from other workers.
//!
//! | file | |
//! |---|---|
//! | `arguments` | the options of `filch-build worker` |
//! | `config` | what a worker is told when it starts |
//! | `channel` | the ways to the coordinator and to other workers |
//! | `transfer` | blobs that come and go by the Remote Execution API |
//! | `peers` | the connections to other workers, and what workers show each other |
//! | `serving` | this worker's blobs, for other workers to read |
//! | `cache` | what the worker has, and how it gets what it has not |
//! | `traffic` | what has come and gone, counted |
//! | `announced` | which of its blobs a worker has told the coordinator of |
//! | `errand` | one action's way to blobs |
//! | `link` | one connection: orders come, and what became of them goes |
//! | `running` | the worker, from its start to its end |

mod announced;
mod arguments;
mod cache;
mod channel;
mod config;
mod errand;
mod link;
mod peers;
mod running;
mod serving;
mod traffic;
mod transfer;

pub use arguments::WorkerArguments;
pub use config::{Listen, StartError, WorkerConfig};
pub use running::RunningWorker;
pub use traffic::Traffic;
