//! The constructors say the policy: `new` and `with_capacity` are strict, `lazy` is lazy.

use filch_deque::{Lazy, Strict, Worker};

pub fn case() -> (Worker<u32, Lazy>, Worker<u32, Strict>) {
    #[cfg(misuse)]
    let lazy: Worker<u32, Lazy> = Worker::with_capacity(8); //~ E0308 mismatched types
    #[cfg(misuse)]
    let strict: Worker<u32, Strict> = Worker::lazy(8); //~ E0308 mismatched types
    #[cfg(not(misuse))]
    let (lazy, strict) = (Worker::lazy(8), Worker::with_capacity(8));
    (lazy, strict)
}
