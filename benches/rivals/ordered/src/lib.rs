//! Operations of the primitives and of their rivals, each as a function of its own: `cargo xtask
//! ordered` compiles them for 64-bit Arm, and searches their code for instructions that order
//! memory.
//!
//! A module is a column of the table, a function a row. What is compared has the same name.

/// Makes a function of each operation, which is compiled for itself.
macro_rules! operations {
    ($($name:ident($($argument:ident: $of:ty),*) => $operation:expr;)*) => {$(
        /// The operation of that name.
        #[inline(never)]
        pub fn $name($($argument: $of),*) -> impl Sized {
            $operation
        }
    )*};
}

/// Operations of filch.
pub mod filch {
    use filch_data_cell::DataCell;
    use filch_deque::{Stealer, Worker};
    use filch_event_queue::{Receiver, Sender};
    use filch_injector::Injector;
    use filch_parker::{Parker, Unparker};
    use filch_process_state::{ProcessState, Reason};
    use filch_promise::{Resolver, TakeOnce};
    use filch_slab::{Occupancy, Slab};

    operations! {
        deque_push(deque: &Worker<u64>, item: u64) => deque.push(item);
        deque_pop(deque: &Worker<u64>) => deque.pop();
        deque_steal(deque: &Stealer<u64>) => deque.steal();
        deque_steal_half(deque: &Stealer<u64>, to: &Worker<u64>) => deque.steal_half_into(to, 64);
        injector_push(injector: &Injector<u64>, item: u64) => injector.push(item);
        injector_pop(injector: &Injector<u64>) => injector.pop();
        event_queue_push(queue: &Sender<u64>, event: u64) => queue.push(event);
        event_queue_pop(queue: &mut Receiver<u64>) => queue.pop();
        parker_park(parker: &Parker) => parker.park();
        parker_unpark(parker: &Unparker) => parker.unpark();
        process_state_wake(state: &ProcessState) => state.wake(Reason::Message);
        process_state_start(state: &ProcessState) => state.start();
        process_state_seize(state: &ProcessState) => state.seize();
        process_state_yield(state: &ProcessState) => state.yield_now();
        process_state_idle(state: &ProcessState) => state.idle();
        process_state_complete(state: &ProcessState) => state.complete();
        promise_resolve(promise: Resolver<u64>, value: u64) => promise.resolve(value);
        promise_take_once(side: TakeOnce<u64>) => side.take();
        slab_allocate(slab: &Slab<u64>) => slab.allocate();
        slab_release(slab: &Slab<u64>, slot: u32) => slab.release(slot);
        slab_get(slab: &Slab<u64>, slot: u32) => slab.get(slot).copied();
        slab_pin(slot: &Occupancy, generation: u32) => slot.pin(generation);
        slab_unpin(slot: &Occupancy) => slot.unpin();
        data_cell_read(cell: &DataCell<u64>) => cell.try_read(|value| *value);
        data_cell_write(cell: &DataCell<u64>) => cell.try_write(|value| *value += 1);
    }
}

/// Operations of crossbeam.
pub mod crossbeam {
    use crossbeam_deque::{Injector, Stealer, Worker};
    use crossbeam_queue::SegQueue;
    use crossbeam_utils::sync::{Parker, Unparker};

    operations! {
        deque_push(deque: &Worker<u64>, item: u64) => deque.push(item);
        deque_pop(deque: &Worker<u64>) => deque.pop();
        deque_steal(deque: &Stealer<u64>) => deque.steal();
        deque_steal_half(deque: &Stealer<u64>, to: &Worker<u64>) => deque.steal_batch_and_pop(to);
        injector_push(injector: &Injector<u64>, item: u64) => injector.push(item);
        injector_pop(injector: &Injector<u64>) => injector.steal();
        event_queue_push(queue: &SegQueue<u64>, event: u64) => queue.push(event);
        event_queue_pop(queue: &SegQueue<u64>) => queue.pop();
        parker_park(parker: &Parker) => parker.park();
        parker_unpark(parker: &Unparker) => parker.unpark();
    }
}

/// Operations of st3.
pub mod st3 {
    use st3::lifo::{Stealer, Worker};

    operations! {
        deque_push(deque: &Worker<u64>, item: u64) => deque.push(item);
        deque_pop(deque: &Worker<u64>) => deque.pop();
        deque_steal_half(deque: &Stealer<u64>, to: &Worker<u64>) => {
            deque.steal_and_pop(to, |items| items - items / 2)
        };
    }
}
