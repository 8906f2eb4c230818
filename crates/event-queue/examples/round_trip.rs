//! Two threads play ping-pong: each has a mailbox, and sleeps while it is empty.
//!
//! Run it with `cargo run -p filch-event-queue --example round_trip`.

use std::thread;

use filch_event_queue::{Receiver, Sender, channel};

const ROUNDS: u32 = 10_000;

/// The ball, with the number of hits so far.
struct Ball(u32);

/// Hits the ball back until the game is over; returns how many balls came.
fn play(mut mailbox: Receiver<Ball>, opponent: Sender<Ball>) -> u32 {
    let mut balls = 0;
    // The game ends when the opponent has left, who is the last sender.
    while let Some(Ball(hits)) = mailbox.recv() {
        balls += 1;
        if hits == ROUNDS || opponent.push(Ball(hits + 1)).is_err() {
            break;
        }
    }
    balls
}

fn main() {
    let (to_ping, ping) = channel();
    let (to_pong, pong) = channel();
    // The first ball comes from outside.
    to_ping.push(Ball(1)).expect("ping has not left");
    let other = thread::spawn(move || play(pong, to_ping));
    let balls_of_ping = play(ping, to_pong);
    let balls_of_pong = other.join().expect("pong does not panic");
    println!("ping had {balls_of_ping} balls, pong {balls_of_pong}");
    assert_eq!((balls_of_ping, balls_of_pong), (ROUNDS / 2, ROUNDS / 2));
}
