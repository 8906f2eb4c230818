//! The simulation against a plain loop, whatever drives the workers; and what happens if one fails.

use std::time::Duration;

use filch_engine::{Exit, Worker};

use super::canvas::Canvas;
use super::checksum::Checksum;
use super::frame_times::FrameTimes;
use super::render::Remains;
use super::script::Script;
use super::sound::Sound;
use super::tasks::{Step, Stepped};
use super::world::World;
use super::{Settings, SimulateError, Workers, run, simulate, workers};

const FRAMES: u32 = 30;

fn settings(schedulers: usize, seed: u64) -> Settings {
    Settings {
        file: None,
        frames: FRAMES,
        boids: 500,
        seed,
        schedulers,
    }
}

fn played(settings: &Settings) -> Remains {
    simulate(settings, workers(settings)).unwrap()
}

/// What must be equal to the last bit.
fn result(remains: &Remains) -> (Checksum, Checksum, &Canvas) {
    (remains.world, remains.sound.checksum(), &remains.canvas)
}

/// The game as a loop of one thread.
fn by_loop(settings: &Settings) -> (Checksum, Checksum, Canvas) {
    let mut world = World::new(settings.boids, settings.seed);
    let mut sound = Sound::new(settings.seed);
    let mut script = Script::new(settings.seed);
    let mut canvas = Canvas::new();
    for _ in 0..settings.frames {
        world.attract(script.next_input().attractor);
        let touches = world.step();
        if touches.pairs > 0 {
            sound.strike(touches);
        }
        sound.mix(world.haste());
        canvas.draw(&world);
    }
    (world.checksum(), sound.checksum(), canvas)
}

#[test]
fn any_schedulers_play_what_a_plain_loop_plays_each_time() {
    for seed in [1, 7] {
        let (world, sound, canvas) = by_loop(&settings(1, seed));
        for schedulers in [1, 2, 3, 3] {
            let remains = played(&settings(schedulers, seed));
            let expected = (world, sound, &canvas);
            assert!(result(&remains) == expected, "{schedulers}, seed {seed}");
        }
    }
}

#[test]
fn the_world_is_the_same_on_every_machine() {
    let remains = played(&settings(2, 1));
    let sums = [remains.world, remains.sound.checksum()].map(|sum| sum.to_string());
    assert_eq!(sums, ["b4b5839669d884fa", "01ca05741be494ff"]);
}

#[test]
fn another_seed_is_another_game() {
    let [one, other] = [1, 2].map(|seed| played(&settings(1, seed)));
    let ((world, sound, canvas), others) = (result(&one), result(&other));
    assert!(world != others.0 && sound != others.1 && canvas != others.2);
}

#[test]
fn each_worker_runs_each_of_its_tasks() {
    for schedulers in [1, 3] {
        let remains = played(&settings(schedulers, 1));
        assert_eq!(remains.times.frames(), u64::from(FRAMES));
        let workers = remains
            .workers
            .schedulers
            .iter()
            .flat_map(|scheduler| &scheduler.workers);
        let mut ran: Vec<_> = workers
            .map(|worker| (worker.name.as_str(), worker.ran))
            .collect();
        ran.sort_unstable();
        let [audio, rest @ ..] = &ran[..] else {
            panic!("no worker");
        };
        // One for each frame, and one for each in which somebody was touched.
        let frames = u64::from(FRAMES);
        assert!(
            audio.0 == "audio" && (frames + 1..2 * frames).contains(&audio.1),
            "{audio:?}"
        );
        assert_eq!(
            rest,
            [
                ("input", 1),
                ("physics", 2 * frames),
                ("render", frames + 1)
            ]
        );
    }
}

#[test]
fn there_is_a_worker_of_each_kind() {
    let Workers {
        input,
        physics,
        audio,
    } = workers(&settings(3, 1));
    let (tell, _) = std::sync::mpsc::channel();
    let render = super::render::worker(filch_engine::Engine::new(), 1, tell);
    for (worker, in_fiber, has_run) in [
        (input, true, true),
        (audio, true, false),
        (render, false, true),
        (physics, false, false),
    ] {
        let kind = format!("in_fiber: {in_fiber}, has_run: {has_run}");
        assert!(format!("{worker:?}").contains(&kind), "{worker:?}");
    }
}

/// What is told of a simulation in which one worker is another one.
#[track_caller]
fn failure(schedulers: usize, replace: impl FnOnce(&mut Workers)) -> (String, Exit) {
    let settings = settings(schedulers, 1);
    let mut workers = workers(&settings);
    replace(&mut workers);
    match simulate(&settings, workers) {
        Err(SimulateError::Ended(worker, exit)) => (worker, exit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_worker_that_panics_ends_the_game_and_is_named() {
    let panicked = |during, message: &str| Exit::Panicked {
        during,
        message: message.to_owned(),
    };
    for schedulers in [1, 3] {
        let physics = failure(schedulers, |workers| {
            workers.physics = Worker::new("physics")
                .owns(|| World::new(10, 1))
                .on(|_: &Step, _: &mut World| panic!("the world ends"));
        });
        let step = std::any::type_name::<Step>();
        assert_eq!(
            physics,
            ("physics".into(), panicked(step, "the world ends"))
        );

        let audio = failure(schedulers, |workers| {
            workers.audio = Worker::new("audio")
                .in_fiber()
                .owns(|| Sound::new(1))
                .on(|_: &Stepped| panic!("a string breaks"));
        });
        let stepped = std::any::type_name::<Stepped>();
        assert_eq!(
            audio,
            ("audio".into(), panicked(stepped, "a string breaks"))
        );

        let input = failure(schedulers, |workers| {
            workers.input = Worker::new("input")
                .in_fiber()
                .owns(FrameTimes::new)
                .run(|_| panic!("nobody plays"));
        });
        assert_eq!(input, ("input".into(), panicked("run", "nobody plays")));
    }
}

#[test]
fn a_player_that_leaves_ends_the_game() {
    let (worker, exit) = failure(3, |workers| {
        workers.input = Worker::new("input")
            .in_fiber()
            .owns(FrameTimes::new)
            .run(|_| {});
    });
    assert_eq!((worker.as_str(), exit), ("input", Exit::Finished));
}

#[test]
fn a_report_has_times_workers_and_checksums() {
    let report = run(&settings(3, 1)).unwrap();
    assert!(report.time > Duration::ZERO);
    let text = report.to_string();
    for words in [
        "p99.9 ",
        "max ",
        "physics     thread 1",
        "render      main",
        " checksum ",
    ] {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }
}
