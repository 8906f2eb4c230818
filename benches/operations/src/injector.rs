//! The injector: a push and a pop that nobody competes with.

use std::hint::black_box;

use filch_injector::Injector;

use crate::Operation;
use crate::primitives::{MANY, nothing};

pub(crate) fn operations() -> [Operation; 2] {
    [
        Operation::new("injector: push", MANY, injector, [nothing, inject, take]),
        Operation::new("injector: pop", MANY, injector, [inject, take, nothing]),
    ]
}

fn injector() -> &'static Injector<u64> {
    Box::leak(Box::new(Injector::new()))
}

/// No other producer competes.
fn inject(injector: &mut &'static Injector<u64>) {
    (0..MANY).for_each(|item| injector.push(black_box(item)));
}

/// No other consumer competes.
fn take(injector: &mut &'static Injector<u64>) {
    for _ in 0..MANY {
        black_box(injector.pop());
    }
}
