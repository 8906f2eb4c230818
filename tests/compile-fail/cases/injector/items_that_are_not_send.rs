//! Items that may not leave their thread.

use std::rc::Rc;

use filch_injector::Injector;

pub fn case() {
    #[cfg(misuse)]
    let _ = Injector::<Rc<u32>>::new(); //~ E0599 its trait bounds were not satisfied
    let _ = Injector::<u32>::new();
    let _ = Rc::new(1);
}
