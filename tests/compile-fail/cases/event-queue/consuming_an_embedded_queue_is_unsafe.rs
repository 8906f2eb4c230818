//! An embedded queue cannot check its consumer, so a caller that consumes vouches for being it.

use filch_event_queue::EventQueue;

pub fn case(queue: &EventQueue<u32>) {
    #[cfg(misuse)]
    let _ = queue.pop(); //~ E0133 call to unsafe function `EventQueue::<T>::pop` is unsafe
    #[cfg(misuse)]
    let _ = queue.drain(drop); //~ E0133 call to unsafe function `EventQueue::<T>::drain` is unsafe
    #[cfg(misuse)]
    let _ = queue.shrink(); //~ E0133 call to unsafe function `EventQueue::<T>::shrink` is unsafe
    #[cfg(misuse)]
    queue.reopen(); //~ E0133 call to unsafe function `EventQueue::<T>::reopen` is unsafe
    // SAFETY: the case is compiled, and never run.
    let _ = unsafe { queue.pop() };
}
