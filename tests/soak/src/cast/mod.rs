//! The cast: processes, futures, the command handler and the hooks, which misbehave as planned.

mod actor;
mod deeds;
mod futures;
mod handler;
mod shelf;
mod submit;
mod vocabulary;
mod world;

pub(crate) use actor::{Actor, Small};
pub(crate) use deeds::{Doer, name_of};
pub(crate) use futures::{Spawned, Tide, spawn};
pub(crate) use handler::{Handler, Hooks};
pub(crate) use shelf::{Held, Shelf};
pub(crate) use submit::{refused, submit};
pub(crate) use vocabulary::{Errand, Fault, Parcel, Soak, Way};
pub(crate) use world::{Roster, World};
