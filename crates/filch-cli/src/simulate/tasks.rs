//! The tasks between the workers. Render sends `Ready`; then each frame is these tasks; then the
//! game is `Over`:
//!
//! ```text
//!   input           physics          audio           render
//!     ├─ Input ───────▶│               │                │
//!     ├─ Step ────────▶│               │                │
//!     │                ├─ Collisions ─▶│                │
//!     │◀ ─ completed ─ ┘               │                │
//!     ├─ Stepped ─────────────────────▶├───────────────▶│
//!     │◀ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ completed ─ ─ ┴─ ─ ─ ─ ─ ┘
//! ```

use super::vector::Vector;
use super::world::Touches;

/// Reports that frames can be drawn: a window is open, if one is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready;

/// The player's input: the place of the attractor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    pub(super) attractor: Vector,
}

/// Moves the world one step further. Completed when it has moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step;

/// The boids that touched in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collisions(pub(super) Touches);

/// Reports that the world has moved. Completed when the frame is heard and drawn: until then the
/// world stands still.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped;

/// Reports that the last frame is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over;
