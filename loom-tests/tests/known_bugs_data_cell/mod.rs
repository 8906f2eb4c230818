//! Broken locks of data, each with a tempting mistake that the models must catch. Each model is
//! there twice: it must hold for the lock without a mistake.

mod lock;
mod sets;
mod toy;
mod waiting;
