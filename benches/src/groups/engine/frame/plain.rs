//! A loop that calls each system.

use std::rc::Rc;

use crate::groups::engine::systems::{Own, SYSTEMS, Settings, Visitor, one, two, visit};

type System = Box<dyn FnMut()>;

pub(super) fn frame() -> impl FnMut() {
    let mut systems = Systems {
        settings: Rc::new(Settings::new()),
        list: Vec::with_capacity(SYSTEMS),
    };
    visit(&mut systems);
    move || systems.list.iter_mut().for_each(|system| system())
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
