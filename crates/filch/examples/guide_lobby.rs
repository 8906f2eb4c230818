//! A lobby of rooms: each room is a process below a supervisor, which is made when somebody enters,
//! and made anew when it crashes; its guests do not notice.

use std::error::Error;
use std::thread;
use std::time::Duration;

use filch::actors::timers::Timers;
use filch::actors::{Caller, Inbox};
use filch::prelude::*;
use filch::scheduler::{Event, Handle, Pid, Protocol, Scheduler};
use filch::supervisor::{Child, Strategy, Supervisor, SupervisorHandle};

// ANCHOR: protocol
enum Chat {}

enum Line {
    /// To a room: tell everybody.
    Say(String),
    /// To a guest.
    Heard(String),
    /// To a guest: how many lines have you heard?
    Count(Caller<usize>),
}

impl Protocol for Chat {
    type Input = ();
    type Message = Line;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}
// ANCHOR_END: protocol

// ANCHOR: room
/// Tells each line to all who are in the group of the room's name.
async fn room(mut inbox: Inbox<Chat>, name: String) {
    while let Event::Message(line) = inbox.next().await {
        if let Line::Say(text) = line {
            assert!(!text.contains('\0'), "a line that this room cannot print");
            inbox
                .handle()
                .broadcast(&name, |_guest| Line::Heard(text.clone()));
        }
    }
}
// ANCHOR_END: room

// ANCHOR: lobby
/// Rooms by name, each made when the first guest enters.
struct Lobby {
    scheduler: Handle<Chat>,
    rooms: SupervisorHandle<Chat>,
}

impl Lobby {
    /// Takes a guest into a room. The membership is the group's, and not the room's process: so it
    /// outlives a crash.
    fn enter(&self, guest: Pid, name: &str) -> Result<(), Box<dyn Error>> {
        if self.scheduler.whereis(name).is_none() {
            let title = name.to_owned();
            let child = Child::async_fn(name, move |inbox| room(inbox, title.clone()));
            // Refused if somebody else has just made it: then it is there.
            let _ = self.rooms.start_child(child).wait();
        }
        Ok(self.scheduler.join_group(name, guest)?)
    }

    /// Says a line in a room. While a room is made anew, nobody has its name for a moment.
    fn say(&self, name: &str, text: &str) -> Result<(), Box<dyn Error>> {
        let room = self.scheduler.whereis(name).ok_or("no such room")?;
        Ok(self.scheduler.send(room, Line::Say(text.to_owned()))?)
    }
}
// ANCHOR_END: lobby

// ANCHOR: guest
async fn guest(mut inbox: Inbox<Chat>) -> Vec<String> {
    let mut heard = Vec::new();
    loop {
        match inbox.next().await {
            Event::Message(Line::Heard(text)) => heard.push(text),
            Event::Message(Line::Count(caller)) => caller.answer(heard.len()),
            Event::Cancel(_) => break heard,
            _ => {}
        }
    }
}
// ANCHOR_END: guest

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: use
    let scheduler = Scheduler::<Chat>::builder().workers(2).build()?;
    let timers = Timers::new()?;
    let rooms = Supervisor::new(Strategy::OneForOne)
        .intensity(3, Duration::from_secs(60))
        .start(&scheduler, &timers)?
        .wait()?;
    let lobby = Lobby {
        scheduler: scheduler.handle(),
        rooms,
    };
    let guests = [scheduler.spawn_with(guest)?, scheduler.spawn_with(guest)?];
    let [ann, ben] = [guests[0].pid(), guests[1].pid()];
    for (guest, room) in [(ann, "tea"), (ben, "tea"), (ben, "chess")] {
        lobby.enter(guest, room)?;
    }
    lobby.say("tea", "hello")?;
    lobby.say("chess", "e4")?;
    // ANCHOR_END: use

    // ANCHOR: crash
    let before = scheduler.whereis("tea");
    lobby.say("tea", "\0")?; // the room's process panics, and no other one
    while scheduler
        .whereis("tea")
        .is_none_or(|room| Some(room) == before)
    {
        thread::yield_now();
    }
    lobby.say("tea", "still there?")?;
    for (guest, lines) in [(ann, 2), (ben, 3)] {
        while scheduler.call(guest, Line::Count)? < lines {
            thread::yield_now();
        }
    }
    // ANCHOR_END: crash
    scheduler.shutdown(Duration::from_secs(10))?;
    for guest in guests {
        let heard = guest.join()?;
        assert!(heard.contains(&"still there?".to_owned()));
    }
    Ok(())
}
