//! The two lanes of the global queue, when more comes from outside than there is time for.

use std::time::Duration;

use super::{ELAPSED, Kind, MICRO, MILLI, World, mixture};

/// Returns how long each of ten tasks waits, one every two milliseconds, beside 200 that came to
/// the other lane before it, and as many as have left that since.
fn waits_beside_a_flood(processors: usize, is_woken: bool) -> Vec<Duration> {
    let mut world = mixture(processors, &[], &[(16, 5)]);
    let push = |world: &World, is_woken, task| match is_woken {
        true => world.shared.queues.global.woken.push(task),
        false => world.shared.queues.global.new.push(task),
    };
    let mut comers = Vec::new();
    for time in 0..20 {
        // Of the processors the last one may be ahead.
        ELAPSED.set(MILLI * time);
        let length = |world: &World| {
            let (new, woken) = world.shared.queues.global.lengths();
            new + woken
        };
        while length(&world) < 200 {
            let task = world.task(Kind::Once(20 * MICRO));
            push(&world, !is_woken, task);
        }
        if time % 2 == 0 {
            let comer = world.task(Kind::Once(MICRO));
            push(&world, is_woken, comer);
            comers.push(comer);
        }
        world.run_until(MILLI * (time + 1));
    }
    let begun = |comer| world.log.iter().find(|(_, task)| *task == comer);
    let wait = |comer: usize| begun(comer).expect("it has begun").0 - world.since[comer];
    comers.into_iter().map(wait).collect()
}

/// A failure: it waits until all of the flood have begun that came before it, 4 ms of work.
#[test]
fn neither_lane_waits_for_a_flood_of_the_other() {
    for processors in [1, 2, 8] {
        for is_woken in [true, false] {
            let waits = waits_beside_a_flood(processors, is_woken);
            let worst = waits.iter().max().expect("some came");
            assert!(
                *worst <= 300 * MICRO,
                "{waits:?} on {processors}, woken: {is_woken}"
            );
        }
    }
}
