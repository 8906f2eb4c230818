#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "actors")]
#[doc(inline)]
pub use filch_actors as actors;
#[doc(inline)]
pub use filch_blocking as blocking;
#[cfg(feature = "build-scheduler")]
#[doc(inline)]
pub use filch_build_scheduler as build_scheduler;
#[cfg(feature = "data-cell")]
#[doc(inline)]
pub use filch_data_cell as data_cell;
#[doc(inline)]
pub use filch_deque as deque;
#[cfg(feature = "engine")]
pub use filch_engine as engine;
#[doc(inline)]
pub use filch_event_queue as event_queue;
#[cfg(feature = "fork-join")]
pub use filch_fork_join as fork_join;
#[doc(inline)]
pub use filch_injector as injector;
#[doc(inline)]
pub use filch_parker as parker;
#[doc(inline)]
pub use filch_process_state as process_state;
#[doc(inline)]
pub use filch_processors as processors;
#[doc(inline)]
pub use filch_promise as promise;
#[doc(inline)]
pub use filch_scheduler as scheduler;
#[doc(inline)]
pub use filch_slab as slab;
#[cfg(feature = "supervisor")]
#[doc(inline)]
pub use filch_supervisor as supervisor;
#[doc(inline)]
pub use filch_timers as timers;

/// Adds the methods of [`actors`] to the scheduler's types, by their traits.
#[cfg(feature = "actors")]
pub mod prelude {
    pub use filch_actors::prelude::*;
}
