//! Data that a task's function borrows is locked only while the function runs.

use std::sync::Mutex;

use filch_engine::Worker;

#[derive(Clone)]
pub struct Ping;

static KEPT: Mutex<Option<&'static u32>> = Mutex::new(None);

#[cfg(misuse)]
fn keep(_: &Ping, number: &'static u32) {
    *KEPT.lock().unwrap() = Some(number);
}

#[cfg(not(misuse))]
fn keep(_: &Ping, number: &u32) {
    *KEPT.lock().unwrap() = Some(Box::leak(Box::new(*number)));
}

pub fn case() -> Worker {
    Worker::new("keeps").owns(|| 1_u32).on(keep) //~ E0277 is no function that runs tasks
}
