//! One set of threads for processes, futures and jobs.

mod common;
mod ends;
mod together;
