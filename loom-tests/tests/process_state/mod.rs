//! Models of a process's state: a toy scheduler around the real word.

mod lives;
mod toy;
mod waking;
