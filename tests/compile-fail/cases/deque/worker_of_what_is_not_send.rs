//! Items that may not leave their thread, moved with the owner's end.

use std::rc::Rc;

use filch_deque::Worker;

pub fn case() {
    #[cfg(misuse)]
    let worker = Worker::<Rc<u32>>::new();
    #[cfg(not(misuse))]
    let worker = Worker::<u32>::new();
    let _ = Rc::new(1);
    std::thread::spawn(move || drop(worker.pop())); //~ E0277 `Rc<u32>` cannot be sent
}
