//! The sequential scheduler beside a model.

mod model;
mod properties;
