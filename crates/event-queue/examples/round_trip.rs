//! Two threads play ping-pong: each has a mailbox, and sleeps when the mailbox is empty.
//!
//! The queue wakes nobody, so a message is two steps: push the event, then leave the receiver's
//! parker a token. The order matters. A thread that takes the token sees the event; the other way
//! round it could take the token, find the mailbox empty, and sleep beside the event.
//!
//! Run it with `cargo run -p filch-event-queue --example round_trip`.

use std::thread;

use filch_event_queue::{Receiver, Sender, channel};
use filch_parker::{Parker, Unparker};

const ROUNDS: u32 = 10_000;

/// What the players send each other.
enum Event {
    /// The ball, with the number of hits so far.
    Ball(u32),
    GameOver,
}

/// Where one player sends to the other.
struct Address {
    mailbox: Sender<Event>,
    unparker: Unparker,
}

impl Address {
    fn send(&self, event: Event) {
        // The other player may have left after the game; then there is nobody to wake.
        if self.mailbox.push(event).is_ok() {
            let _was_asleep = self.unparker.unpark();
        }
    }
}

/// One player's end: its mailbox, and what it sleeps on.
struct Player {
    mailbox: Receiver<Event>,
    parker: Parker,
}

impl Player {
    fn new() -> (Self, Address) {
        let (sender, mailbox) = channel();
        let parker = Parker::new();
        let address = Address {
            mailbox: sender,
            unparker: parker.unparker(),
        };
        (Self { mailbox, parker }, address)
    }

    /// Hits the ball back until the game is over; returns how many balls came.
    fn play(mut self, opponent: &Address) -> u32 {
        let mut balls = 0;
        loop {
            let mut is_over = false;
            // Everything that has arrived, in one pass. An event that a sink sends to this very
            // mailbox would wait for the next one.
            self.mailbox.drain(|event| match event {
                Event::Ball(hits) => {
                    balls += 1;
                    if hits < ROUNDS {
                        opponent.send(Event::Ball(hits + 1));
                    } else {
                        opponent.send(Event::GameOver);
                        is_over = true;
                    }
                }
                Event::GameOver => is_over = true,
            });
            if is_over {
                return balls;
            }
            // A token that was left since the drain began makes this return at once.
            self.parker.park();
        }
    }
}

fn main() {
    let (ping, ping_address) = Player::new();
    let (pong, pong_address) = Player::new();
    // The first ball comes from outside.
    ping_address.send(Event::Ball(1));
    let other = thread::spawn(move || pong.play(&ping_address));
    let balls_of_ping = ping.play(&pong_address);
    let balls_of_pong = other.join().expect("pong does not panic");
    println!("ping had {balls_of_ping} balls, pong {balls_of_pong}");
    assert_eq!((balls_of_ping, balls_of_pong), (ROUNDS / 2, ROUNDS / 2));
}
