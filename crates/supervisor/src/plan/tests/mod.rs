//! The plan against a model of it that is written another way, in worlds that are made up.

mod agreement;
mod cases;
mod invariants;
mod model;
mod script;
mod world;
