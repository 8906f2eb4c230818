//! The parker's token: the thread that takes it has given it before, and does not sleep.

use filch_parker::{Parker, Unparker};

use crate::Operation;

/// `unpark` before `park`: the token is there already.
#[derive(Debug)]
pub struct Token {
    parker: Parker,
    unparker: Unparker,
}

impl Operation for Token {
    const NAME: &'static str = "parker: unpark and park";
    const TIMES: u64 = 1024;

    fn new() -> Self {
        let parker = Parker::new();
        Self {
            unparker: parker.unparker(),
            parker,
        }
    }

    fn run(&mut self) {
        for _ in 0..Self::TIMES {
            self.unparker.unpark();
            self.parker.park();
        }
    }
}
