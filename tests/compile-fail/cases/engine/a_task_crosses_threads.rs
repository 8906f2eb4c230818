//! A task goes to the threads of the schedulers.

use std::rc::Rc;
use std::sync::Arc;

use filch_engine::Engine;

#[derive(Clone)]
pub struct Ping<T>(T);

pub fn case(engine: &Engine) {
    #[cfg(misuse)]
    engine.broadcast(Ping(Rc::new(1))); //~ E0277 cannot be sent between threads safely
    #[cfg(not(misuse))]
    engine.broadcast(Ping(Arc::new(1)));
    drop(Rc::new(1));
    drop(Arc::new(1));
}
