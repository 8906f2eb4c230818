//! A PID as text and as bits.

use super::{Node, Pid, origin};

#[test]
fn a_pid_survives_as_a_number() {
    for node in [0, 1, u32::MAX] {
        for table in [0, 7, u32::MAX] {
            for (slot, generation) in [(0, 0), (1, 2), (u32::MAX, u32::MAX - 1)] {
                let pid = Pid::new(origin(Node(node), table), slot, generation);
                assert_eq!((pid.slot(), pid.generation()), (slot, generation));
                assert_eq!(pid.node(), Node(node));
                assert_eq!(pid.origin, origin(Node(node), table));
                assert_eq!(Pid::from_bits(pid.to_bits()), pid);
            }
        }
    }
}

#[test]
fn the_node_is_printed_where_there_is_more_than_one() {
    let pid = |node| Pid::new(origin(Node(node), 1), 2, 3);
    assert_eq!(pid(0).to_string(), "<1.2.3>");
    assert_eq!(format!("{:?}", pid(9)), "Pid<9:1.2.3>");
}
