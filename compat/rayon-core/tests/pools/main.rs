//! What rayon's own tests do not show: when handlers are called, what a failed start leaves, where
//! panics go, and that nothing hangs.

mod alone;
mod fifo;
mod global;
mod handlers;
mod nested;
mod panics;
mod start;
mod waits;
