//! The injector: a push and a pop that nobody competes with.

use std::hint::black_box;
use std::mem::ManuallyDrop;

use filch_injector::Injector;

use crate::Operation;
use crate::primitives::{MANY, nothing};

/// An injector that stays: its drop claims as well, and the compiler puts a claim into the pop if
/// that is the only one.
type Kept = ManuallyDrop<Injector<u64>>;

pub(crate) fn operations() -> [Operation; 2] {
    let new = || Kept::new(Injector::new());
    [
        Operation::new("injector: push", MANY, new, [nothing, inject, take]),
        Operation::new("injector: pop", MANY, new, [inject, take, nothing]),
    ]
}

/// No other producer competes.
fn inject(injector: &mut Kept) {
    (0..MANY).for_each(|item| injector.push(black_box(item)));
}

/// No other consumer competes. The pop is called, as it is where there are several.
fn take(injector: &mut Kept) {
    let pop: fn(&Injector<u64>) -> Option<u64> = black_box(Injector::pop);
    for _ in 0..MANY {
        black_box(pop(injector));
    }
}
