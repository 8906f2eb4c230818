//! Two processes that send one message to and fro: the cost of a message between processes.
//!
//! `cargo run --release -p filch-scheduler --example ping_pong [ROUNDS]`

use std::time::Instant;

use filch_scheduler::{
    Context, Event, Events, InitError, Pid, Process, Protocol, Scheduler, StepOutput,
};

/// The protocol of the two players.
enum Game {}

impl Protocol for Game {
    /// The partner, if the process begins, and the number of messages that each one sends.
    type Input = (Option<Pid>, u64);
    /// The sender, so that its partner can answer.
    type Message = Pid;
    type Command = ();
    type Reply = ();
    /// The number of messages that the process got.
    type Output = u64;
    type Error = String;
}

#[derive(Default)]
struct Player {
    rounds: u64,
    sent: u64,
    received: u64,
}

impl Player {
    /// Sends one message, if one is left.
    fn send(&mut self, context: &Context<'_, Game>, to: Pid) -> Result<(), String> {
        if self.sent == self.rounds {
            return Ok(());
        }
        self.sent += 1;
        let sent = context.send(to, context.pid());
        sent.map_err(|error| error.to_string())
    }
}

impl Process<Game> for Player {
    fn init(
        &mut self,
        context: &Context<'_, Game>,
        _: &str,
        (partner, rounds): (Option<Pid>, u64),
    ) -> Result<(), InitError<Game>> {
        self.rounds = rounds;
        if let Some(partner) = partner {
            self.send(context, partner).map_err(InitError::Failed)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Game>,
        events: Events<'_, Game>,
        out: &mut StepOutput<Game>,
    ) -> Result<(), String> {
        for event in events {
            if let Event::Message(sender) = event {
                self.received += 1;
                self.send(context, sender)?;
                if self.received == self.rounds {
                    out.done(self.received);
                }
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(100_000), |rounds| rounds.parse())?;
    let scheduler = Scheduler::<Game>::builder().workers(1).build()?;

    let begun = Instant::now();
    let pong = scheduler.submit(Player::default(), "play", (None, rounds))?;
    let ping = scheduler.submit(Player::default(), "play", (Some(pong.pid()), rounds))?;
    let received = (ping.join()?, pong.join()?);
    let elapsed = begun.elapsed();

    assert_eq!(received, (rounds, rounds));
    println!(
        "{} messages, {:.0} ns each",
        2 * rounds,
        elapsed.as_nanos() as f64 / (2 * rounds) as f64
    );
    Ok(())
}
