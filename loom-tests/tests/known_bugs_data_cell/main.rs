//! Broken locks of data, each with a tempting mistake, which the models must catch. Each model is
//! there twice: it must hold of the lock without a mistake.
#![cfg(loom)]

mod lock;
mod sets;
mod toy;
