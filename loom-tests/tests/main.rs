//! All models, in one program: several would build most of their code again. The textbook's
//! mistakes are in `known_bugs_*` and `tour`.
#![cfg(loom)]

mod admission;
mod awake;
mod batch;
mod combiner;
mod data_cell;
mod deque;
mod deque_memory;
mod engine;
mod event_queue;
mod fork_join;
mod handoff;
mod harness;
mod injector;
mod known_bugs_bound;
mod known_bugs_combiner;
mod known_bugs_data_cell;
mod known_bugs_deque;
mod known_bugs_end;
mod known_bugs_event_queue;
mod known_bugs_fork_join;
mod known_bugs_guests;
mod known_bugs_handoff;
mod known_bugs_injector;
mod known_bugs_occupancy;
mod known_bugs_scope;
mod occupancy;
mod occupants;
mod own_code;
mod owned;
mod parker;
mod process_state;
mod promise;

mod retired_slab;
mod signals;
mod slab;
mod sleep_wake;
mod take_once;
mod tour;
mod urgency;
mod waker_clones;
mod walk;

use deque_memory::RingCounter;
use event_queue::block_pool::BlockPool;

/// Gives the blocks of event queues, and counts the rings of deques, for the models of these.
#[global_allocator]
static ALLOCATOR: BlockPool<RingCounter> = BlockPool(RingCounter);
