//! Two threads that wait for one token.

use filch_parker::Parker;

pub fn case(parker: &Parker) {
    std::thread::scope(|scope| {
        let parker = parker;
        #[cfg(misuse)]
        scope.spawn(|| parker.park()); //~ E0277 cannot be shared between threads safely
        #[cfg(not(misuse))]
        scope.spawn({
            let unparker = parker.unparker();
            move || unparker.unpark()
        });
    });
}
