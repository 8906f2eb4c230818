//! A fixed-step loop: a worker with its own `run` sets the pace, another changes the world, and one
//! of another scheduler shows it.
//!
//! ```sh
//! cargo run --release -p filch-engine --example fixed_step
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use filch_engine::{Context, Engine, Exit, Worker};

const STEPS: u32 = 120;
const STEP: Duration = Duration::from_micros(500);

struct World {
    position: f64,
    speed: f64,
}

/// A step of the world.
#[derive(Clone)]
struct Step {
    seconds: f64,
}

/// Reports that the world has changed.
#[derive(Clone)]
struct Frame(u32);

/// The number of frames shown, and the last height.
struct Shown {
    frames: u32,
    height: f64,
}

fn bounce(step: &Step, world: &mut World) {
    world.speed -= 9.81 * step.seconds;
    world.position += world.speed * step.seconds;
    if world.position < 0.0 {
        world.position = -world.position;
        world.speed = -world.speed;
    }
}

fn show(frame: &Frame, world: &World, shown: &mut Shown) {
    shown.frames += 1;
    shown.height = world.position;
    if frame.0.is_multiple_of(40) {
        println!("frame {:3}: height {:.4}", frame.0, world.position);
    }
}

/// Takes one step after the other, each at its moment.
fn pace(context: Context<'_>) {
    let begin = Instant::now();
    for step in 1..=STEPS {
        let seconds = STEP.as_secs_f64();
        if context.sleep_until(begin + STEP * step).is_err()
            || context.complete(Step { seconds }).is_err()
            || context.complete(Frame(step)).is_err()
        {
            return; // it is to end
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let logic = engine.scheduler("logic")?;
    let screen = engine.scheduler("screen")?;

    let world = || World {
        position: 1.0,
        speed: 0.0,
    };
    logic.add(Worker::new("physics").owns(world).on(bounce))?;
    let shown = || Shown {
        frames: 0,
        height: 0.0,
    };
    let render = Worker::new("render").shared::<World>().owns(shown).on(show);
    screen.add(render)?;
    let pace = logic.add(Worker::new("pace").in_fiber().run(pace))?;

    assert_eq!(pace.join()?, Exit::Finished);
    let (told, hears) = std::sync::mpsc::channel();
    let asks = Worker::new("asks")
        .group::<Shown>()
        .setup(move |shown: &Shown| {
            // The channel outlives the engine.
            let _ = told.send((shown.frames, shown.height));
        });
    screen.add(asks)?;
    let (frames, height) = hears.recv()?;
    assert_eq!(frames, STEPS);
    println!("{frames} frames, the last at {height:.4}");
    print!("{}", engine.report());
    engine.terminate();
    engine.join()?;
    Ok(())
}
