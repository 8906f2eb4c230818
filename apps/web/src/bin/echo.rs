//! Echoes on a port until Ctrl-C: `cargo run --bin echo -- 127.0.0.1:7000`.

// ANCHOR: main
use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use filch_actors::dynamic::Dynamic;
use filch_actors::timers::Timers;
use filch_scheduler::Scheduler;
use filch_web::{Server, echo::echo};
use futures_lite::future::block_on;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let address = address.unwrap_or("127.0.0.1:7000".to_owned());
    let (stop, stopped) = mpsc::channel();
    ctrlc::set_handler(move || stop.send(()).unwrap_or_default())?;

    let scheduler = Scheduler::<Dynamic>::builder().build()?;
    let timers = Timers::new()?;
    let socket = block_on(async_net::TcpListener::bind(&address))?;
    let server = Server::start(&scheduler, &timers, socket, echo)?;

    stopped.recv()?;
    server.stop()?; // the listener, then the connections
    println!("{}", scheduler.shutdown(Duration::from_secs(10))?); // then all else
    Ok(())
}
// ANCHOR_END: main
