//! Boxed functions.

use std::rc::Rc;

use crate::systems::{Own, SYSTEMS, Settings, Visitor, one, two, visit};

/// A system with its data.
pub type System = Box<dyn FnMut()>;

/// All systems, in their order.
pub fn systems() -> Vec<System> {
    let mut systems = Systems {
        settings: Rc::new(Settings::default()),
        list: Vec::with_capacity(SYSTEMS),
    };
    visit(&mut systems);
    systems.list
}

struct Systems {
    settings: Rc<Settings>,
    list: Vec<System>,
}

impl Visitor for Systems {
    fn one<const N: usize>(&mut self) {
        let mut own = Box::new(Own::<N>::new());
        self.list.push(Box::new(move || one(&mut own)));
    }

    fn two<const N: usize>(&mut self) {
        let mut own = Box::new(Own::<N>::new());
        let settings = Rc::clone(&self.settings);
        self.list.push(Box::new(move || two(&mut own, &settings)));
    }
}
