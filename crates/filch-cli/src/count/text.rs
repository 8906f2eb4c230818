//! From blocks of bytes to text: joins characters and words that the end of a block cuts in two.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem;

use super::words::is_word_char;

/// The bytes are not UTF-8, or a NUL is among them: a database, for example, or the page map of a
/// process, which goes on for 256 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotText {
    /// The place of the first wrong character.
    offset: u64,
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not UTF-8 text (at byte {})", self.offset)
    }
}

impl Error for NotText {}

impl From<NotText> for io::Error {
    fn from(error: NotText) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Decodes UTF-8 block by block.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The first bytes of a character that the block's end cut, at most three.
    tail: Vec<u8>,
    decoded: u64,
}

impl Decoder {
    /// Returns the characters that this block completes.
    pub(crate) fn decode(&mut self, block: Vec<u8>) -> Result<String, NotText> {
        let mut bytes = block;
        if !self.tail.is_empty() {
            let mut whole = mem::take(&mut self.tail);
            whole.append(&mut bytes);
            bytes = whole;
        }
        let nul = first_nul(&bytes);
        let text = String::from_utf8(bytes).or_else(|error| {
            let wrong = error.utf8_error();
            let mut bytes = error.into_bytes();
            if wrong.error_len().is_some() {
                let valid = wrong.valid_up_to();
                return Err(self.not_text(nul.map_or(valid, |nul| valid.min(nul))));
            }
            self.tail = bytes.split_off(wrong.valid_up_to());
            String::from_utf8(bytes)
                .map_err(|error| self.not_text(error.utf8_error().valid_up_to()))
        })?;
        if let Some(nul) = nul {
            return Err(self.not_text(nul));
        }
        self.decoded += text.len() as u64;
        Ok(text)
    }

    /// Checks that no character is cut off at the end.
    pub(crate) fn finish(&mut self) -> Result<(), NotText> {
        if self.tail.is_empty() {
            Ok(())
        } else {
            Err(self.not_text(0))
        }
    }

    fn not_text(&self, beyond: usize) -> NotText {
        NotText {
            offset: self.decoded + beyond as u64,
        }
    }
}

fn first_nul(bytes: &[u8]) -> Option<usize> {
    // Hardly any block has one, and `contains` is the faster search.
    let is_nul = |byte: &u8| *byte == 0;
    bytes.contains(&0).then(|| bytes.iter().position(is_nul))?
}

/// Cuts a file's text between words. It keeps only the last word, however long that is.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    decoder: Decoder,
    /// A word that the next block may continue.
    word: String,
}

impl Splitter {
    /// Returns the text up to the last word that is certainly complete; it may be empty.
    pub(crate) fn push(&mut self, block: Vec<u8>) -> Result<String, NotText> {
        let mut text = self.decoder.decode(block)?;
        // Only the new text is searched: a file that is one long word costs linear time, not
        // quadratic.
        let Some(at) = text.rfind(|c| !is_word_char(c)) else {
            self.word.push_str(&text);
            return Ok(String::new());
        };
        let word = text.split_off(at);
        let before = mem::replace(&mut self.word, word);
        if !before.is_empty() {
            text.insert_str(0, &before);
        }
        Ok(text)
    }

    /// Returns the rest, after the last block.
    pub(crate) fn finish(&mut self) -> Result<String, NotText> {
        self.decoder.finish()?;
        Ok(mem::take(&mut self.word))
    }
}

#[cfg(test)]
mod tests {
    use super::{NotText, Splitter};
    use crate::count::words::words;
    use proptest::prelude::*;

    fn split(bytes: &[u8], block: usize) -> Result<Vec<String>, NotText> {
        let mut splitter = Splitter::default();
        let mut chunks = Vec::new();
        for block in bytes.chunks(block) {
            chunks.push(splitter.push(block.to_vec())?);
        }
        chunks.push(splitter.finish()?);
        Ok(chunks)
    }

    #[test]
    fn a_word_across_blocks_stays_whole() {
        assert_eq!(split(b"ab cdef g", 4).unwrap(), ["ab", " cdef", "", " g"]);
    }

    #[test]
    fn the_offset_of_what_is_no_text_counts_from_the_beginning() {
        for block in 1..8 {
            let wrong = split("äö\u{20ac}".as_bytes(), block);
            assert!(wrong.is_ok());
            assert_eq!(split(b"abcd\xffe", block), Err(NotText { offset: 4 }));
            assert_eq!(split(b"abcd\xe2\x82", block), Err(NotText { offset: 4 }));
            assert_eq!(split(b"abcd\0e\xff", block), Err(NotText { offset: 4 }));
        }
    }

    proptest! {
        #[test]
        fn chunks_make_the_text_and_cut_no_word(
            text in "[a_ä€𝄞 .\n]{0,40}",
            block in 1_usize..9,
        ) {
            let chunks = split(text.as_bytes(), block).unwrap();
            prop_assert_eq!(chunks.concat(), text.as_str());
            let cut: Vec<&str> = chunks.iter().flat_map(|chunk| words(chunk)).collect();
            let whole: Vec<&str> = words(&text).collect();
            prop_assert_eq!(cut, whole);
        }

        #[test]
        fn what_is_no_text_is_refused_whatever_the_block(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            block in 1_usize..9,
        ) {
            let valid = match std::str::from_utf8(&bytes) {
                Ok(_) => bytes.len(),
                Err(error) => error.valid_up_to(),
            };
            let text = bytes[..valid].split(|byte| *byte == 0).next().unwrap();
            match split(&bytes, block) {
                Ok(chunks) => prop_assert_eq!(chunks.concat().into_bytes(), bytes),
                Err(wrong) => prop_assert_eq!(wrong.offset, text.len() as u64),
            }
        }
    }
}
