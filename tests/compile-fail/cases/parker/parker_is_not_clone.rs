//! A second parker for one token.

use filch_parker::{Parker, Unparker};

pub fn case(parker: Parker) -> Unparker {
    #[cfg(misuse)]
    let _: Parker = parker.clone(); //~ E0599 no method named `clone` found
    parker.unparker().clone()
}
