//! The order of jobs.

/// Finds a cycle in a graph, if there is one: nodes, each of which depends on the next, and the
/// last on the first.
pub(super) fn find_cycle(depends: &[&[usize]]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnWay,
        Done,
    }
    let mut states = vec![State::New; depends.len()];
    for start in 0..depends.len() {
        if states[start] != State::New {
            continue;
        }
        // The path to the current node, with the number of dependencies seen of each.
        let mut way = vec![(start, 0)];
        states[start] = State::OnWay;
        while let Some((node, seen)) = way.last_mut() {
            let Some(&next) = depends[*node].get(*seen) else {
                states[*node] = State::Done;
                way.pop();
                continue;
            };
            *seen += 1;
            match states[next] {
                State::Done => {}
                State::New => {
                    states[next] = State::OnWay;
                    way.push((next, 0));
                }
                State::OnWay => {
                    let nodes = way.iter().map(|(node, _)| *node);
                    return Some(nodes.skip_while(|&node| node != next).collect());
                }
            }
        }
    }
    None
}
