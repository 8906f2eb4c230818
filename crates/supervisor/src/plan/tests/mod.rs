//! The plan against a model written in another way, in made-up worlds.

mod agreement;
mod cases;
mod invariants;
mod model;
mod script;
mod world;
