#![doc = include_str!("../README.md")]
#![deny(unsafe_code)] // but for one pointer

mod borrowed;
mod broadcast;
mod builder;
mod configuration;
mod error;
mod global;
mod handlers;
mod join;
mod scope;
mod scope_fifo;
mod spawn;
mod thread_pool;
mod threads;

pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::{ThreadPoolBuilder, max_num_threads};

#[expect(deprecated, reason = "rayon-core offers them still")]
pub use configuration::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use global::{Yield, yield_local, yield_now};
pub use global::{current_num_threads, current_thread_has_pending_tasks, current_thread_index};
pub use join::{FnContext, join, join_context};
pub use scope::{Scope, in_place_scope, scope};
pub use scope_fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread_pool::ThreadPool;
pub use threads::ThreadBuilder;
