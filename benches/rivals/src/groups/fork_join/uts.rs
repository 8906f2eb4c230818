//! The trees of the Unbalanced Tree Search (Olivier and others, LCPC 2006), node for node as its
//! authors' program makes them: a node is a SHA-1 digest, which says how many children it has, and
//! a child is the digest of its parent and its number. So no thread can know how large a subtree
//! is before it has walked it.

/// The number of children that a node has.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// `root` of them has the root. Each other node has `children` with that probability, and none
    /// otherwise: most subtrees are tiny, a few are large.
    Binomial {
        root: u32,
        children: u32,
        probability: f64,
    },
    /// So many on average, by a geometric distribution, and none from that depth on.
    Geometric { branching: f64, depth: u32 },
}

/// A tree that nobody keeps in memory.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub(super) shape: Shape,
    pub(super) seed: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    digest: [u32; 5],
    depth: u32,
}

impl Tree {
    pub(super) fn root(&self) -> Node {
        Node {
            digest: digest(&[0, 0, 0, 0, self.seed]),
            depth: 0,
        }
    }

    /// The most children that a node has which is not the root of a binomial tree.
    const MAX_CHILDREN: u32 = 100;

    pub(super) fn children(&self, node: &Node) -> u32 {
        match self.shape {
            Shape::Binomial { root, .. } if node.depth == 0 => root,
            Shape::Binomial {
                children,
                probability,
                ..
            } => match node.draw() < probability {
                true => children,
                false => 0,
            },
            Shape::Geometric { depth, .. } if node.depth >= depth => 0,
            Shape::Geometric { branching, .. } => {
                let end = 1.0 / (1.0 + branching);
                let count = (1.0 - node.draw()).ln() / (1.0 - end).ln();
                (count.floor() as u32).min(Self::MAX_CHILDREN)
            }
        }
    }
}

impl Node {
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
    use super::{Shape, Tree, digest};

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

    fn nodes(tree: Tree) -> u64 {
        let (mut count, mut waiting) = (0, vec![tree.root()]);
        while let Some(node) = waiting.pop() {
            count += 1;
            waiting.extend((0..tree.children(&node)).map(|number| node.child(number)));
        }
        count
    }

    /// Counted by the code that found as many nodes as the authors publish: 4 130 071 of T1, a
    /// geometric tree of depth 10, and 4 112 897 of T3, a binomial one of 2 000 children and a
    /// probability of 0.124875.
    #[test]
    fn the_trees_stay_as_they_are() {
        let shape = Shape::Geometric {
            branching: 4.0,
            depth: 6,
        };
        assert_eq!(nodes(Tree { shape, seed: 19 }), 16_000);
        let shape = Shape::Binomial {
            root: 100,
            children: 8,
            probability: 0.12,
        };
        assert_eq!(nodes(Tree { shape, seed: 42 }), 981);
    }
}
