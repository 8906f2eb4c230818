//! The order of jobs.

/// Finds a cycle in a graph, if there is one: nodes, each of which depends on the next, and the
/// last on the first.
pub(super) fn find_cycle(depends: &[&[usize]]) -> Option<Vec<usize>> {
    let mut dependents = vec![Vec::new(); depends.len()];
    let mut waits_for: Vec<_> = depends.iter().map(|all| all.len()).collect();
    for (node, all) in depends.iter().enumerate() {
        all.iter().for_each(|&other| dependents[other].push(node));
    }
    let mut free: Vec<_> = (0..depends.len())
        .filter(|&node| waits_for[node] == 0)
        .collect();
    while let Some(node) = free.pop() {
        for &dependent in &dependents[node] {
            waits_for[dependent] -= 1;
            if waits_for[dependent] == 0 {
                free.push(dependent);
            }
        }
    }
    // Each that is left depends on another one that is left: the way along these leads in a circle.
    let is_left = |node: &usize| waits_for[*node] > 0;
    let mut node = (0..depends.len()).find(is_left)?;
    let mut way = Vec::new();
    let mut places = vec![None; depends.len()];
    while places[node].is_none() {
        places[node] = Some(way.len());
        way.push(node);
        node = *depends[node].iter().find(|node| is_left(node))?;
    }
    Some(way.split_off(places[node]?))
}
