use std::fmt;

/// The name of one process, for ever: the node that it lives on, the number of its scheduler there,
/// a slot of that one's process table, and the generation of the slot's occupant.
///
/// Slots are used again, names are not: a PID whose process has ended never reaches the slot's next
/// occupant, nor a process of another scheduler. (Number and generation have 32 bits each: a PID kept
/// over 2³² occupants of one slot, or over 2³² schedulers, would be mistaken.)
///
/// For ever, that is for as long as the program runs. A program that starts again begins to count
/// again: its processes get the names that others may still know from the time before, unless it
/// starts as another [`Node`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid {
    pub(crate) origin: Origin,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// A place where schedulers run, to those who send messages from one to another: a program, a
/// machine. Who has only one needs none: schedulers are built on node 0. Each run of a program is
/// to be a node of its own: see [`Pid`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// Node and scheduler, compared at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin(u64);

impl Origin {
    pub(crate) fn new(node: Node, scheduler: u32) -> Self {
        Self(u64::from(node.0) << 32 | u64::from(scheduler))
    }

    pub(crate) fn node(self) -> Node {
        Node((self.0 >> 32) as u32)
    }

    fn scheduler(self) -> u32 {
        self.0 as u32
    }
}

impl Pid {
    /// The node that the process lives on.
    pub fn node(self) -> Node {
        self.origin.node()
    }

    /// The PID as a number, for transports.
    pub fn to_bits(self) -> u128 {
        u128::from(self.origin.0) << 64 | u128::from(self.slot) << 32 | u128::from(self.generation)
    }

    /// The PID that [`to_bits`](Self::to_bits) made a number of. A number that was made up is some
    /// PID too: of a process that lives, of one that has ended, or of none, and what is meant for
    /// those two is refused.
    pub fn from_bits(bits: u128) -> Self {
        Self {
            origin: Origin((bits >> 64) as u64),
            slot: (bits >> 32) as u32,
            generation: bits as u32,
        }
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, scheduler) = (self.origin.node(), self.origin.scheduler());
        f.write_str("<")?;
        if node != Node::default() {
            write!(f, "{}:", node.0)?;
        }
        write!(f, "{scheduler}.{}.{}>", self.slot, self.generation)
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Origin, Pid};

    #[test]
    fn a_pid_survives_as_a_number() {
        for node in [0, 1, u32::MAX] {
            for scheduler in [0, 7, u32::MAX] {
                for (slot, generation) in [(0, 0), (1, 2), (u32::MAX, u32::MAX - 1)] {
                    let pid = Pid {
                        origin: Origin::new(Node(node), scheduler),
                        slot,
                        generation,
                    };
                    assert_eq!(pid.node(), Node(node));
                    assert_eq!(pid.origin.scheduler(), scheduler);
                    assert_eq!(Pid::from_bits(pid.to_bits()), pid);
                }
            }
        }
    }

    #[test]
    fn people_see_the_node_where_there_is_more_than_one() {
        let pid = |node| Pid {
            origin: Origin::new(Node(node), 1),
            slot: 2,
            generation: 3,
        };
        assert_eq!(pid(0).to_string(), "<1.2.3>");
        assert_eq!(format!("{:?}", pid(9)), "Pid<9:1.2.3>");
    }
}
