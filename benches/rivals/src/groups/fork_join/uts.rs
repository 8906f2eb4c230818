//! A tree of the Unbalanced Tree Search (Olivier and others, LCPC 2006), node for node as its
//! authors' program makes them: a node is a SHA-1 digest, which says how many children it has, and
//! a child is the digest of its parent and its number. So no thread can know how large a subtree
//! is before it has walked it.

/// The measured tree is binomial, and smaller than those of the authors: its root has so many
/// children, and each other node has `CHILDREN` with that probability, and none otherwise. Most
/// subtrees are tiny, a few are large.
const OF_ROOT: u32 = 2_000;
const CHILDREN: u32 = 8;
const PROBABILITY: f64 = 0.1235;
const SEED: u32 = 42;

/// Its nodes.
pub(super) const NODES: u64 = 391_273;

#[derive(Clone, Copy)]
pub(super) struct Node {
    digest: [u32; 5],
    depth: u32,
}

impl Node {
    pub(super) fn root() -> Self {
        Self {
            digest: digest(&[0, 0, 0, 0, SEED]),
            depth: 0,
        }
    }

    /// The number of its children.
    pub(super) fn children(&self) -> u32 {
        match self.depth {
            0 => OF_ROOT,
            _ if self.draw() < PROBABILITY => CHILDREN,
            _ => 0,
        }
    }

    pub(super) fn child(&self, number: u32) -> Self {
        let [a, b, c, d, e] = self.digest;
        Self {
            digest: digest(&[a, b, c, d, e, number]),
            depth: self.depth + 1,
        }
    }

    /// Draws a number from 0 to 1, without 1.
    fn draw(&self) -> f64 {
        f64::from(self.digest[4] & 0x7fff_ffff) / f64::from(1_u32 << 31)
    }
}

/// The SHA-1 digest of a message of a few words, in one block.
fn digest(message: &[u32]) -> [u32; 5] {
    const BEGIN: [u32; 5] = [
        0x6745_2301,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    let mut words = [0; 16];
    words[..message.len()].copy_from_slice(message);
    words[message.len()] = 1 << 31;
    words[15] = 32 * message.len() as u32;
    let [mut a, mut b, mut c, mut d, mut e] = BEGIN;
    for stage in 0..4 {
        for step in 20 * stage..20 * (stage + 1) {
            if step >= 16 {
                let word = |back: usize| words[(step - back) % 16];
                words[step % 16] = (word(3) ^ word(8) ^ word(14) ^ word(16)).rotate_left(1);
            }
            let (mixed, constant) = match stage {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let next = (a.rotate_left(5).wrapping_add(mixed))
                .wrapping_add(e)
                .wrapping_add(constant)
                .wrapping_add(words[step % 16]);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|word| BEGIN[word].wrapping_add(end[word]))
}

#[cfg(test)]
mod tests {
    use super::{NODES, Node, digest};

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let abcd = u32::from_be_bytes(*b"abcd");
        let expected = [
            0x81fe_8bfe,
            0x8757_6c3e,
            0xcb22_426f,
            0x8e57_8473,
            0x8291_7acf,
        ];
        assert_eq!(digest(&[abcd]), expected);
    }

    /// Counted by the code that found as many nodes of T3 as the authors publish: 4 112 897 of
    /// 2 000 children and a probability of 0.124875.
    #[test]
    fn the_tree_stays_as_it_is() {
        let (mut count, mut waiting) = (0, vec![Node::root()]);
        while let Some(node) = waiting.pop() {
            count += 1;
            waiting.extend((0..node.children()).map(|number| node.child(number)));
        }
        assert_eq!(count, NODES);
    }
}
