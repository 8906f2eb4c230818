//! Echoes on a port until Ctrl-C: `cargo run --bin echo -- 127.0.0.1:7000`.

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use filch_actors::dynamic::Dynamic;
use filch_actors::prelude::*;
use filch_scheduler::Scheduler;
use filch_web::echo::accept;
use futures_lite::future::block_on;

// ANCHOR: main
fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or("127.0.0.1:7000".to_owned());
    let (stop, stopped) = mpsc::channel();
    ctrlc::set_handler(move || stop.send(()).unwrap_or_default())?;

    let scheduler = Scheduler::<Dynamic>::builder().build()?;
    let listener = block_on(async_net::TcpListener::bind(&address))?;
    let server = scheduler.spawn_with(|inbox| accept(inbox, listener))?;

    stopped.recv()?;
    let report = scheduler.shutdown(Duration::from_secs(10))?;
    println!("{report}");
    server.join()??;
    Ok(())
}
// ANCHOR_END: main
