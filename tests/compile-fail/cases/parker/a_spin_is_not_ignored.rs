//! A spinner only says when to block: a caller that ignores it spins for ever.

#![deny(unused_must_use)]

use filch_parker::AdaptiveSpinner;

pub fn case(spinner: &mut AdaptiveSpinner) {
    #[cfg(misuse)]
    spinner.spin(); //~ unused_must_use that must be used
    #[cfg(not(misuse))]
    let _ = spinner.spin();
}
