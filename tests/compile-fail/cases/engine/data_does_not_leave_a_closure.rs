//! What a closure is lent is locked as long as it runs.

use filch_engine::Context;

pub fn case(context: Context<'_>) {
    let mut kept = None;
    #[cfg(misuse)]
    let _ = context.lock(|number: &u32| kept = Some(number)); //~ E0521 borrowed data escapes
    #[cfg(not(misuse))]
    let _ = context.lock(|number: &u32| kept = Some(*number));
    drop(kept);
}
