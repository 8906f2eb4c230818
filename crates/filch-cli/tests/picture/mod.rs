//! The pictures that the program writes.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use png::{BitDepth, ColorType, Decoder};

/// Returns width, height and pixels of a picture.
#[track_caller]
pub(crate) fn decode(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let decoder = Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    reader.finish().unwrap();
    assert_eq!(
        (frame.color_type, frame.bit_depth),
        (ColorType::Rgb, BitDepth::Eight)
    );
    let (pixels, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    (frame.width, frame.height, pixels.to_vec())
}
