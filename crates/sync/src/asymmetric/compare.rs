//! A comparison with a word that other threads change, behind a light fence.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "instructions that Rust has no words for")
)]

use crate::atomic::AtomicU64;

#[cfg(target_arch = "x86_64")]
macro_rules! compare {
    ($name:ident, unless $jump:literal) => {
        #[inline(always)]
        pub(super) fn $name(value: u64, word: &AtomicU64) -> bool {
            // SAFETY: it loads eight aligned bytes of a word that lives, in one instruction, which
            // is a Relaxed load on this processor. The block may read any memory, so that stores
            // before it are made before it; it writes none.
            unsafe {
                core::arch::asm!(
                    "cmp qword ptr [{word}], {value}",
                    concat!($jump, " {no}"),
                    word = in(reg) word.as_ptr(),
                    value = in(reg) value,
                    no = label { return false },
                    options(nostack, readonly),
                );
            }
            true
        }
    };
}

#[cfg(target_arch = "x86_64")]
compare!(is_below, unless "jbe");
#[cfg(target_arch = "x86_64")]
compare!(is_at_least, unless "ja");

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn is_below(value: u64, word: &AtomicU64) -> bool {
    value < load(word)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn is_at_least(value: u64, word: &AtomicU64) -> bool {
    value >= load(word)
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn load(word: &AtomicU64) -> u64 {
    let value: u64;
    // SAFETY: as on x86-64.
    unsafe {
        core::arch::asm!(
            "ldr {value}, [{word}]",
            word = in(reg) word.as_ptr(),
            value = lateout(reg) value,
            options(nostack, preserves_flags, readonly),
        );
    }
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn load(word: &AtomicU64) -> u64 {
    super::light();
    // ORDERING: Relaxed: the light fence orders it.
    word.load(crate::atomic::Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::{is_at_least, is_below};
    use crate::atomic::AtomicU64;

    #[test]
    fn it_compares_as_numbers_without_a_sign() {
        for word in [0, 1, 7, 1 << 63, u64::MAX] {
            let place = AtomicU64::new(word);
            for value in [0, 1, 6, 7, 8, 1 << 63, u64::MAX] {
                assert_eq!(is_below(value, &place), value < word, "{value} and {word}");
                assert_eq!(
                    is_at_least(value, &place),
                    value >= word,
                    "{value} and {word}"
                );
            }
        }
    }
}
