//! A block has 1 to 127 slots.

use filch_injector::Injector;

#[cfg(misuse)]
pub fn case() -> Injector<u32, 0> {
    Injector::with_blocks() //~! E0080 1 <= BLOCK && BLOCK <= MAX_SLOTS
}

#[cfg(not(misuse))]
pub fn case() -> (Injector<u32, 1>, Injector<u32, 127>) {
    (Injector::with_blocks(), Injector::with_blocks())
}
