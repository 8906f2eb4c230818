//! The size of a picture.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Width and height in pixels: neither is zero, and a picture has [`Size::MOST_PIXELS`] at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// 8192x8192. Three such pictures are in memory at once, which takes about a gigabyte.
    const MOST_PIXELS: u64 = 1 << 26;

    /// # Errors
    /// [`SizeError`], unless the size meets the type's promise.
    pub(crate) fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        match u64::from(width) * u64::from(height) {
            0 => Err(SizeError::Empty),
            pixels if pixels > Self::MOST_PIXELS => Err(SizeError::TooLarge),
            _ => Ok(Self { width, height }),
        }
    }

    pub(crate) fn width(self) -> u32 {
        self.width
    }

    pub(crate) fn height(self) -> u32 {
        self.height
    }

    pub(crate) fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (width, height) = text.split_once('x').ok_or(SizeError::Malformed)?;
        Self::new(number(width)?, number(height)?)
    }
}

/// Parses digits and nothing else; a number that does not fit is a size that is too large.
fn number(digits: &str) -> Result<u32, SizeError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SizeError::Malformed);
    }
    digits.parse().map_err(|_| SizeError::TooLarge)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The reason why a text is not the size of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeError {
    /// It is not two numbers with an `x` between them.
    Malformed,
    /// A side is zero.
    Empty,
    /// It has more pixels than a picture may have.
    TooLarge,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("not of the form WIDTHxHEIGHT, such as 1280x720"),
            Self::Empty => f.write_str("a picture without pixels"),
            Self::TooLarge => write!(f, "more than {} pixels", Size::MOST_PIXELS),
        }
    }
}

impl Error for SizeError {}

#[cfg(test)]
mod tests {
    use super::{Size, SizeError};

    #[test]
    fn a_size_is_read_as_it_is_written() {
        for text in ["1x1", "1280x720", "67108864x1"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (text, error) in [
            ("", SizeError::Malformed),
            ("640", SizeError::Malformed),
            ("640x", SizeError::Malformed),
            ("x480", SizeError::Malformed),
            ("640x480x3", SizeError::Malformed),
            ("640X480", SizeError::Malformed),
            ("-640x480", SizeError::Malformed),
            ("+640x480", SizeError::Malformed),
            ("640 x 480", SizeError::Malformed),
            ("0x480", SizeError::Empty),
            ("640x0", SizeError::Empty),
            ("67108865x1", SizeError::TooLarge),
            ("4294967295x4294967295", SizeError::TooLarge),
            ("4294967296x1", SizeError::TooLarge),
        ] {
            assert_eq!(text.parse::<Size>(), Err(error), "{text:?}");
        }
    }
}
