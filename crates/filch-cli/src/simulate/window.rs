//! The window of `--window`, in programs that are built with one.

use std::error::Error;
use std::fmt;

use super::canvas::Canvas;

/// A window that shows frames. It stays on the thread that opened it.
#[cfg(feature = "window")]
pub(super) struct Window {
    window: minifb::Window,
    /// The frame in the window's format: a word a pixel.
    pixels: Vec<u32>,
}

#[cfg(feature = "window")]
impl Window {
    /// # Errors
    /// None: this program can have one.
    pub(super) fn check() -> Result<(), WindowError> {
        Ok(())
    }

    /// # Errors
    /// If there is no display.
    pub(super) fn open() -> Result<Self, WindowError> {
        let options = minifb::WindowOptions::default();
        let window = minifb::Window::new("filch", Canvas::WIDTH, Canvas::HEIGHT, options);
        let mut window = window.map_err(|error| WindowError::Refused(error.to_string()))?;
        // The input worker has the clock.
        window.set_target_fps(0);
        Ok(Self {
            window,
            pixels: Vec::with_capacity(Canvas::WIDTH * Canvas::HEIGHT),
        })
    }

    /// Shows a frame. Returns false once somebody has closed it, or pressed Escape.
    pub(super) fn show(&mut self, canvas: &Canvas) -> bool {
        let (pixels, _) = canvas.rows().as_chunks();
        let word = |&[red, green, blue]: &[u8; 3]| u32::from_be_bytes([0, red, green, blue]);
        self.pixels.clear();
        self.pixels.extend(pixels.iter().map(word));
        let shown = self
            .window
            .update_with_buffer(&self.pixels, Canvas::WIDTH, Canvas::HEIGHT);
        shown.is_ok() && self.window.is_open() && !self.window.is_key_down(minifb::Key::Escape)
    }
}

/// No window: this program cannot have one.
#[cfg(not(feature = "window"))]
pub(super) enum Window {}

#[cfg(not(feature = "window"))]
impl Window {
    /// # Errors
    /// [`WindowError::NotBuiltIn`].
    pub(super) fn check() -> Result<(), WindowError> {
        Err(WindowError::NotBuiltIn)
    }

    /// # Errors
    /// [`WindowError::NotBuiltIn`].
    pub(super) fn open() -> Result<Self, WindowError> {
        Err(WindowError::NotBuiltIn)
    }

    pub(super) fn show(&mut self, _: &Canvas) -> bool {
        match *self {}
    }
}

/// The reason why there is no window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WindowError {
    /// The program was built without.
    #[cfg(not(feature = "window"))]
    NotBuiltIn,
    /// The system refused, for this reason.
    #[cfg(feature = "window")]
    Refused(String),
}

impl WindowError {
    /// Returns whether other arguments would help.
    pub(super) fn is_usage(&self) -> bool {
        !cfg!(feature = "window")
    }
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(not(feature = "window"))]
            Self::NotBuiltIn => f.write_str(
                "this program was built without a window: \
                 build it with `cargo build --package filch-cli --features window`",
            ),
            #[cfg(feature = "window")]
            Self::Refused(reason) => write!(f, "no window: {reason}"),
        }
    }
}

impl Error for WindowError {}
