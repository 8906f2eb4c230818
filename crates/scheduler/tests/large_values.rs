//! Values of 64 KiB on stacks of 1 MiB, where nothing is optimised. Each move from function to
//! function takes the value's size of stack: a failure is a stack overflow.

use std::marker::PhantomData;
use std::thread;

use filch_scheduler::{
    Builder, Completion, Context, Event, Events, Protocol, Scheduler, StepOutput, from_fn,
};

const STACK: usize = 1 << 20;

struct Large([u8; 64 << 10]);

/// In a box, as the stack of the test's own thread is none of the matter.
fn large() -> Box<Large> {
    Box::new(Large([7; 64 << 10]))
}

struct Carries<I, M, R>(PhantomData<fn(I, M, R)>);

impl<I: Send + 'static, M: Send + 'static, R: Send + 'static> Protocol for Carries<I, M, R> {
    type Input = I;
    type Message = M;
    type Command = ();
    type Reply = R;
    type Output = u8;
    type Error = String;
}

/// All calls are a small thread's, and no guest's.
fn builder<P: Protocol>() -> Builder<P> {
    let builder = Scheduler::builder().workers(1);
    builder.threads(|set| set.guests(false).stack_size(STACK))
}

fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let small = thread::Builder::new().stack_size(STACK);
        let worked = small.spawn_scoped(scope, work).unwrap();
        worked.join().unwrap()
    })
}

#[test]
fn a_message_of_64_kib() {
    type P = Carries<(), Large, ()>;
    let scheduler = builder::<P>().build().unwrap();
    let step = |_: &Context<'_, P>, events: Events<'_, P>, out: &mut StepOutput<P>| {
        for event in events {
            if let Event::Message(Large(bytes)) = event {
                out.done(bytes[9]);
            }
        }
        Ok(())
    };
    let process = scheduler.submit(from_fn(step), "run", ()).unwrap();
    let message = large();
    let sent = on_a_small_stack(|| scheduler.send(process.pid(), *message).is_ok());
    assert!(sent);
    let to = process.pid();
    assert_eq!(process.join().unwrap(), 7);
    // Refused, it comes back.
    let message = large();
    let byte = on_a_small_stack(|| scheduler.send(to, *message).unwrap_err().message.0[9]);
    assert_eq!(byte, 7);
}

#[test]
fn an_input_of_64_kib() {
    type P = Carries<Large, (), ()>;
    let scheduler = builder::<P>().build().unwrap();
    let step = |_: &Context<'_, P>, _: Events<'_, P>, out: &mut StepOutput<P>| {
        out.done(7);
        Ok(())
    };
    let input = large();
    let process = on_a_small_stack(|| scheduler.submit(from_fn(step), "run", *input).unwrap());
    assert_eq!(process.join().unwrap(), 7);
}

#[test]
fn a_reply_of_64_kib() {
    type P = Carries<(), (), Large>;
    let answer = |(), completion: Completion<P>| {
        let reply = large();
        let small = thread::Builder::new().stack_size(STACK);
        small.spawn(move || completion.complete(*reply)).unwrap();
    };
    let scheduler = builder::<P>().handler(answer).build().unwrap();
    let step = |_: &Context<'_, P>, events: Events<'_, P>, out: &mut StepOutput<P>| {
        if events.len() == 0 {
            out.yield_command(1, ());
            out.wait();
        }
        for event in events {
            if let Event::Completed {
                result: Ok(Large(bytes)),
                ..
            } = event
            {
                out.done(bytes[9]);
            }
        }
        Ok(())
    };
    let process = scheduler.submit(from_fn(step), "run", ()).unwrap();
    assert_eq!(process.join().unwrap(), 7);
}
