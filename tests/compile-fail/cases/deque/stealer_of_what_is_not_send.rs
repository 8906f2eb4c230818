//! Items that may not leave their thread.

use std::rc::Rc;

use filch_deque::Worker;

pub fn case() {
    #[cfg(misuse)]
    let stealer = Worker::<Rc<u32>>::new().stealer();
    #[cfg(not(misuse))]
    let stealer = Worker::<u32>::new().stealer();
    let _ = Rc::new(1);
    std::thread::spawn(move || stealer.steal()); //~ E0277 `Rc<u32>` cannot be sent
}
