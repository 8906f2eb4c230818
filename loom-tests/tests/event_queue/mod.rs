//! The event queue, with blocks of one or two slots, so that a handful of pushes crosses their
//! boundaries; and with blocks that grow.
//!
//! Payloads that are loom `Arc`s make loom itself report an event that is leaked, or dropped twice.
//!
//! Blocks come from an allocator of these models, which returns the block that was freed last: so
//! an address that a stalled producer remembers is soon that of another block (ABA), and in every
//! execution alike. glibc's choice depends on the rest of the heap; as an address decides whether a
//! compare-exchange succeeds, loom could not replay an execution. The allocator also counts, so
//! that a block which leaks fails its model.

pub(crate) mod block_pool;
mod blocks;
mod closing;
mod growth;
mod lives;
mod order;
mod queue;
mod receiver;
mod share;
mod spare;
