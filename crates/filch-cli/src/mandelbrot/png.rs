//! The file format.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use png::{BitDepth, ColorType, Encoder, EncodingError};

use super::size::Size;

/// Writes a picture of that size: its rows, three bytes a pixel.
pub(super) fn write(file: File, size: Size, rows: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    encode(&mut file, size, rows).map_err(|error| match error {
        EncodingError::IoError(error) => error,
        other => other.into(),
    })?;
    file.flush()
}

fn encode(file: impl Write, size: Size, rows: &[u8]) -> Result<(), EncodingError> {
    let mut encoder = Encoder::new(file, size.width(), size.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rows)?;
    writer.finish()
}
