//! Data that a closure borrows is locked only while the closure runs.

use filch_engine::Context;

pub fn case(context: Context<'_>) {
    let mut kept = None;
    #[cfg(misuse)]
    let _ = context.lock(|number: &u32| kept = Some(number)); //~ E0521 borrowed data escapes
    #[cfg(not(misuse))]
    let _ = context.lock(|number: &u32| kept = Some(*number));
    drop(kept);
}
