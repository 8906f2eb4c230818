//! The file format of the pictures.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use png::{BitDepth, ColorType, Encoder, EncodingError};

/// Writes a picture of that width and height: its rows, three bytes a pixel.
pub(crate) fn write(file: File, size: (u32, u32), rows: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    encode(&mut file, size, rows).map_err(|error| match error {
        EncodingError::IoError(error) => error,
        other => other.into(),
    })?;
    file.flush()
}

fn encode(file: impl Write, (width, height): (u32, u32), rows: &[u8]) -> Result<(), EncodingError> {
    let mut encoder = Encoder::new(file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rows)?;
    writer.finish()
}
