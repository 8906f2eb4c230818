//! A pair of fences: the common side's costs nothing.
//!
//! Let two threads each store to one word, pass a fence, and load the other's word. At least one of
//! them loads what the other stored if one fence is [`heavy()`] and the other [`light`], or if both
//! are heavy; two light ones guarantee nothing.
//!
//! The light fence is no instruction: it only keeps the compiler from moving the load before the
//! store. For the heavy one the system interrupts each processor that runs a thread of this
//! process, so that each passes a full fence between two of its instructions: 0.4 µs if no other
//! thread runs, else 1 to 2 µs, or 9 on a virtual machine; the interrupted threads stand still for
//! half of that. Use it on a rare path whose partner is a frequent one.
//!
//! The pair decides which thread may touch data; it does not hand data over. What one thread wrote
//! for another still has to come by Release and Acquire, and so ThreadSanitizer, which takes
//! neither fence for an edge, sees every edge that there is.
//!
//! | system | heavy fence |
//! |---|---|
//! | Linux on x86-64 and `AArch64`, with the feature `std` | `membarrier`, private expedited |
//! | Windows, with the feature `std` | `FlushProcessWriteBuffers`; never tried |
//! | others, or where a seccomp filter refuses the call | none: `register` says so |
//!
//! Source: the Linux manual's `membarrier(2)`; P1202R5, *Asymmetric Fences*, D. Goldblatt, 2022.

use core::sync::atomic::{Ordering, compiler_fence};

#[cfg(feature = "std")]
mod budget;
#[cfg(feature = "std")]
mod heavy;
#[cfg(feature = "std")]
mod system;

#[cfg(feature = "std")]
pub use heavy::{heavy, heavy_fences, is_available, register, register_aside};

pub use crate::refused::Refused;

/// Keeps the compiler from moving memory accesses across it, in either direction.
#[inline(always)]
pub fn light() {
    compiler_fence(Ordering::SeqCst);
}

/// Returns false: without a system there are no heavy fences.
#[cfg(not(feature = "std"))]
#[inline]
pub fn is_available() -> bool {
    false
}

/// Refuses: there are no heavy fences.
///
/// # Errors
///
/// [`Refused::ForGood`].
#[cfg(not(feature = "std"))]
pub fn heavy() -> Result<(), Refused> {
    Err(Refused::ForGood)
}
