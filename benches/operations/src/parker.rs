//! The parker's token: the thread that takes it has given it before, and does not sleep.

use filch_parker::Parker;

use crate::{Measure, repeat};

/// `unpark` before `park`: the token is there already.
pub(crate) fn token(measure: &mut dyn Measure) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    repeat(measure, || {
        unparker.unpark();
        parker.park();
    });
}
