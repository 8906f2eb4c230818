//! A process of this node that is watched by others.

use filch_scheduler::{Monitor, Node};

/// The local monitor of a process, and all watches that it serves.
pub(crate) struct Watched {
    pub(crate) monitor: Monitor,
    pub(crate) by: Vec<By>,
}

/// The origin of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A monitor of this node.
    Here(u64),
    /// A monitor of another node.
    Node(Node, u64),
}

impl Watched {
    /// Removes the watches of that node. Returns true if none is left: the process is not watched
    /// any more.
    pub(crate) fn forget_node(&mut self, node: Node) -> bool {
        self.forget(|by| matches!(by, By::Node(from, _) if from == node))
    }

    pub(crate) fn forget(&mut self, which: impl Fn(By) -> bool) -> bool {
        self.by.retain(|&by| !which(by));
        let is_empty = self.by.is_empty();
        if is_empty {
            self.monitor.demonitor();
        }
        is_empty
    }
}
