//! A pair of fences of which one costs nothing.
//!
//! Of two threads, each of which stores to one word, passes a fence, and then loads the other's
//! word, at least one loads what the other has stored, if one of them passes the [`heavy`] fence
//! and the other one the [`light`] fence. Two heavy fences do, too; two light ones do not.
//!
//! The light fence only keeps the compiler from moving the load before the store: it is no
//! instruction. The heavy one has the system interrupt each processor that runs a thread of this
//! process, so that each passes a full fence somewhere between two of its instructions: 0.4 µs if
//! no other thread runs, else 1 to 2 µs, or 9 on a virtual machine, and its victims stand still for
//! half of that. So it is for what happens seldom, beside something that happens all the time.
//!
//! | system | heavy fence |
//! |---|---|
//! | Linux on x86-64 and `AArch64`, with the feature `std` | `membarrier`, private expedited |
//! | Windows, with the feature `std` | `FlushProcessWriteBuffers`; never tried |
//! | others, or where a seccomp filter refuses the call | none: `register` says so |
//!
//! Source: the Linux manual's `membarrier(2)`; P1202R5, *Asymmetric Fences*, D. Goldblatt, 2022.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::atomic::AtomicU64;

#[cfg(feature = "std")]
mod budget;
mod compare;
#[cfg(feature = "std")]
mod heavy;
#[cfg(feature = "std")]
mod system;

#[cfg(feature = "std")]
pub use heavy::{heavy, heavy_fences, is_available, register, register_aside};

pub use crate::refused::Refused;

/// Keeps what stands before it from being moved behind it by the compiler, and the other way round.
#[inline(always)]
pub fn light() {
    compiler_fence(Ordering::SeqCst);
}

/// Loads `word`, Relaxed, and says whether `value` is below. For this load it is a [`light`] fence:
/// it keeps the stores before it before it.
///
/// Other loads may be moved across, so the compiler keeps in registers what it has loaded before,
/// which it may not across `light`.
#[inline(always)]
pub fn light_is_below(value: u64, word: &AtomicU64) -> bool {
    compare::is_below(value, word)
}

/// The same, and says whether `value` is at least that.
#[inline(always)]
pub fn light_is_at_least(value: u64, word: &AtomicU64) -> bool {
    compare::is_at_least(value, word)
}

#[cfg(not(feature = "std"))]
mod absent {
    use super::Refused;

    /// Whether heavy fences are to be had: not without a system.
    #[inline]
    pub fn is_available() -> bool {
        false
    }

    /// A fence that there is not.
    ///
    /// # Errors
    ///
    /// [`Refused::ForGood`].
    pub fn heavy() -> Result<(), Refused> {
        Err(Refused::ForGood)
    }
}

#[cfg(not(feature = "std"))]
pub use absent::{heavy, is_available};
