//! Events that may not leave their thread.

use std::rc::Rc;

pub fn case() {
    #[cfg(misuse)]
    let _ = filch_event_queue::channel::<Rc<u32>>(); //~ E0277 `Rc<u32>` cannot be sent between threads safely
    let _ = filch_event_queue::channel::<u32>();
    let _ = Rc::new(1);
}
