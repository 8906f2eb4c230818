//! The sum of a binary tree in memory, a join at each node: what a join costs, beside a walk that
//! does nearly nothing.
//!
//! ```sh
//! cargo run --release -p filch-fork-join --example tree_sum
//! ```

mod compare;

use filch_fork_join::Worker;

const HEIGHT: u32 = if cfg!(debug_assertions) { 12 } else { 21 };

struct Node {
    value: u64,
    children: Option<Box<[Node; 2]>>,
}

impl Node {
    /// A tree of `2^height - 1` nodes, numbered like a heap.
    fn tree(value: u64, height: u32) -> Self {
        let child = |number| Self::tree(2 * value + number, height - 1);
        Self {
            value,
            children: (height > 1).then(|| Box::new([child(0), child(1)])),
        }
    }

    fn sum(&self) -> u64 {
        match &self.children {
            None => self.value,
            Some(children) => self.value + children[0].sum() + children[1].sum(),
        }
    }

    fn parallel_sum(&self, worker: &Worker) -> u64 {
        let Some(children) = &self.children else {
            return self.value;
        };
        let (a, b) = worker.join(
            |w| children[0].parallel_sum(w),
            |w| children[1].parallel_sum(w),
        );
        self.value + a + b
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = compare::pool()?;
    let root = Node::tree(1, HEIGHT);
    let nodes = (1_u64 << HEIGHT) - 1;
    let what = format!("sum of a tree of {nodes} nodes");
    let sum = compare::compare(
        &what,
        &pool,
        || root.sum(),
        |worker| root.parallel_sum(worker),
    );
    assert_eq!(sum, nodes * (nodes + 1) / 2);
    Ok(())
}
