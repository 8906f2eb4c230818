//! The tests of the transport. All need a program of others.

mod foreign;
