//! What the workers send each other. Render is `Ready`, then each frame is these tasks, then the
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

/// All is there that frames are drawn on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready;

/// What the player wants: the attractor at that place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    pub(super) attractor: Vector,
}

/// The world is to go one step further. Completed when it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step;

/// What touched in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collisions(pub(super) Touches);

/// The world has gone one step further. Completed when the frame is heard and drawn: until then the
/// world stands still.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped;

/// That was the last frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Over;
