//! Running an action: real processes in real folders.

mod actions;
mod inputs;
mod outputs;
mod processes;
