//! Records what real threads do to a concurrent object, and checks that it is linearizable.
//!
//! A history is *linearizable* (M. Herlihy and J. Wing, TOPLAS 1990) if each operation can be given
//! one moment between its call and its return, so that the operations, in the order of their
//! moments, are what a [`Specification`] allows. The search is J. Wing and C. Gong's (*Testing and
//! Verifying Concurrent Objects*, 1993) with G. Lowe's memory of situations that led nowhere
//! (*Testing for Linearizability*, 2017).
//!
//! ```
//! use linearizability::{Clocks, Fifo, FifoOperation, Recording, check};
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! let queue = Mutex::new(VecDeque::new());
//! let mut recording = Recording::new(Clocks::Each);
//! for first in [10, 20] {
//!     let queue = &queue;
//!     recording.thread(move |log| {
//!         for item in first..first + 3 {
//!             log.call(|| {
//!                 queue.lock().unwrap().push_back(item);
//!                 [FifoOperation::Push(item)]
//!             });
//!         }
//!     });
//! }
//! recording.thread(|log| {
//!     for _ in 0..6 {
//!         log.call(|| [FifoOperation::pop(queue.lock().unwrap().pop_front())]);
//!     }
//! });
//! let history = recording.run();
//! check(&Fifo::new(), &history).unwrap_or_else(|counterexample| panic!("{counterexample}"));
//! ```
//!
//! One operation comes *before* another if the call of the second acquired the return of the first,
//! through the recording's clocks. filch's crates promise to act on that edge, so a queue that
//! fails here has broken a promise. An operation that merely ended earlier by the wall clock counts
//! as concurrent.
//!
//! A recorded history that passes says nothing about others, which the models explore. This test is
//! about the shipped code, on the machine that it runs on.

mod call;
mod checker;
mod deque;
mod fifo;
mod history;
mod recording;
mod specification;
mod timeline;

pub use call::{Call, MAX_THREADS};
pub use checker::{Counterexample, Rounds, check};
pub use deque::{Deque, DequeOperation};
pub use fifo::{Fifo, FifoOperation};
pub use history::History;
pub use recording::{Clocks, Log, Recording};
pub use specification::Specification;
