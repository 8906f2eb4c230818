//! A sink that consumes from the queue that it is draining.

use filch_event_queue::Receiver;

pub fn case(receiver: &mut Receiver<u32>) -> usize {
    receiver.drain(|event| { //~ E0500 closure requires unique access //~ E0501 cannot borrow
        let _ = event;
        #[cfg(misuse)]
        let _ = receiver.pop();
    })
}
