//! The rows D1 to D11, refusals, and workers that come and go under load. A test that is named
//! after a row shows that row.

mod attacks;
mod common;
mod corners;
mod data;
mod end;
mod explains;
mod inside;
mod kinds;
mod life;
mod order;
mod owners;
mod receive;
mod refused;
mod rest;
mod stress;
mod tasks;
mod waits;
