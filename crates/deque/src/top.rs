//! The packed word that thieves compare.

/// The word that decides every race: which item thieves take next, and in which epoch.
///
/// ```text
///  63            32 31             0
/// +----------------+----------------+
/// |      tag       |     index      |   both wrap around
/// +----------------+----------------+
/// ```
///
/// Thieves add to `index` when they claim items. The owner alone adds to `tag`, whenever something
/// that a thief may have read before (`split`, the ring) no longer holds. A compare-and-swap that
/// expects an older tag fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Top {
    pub(crate) tag: u32,
    pub(crate) index: u32,
}

impl Top {
    /// Added to the packed word, it starts the next epoch and leaves the index alone. The carry of
    /// the last tag is lost.
    pub(crate) const NEXT_TAG: u64 = 1 << 32;

    /// The packed word.
    #[inline]
    pub(crate) const fn pack(self) -> u64 {
        (self.tag as u64) << 32 | self.index as u64
    }

    /// The fields of a packed word.
    #[inline]
    pub(crate) const fn unpack(word: u64) -> Self {
        Self {
            tag: (word >> 32) as u32,
            index: word as u32,
        }
    }

    /// The same epoch, `count` items later.
    #[inline]
    pub(crate) const fn advance(self, count: u32) -> Self {
        Self {
            index: self.index.wrapping_add(count),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Top;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pair_survives_the_round_trip(tag: u32, index: u32) {
            let top = Top { tag, index };
            prop_assert_eq!(Top::unpack(top.pack()), top);
        }

        #[test]
        fn every_word_survives_the_round_trip(word: u64) {
            prop_assert_eq!(Top::unpack(word).pack(), word);
        }

        #[test]
        fn the_next_tag_leaves_the_index_alone(tag: u32, index: u32) {
            let word = Top { tag, index }.pack().wrapping_add(Top::NEXT_TAG);
            prop_assert_eq!(Top::unpack(word), Top { tag: tag.wrapping_add(1), index });
        }

        #[test]
        fn claims_leave_the_tag_alone(tag: u32, index: u32, count: u32) {
            let top = Top { tag, index }.advance(count);
            prop_assert_eq!(top, Top { tag, index: index.wrapping_add(count) });
        }
    }

    #[test]
    fn both_halves_wrap() {
        let last = Top {
            tag: u32::MAX,
            index: u32::MAX,
        };
        assert_eq!(
            last.advance(1),
            Top {
                tag: u32::MAX,
                index: 0
            }
        );
        assert_eq!(
            Top::unpack(last.pack().wrapping_add(Top::NEXT_TAG)),
            Top {
                tag: 0,
                index: u32::MAX
            },
        );
    }
}
