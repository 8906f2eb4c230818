//! Counts idle and searching processors, and picks the one to wake: no runnable task beside an idle
//! processor, and no storm of wake-ups. The argument, with both cases of each race, is in
//! [`architecture`](crate::architecture).

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// The processors that are idle, as a lock-free stack, and the number of those that search, in one
/// word: so that "none searches, therefore wake this one" is a single decision.
///
/// Word: `tag:32 | searching:16 | top:16`, where `top` is a processor's number plus one, or zero.
#[derive(Debug)]
pub struct Idle {
    word: CachePadded<AtomicU64>,
    /// For each processor on the stack: `count:16 | below:16`, where `count` is how many there are
    /// from it to the bottom, itself included, and `below` the one below it, in the form of `top`.
    below: Box<[AtomicU32]>,
}

/// The word at a moment at which none searched, and how many processors were idle.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    word: u64,
    /// The number of processors on the stack, if [`Idle::is_unchanged`] confirms it.
    pub idle: usize,
}

/// The word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    /// Raised whenever the stack changes: a pop that read an old `below` must not succeed. It wraps
    /// after 2³² changes, all of which would have to happen within one pop: minutes at full speed,
    /// for one exact value.
    tag: u32,
    /// Processors that look for work, those included that were woken for it and have not begun yet.
    searching: u16,
    top: u16,
}

impl Word {
    const fn pack(self) -> u64 {
        (self.tag as u64) << 32 | (self.searching as u64) << 16 | self.top as u64
    }

    const fn unpack(word: u64) -> Self {
        Self {
            tag: (word >> 32) as u32,
            searching: (word >> 16) as u16,
            top: word as u16,
        }
    }
}

impl Idle {
    /// The largest number of processors that the word can name.
    pub const MAX_PROCESSORS: usize = u16::MAX as usize - 1;

    /// Makes the state of `processors` that all run: none idle, none searching. There are [so
    /// many](Self::MAX_PROCESSORS) at most, as the pool's configuration sees to.
    pub fn new(processors: usize) -> Self {
        debug_assert!(processors <= Self::MAX_PROCESSORS);
        Self {
            word: CachePadded::new(AtomicU64::new(0)),
            below: (0..processors).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Pops the processor that the caller must wake, if work that was published needs one; it
    /// counts as searching. Lock-free.
    ///
    /// When there is one, and none searches, `covered` is asked, after the fence, whether a machine
    /// has promised to look for the work.
    #[inline]
    pub fn processor_to_wake(&self, covered: impl FnOnce() -> bool) -> Option<usize> {
        // ORDERING: the fence's partner is the one in `go_idle`. Either the load sees the processor
        // that went idle, or that processor's second look at the queues sees the work published
        // before this fence.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed: the fence decides. A thread that goes idle, or ends a search or a
        // watch, writes that, passes a fence, and looks: if what this load or `covered` reads is
        // older, that look sees the work.
        let word = Word::unpack(self.word.load(Ordering::Relaxed));
        if word.top == 0 || word.searching != 0 || covered() {
            return None;
        }
        self.pop(|word| (word.searching == 0).then_some(1))
    }

    /// Takes the processor on top of the stack, to run on it: it counts as running. Lock-free.
    pub fn take(&self) -> Option<usize> {
        self.pop(|word| Some(word.searching))
    }

    /// Takes that processor for a thread that no other one expects: not after a
    /// [`close`](Self::close), which promises that the processors stay where they are. Lock-free.
    pub fn borrow(&self) -> Option<usize> {
        self.pop(|word| (word.searching != CLOSED).then_some(word.searching))
    }

    /// Takes the processor on top of the stack, if there is one and `searching` agrees, which gives
    /// the new count.
    #[inline(never)]
    fn pop(&self, searching: impl Fn(Word) -> Option<u16>) -> Option<usize> {
        // ORDERING: Acquire, partner of the Release in `go_idle`: the `below` of the processor on
        // top is the one of its last push, and all that its last machine did has happened.
        let mut word = Word::unpack(self.word.load(Ordering::Acquire));
        loop {
            if word.top == 0 {
                return None;
            }
            let processor = usize::from(word.top) - 1;
            // ORDERING: Relaxed: `word` was acquired, so this is the value of that push or of a
            // later one; if later, the tag has changed and the compare-exchange below fails.
            let below = self.below[processor].load(Ordering::Relaxed);
            let popped = Word {
                tag: word.tag.wrapping_add(1),
                searching: searching(word)?,
                top: below as u16,
            };
            // ORDERING: Relaxed on success: it changes the top and publishes nothing; the one that
            // is on top now was pushed earlier, and an RMW continues the release sequence of its
            // push. Acquire on failure: as for the load above.
            match self.word.compare_exchange_weak(
                word.pack(),
                popped.pack(),
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(processor),
                Err(now) => word = Word::unpack(now),
            }
        }
    }

    /// Lets a running processor that has nothing left search, and returns `true`, if at most half
    /// of all `processors` search then: more would only disturb each other. If not, it goes idle
    /// without a search.
    pub fn try_start_searching(&self, processors: usize) -> bool {
        // ORDERING: Relaxed: a mere count; the search synchronises with the queues by itself.
        let word = Word::unpack(self.word.load(Ordering::Relaxed));
        if 2 * usize::from(word.searching) >= processors {
            return false;
        }
        // Threads that read it at the same time may exceed the half, which does no harm.
        // ORDERING: Relaxed: as above.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
        true
    }

    /// Ends the search of a processor that found work. Returns whether it was the last one that
    /// searched: then it must pass a SeqCst fence and look for more, or call
    /// [`processor_to_wake`](Self::processor_to_wake), before it runs what it found, because
    /// producers that saw it searching relied on it.
    #[must_use]
    pub fn stop_searching(&self) -> bool {
        // ORDERING: Release, partner of the fence in `go_idle`: if another one still searches and
        // gives up after this, its second look sees what we moved into our own deque. If we are the
        // last one, the caller's fence follows (that of `Coordinator::stop_searching`, or of
        // `processor_to_wake`).
        Word::unpack(self.word.fetch_sub(SEARCHING, Ordering::Release)).searching == 1
    }

    /// Pushes a processor that found nothing. Afterwards its last machine must look at every queue
    /// once more; if there is work, it calls [`processor_to_wake`](Self::processor_to_wake) like a
    /// producer, which may well choose this one.
    pub fn go_idle(&self, processor: usize, searching: bool) {
        // ORDERING: Acquire, partner of the Release below, by others: the count of the one on top
        // is that of its last push. If it is of a later one, the tag has changed, and the
        // compare-exchange fails.
        let mut word = Word::unpack(self.word.load(Ordering::Acquire));
        loop {
            let below = (self.count(word) as u32 + 1) << 16 | u32::from(word.top);
            // ORDERING: Relaxed: published by the Release below. No other thread writes it while we
            // are off the stack.
            self.below[processor].store(below, Ordering::Relaxed);
            let idle = Word {
                tag: word.tag.wrapping_add(1),
                searching: word.searching - u16::from(searching),
                top: processor as u16 + 1,
            };
            // ORDERING: Release on success, partner of the Acquire in `pop`: a thread that pops us
            // reads our `below`; being an RMW, it also continues the release sequences of the
            // pushes beneath. Acquire on failure: as for the load above.
            match self.word.compare_exchange_weak(
                word.pack(),
                idle.pack(),
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => break,
                Err(now) => word = Word::unpack(now),
            }
        }
        // ORDERING: the fence's partner is the one in `processor_to_wake`: see there. After the
        // exchange it also acquires what `stop_searching` released.
        fence(Ordering::SeqCst);
    }

    /// Returns whether no processor was idle: for heuristics.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed: nothing follows from it.
        Word::unpack(self.word.load(Ordering::Relaxed)).top == 0
    }

    /// Returns how many processors are on the stack of `word`, which must have been acquired.
    fn count(&self, word: Word) -> usize {
        match usize::from(word.top).checked_sub(1) {
            None => 0,
            // ORDERING: Relaxed: see the callers, which all find out whether `word` still holds.
            Some(top) => (self.below[top].load(Ordering::Relaxed) >> 16) as usize,
        }
    }

    /// Returns what to compare with later, if none searches now.
    pub fn snapshot(&self) -> Option<Snapshot> {
        // ORDERING: Acquire, partner of the Release in `go_idle`: what the idle ones did before has
        // happened.
        let word = self.word.load(Ordering::Acquire);
        let unpacked = Word::unpack(word);
        (unpacked.searching == 0).then(|| Snapshot {
            word,
            idle: self.count(unpacked),
        })
    }

    /// Invalidates all snapshots: an inactive processor is going to run, though it was not popped.
    pub fn invalidate(&self) {
        // ORDERING: Release, partner of the Acquire in `snapshot`: a thread that sees the new word
        // sees that there is one processor more. One that has seen the old word, and then what the
        // new processor did, finds another word: see `is_unchanged`.
        self.word.fetch_add(TAG, Ordering::Release);
    }

    /// Returns whether no processor has become idle, been woken, begun to search or been activated
    /// since then.
    pub fn is_unchanged(&self, then: Snapshot) -> bool {
        // ORDERING: the Acquire fence keeps this load behind the loads that the caller made since
        // then: what they saw of a processor that had been woken, they saw after its pop, and that
        // pop is seen here.
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == then.word
    }

    /// Closes the stack if nothing has changed, and returns `true` then: until the caller calls
    /// [`open`](Self::open), no processor is woken or [borrowed](Self::borrow). A closed stack
    /// counts as very many that search, and producers rely on it.
    pub fn close(&self, then: Snapshot) -> bool {
        let closed = then.word + u64::from(CLOSED) * SEARCHING;
        // ORDERING: Release on success, partner of the Acquire in `pop`: what the caller has looked
        // at since then happened before every pop that comes after this, so it saw nothing that
        // followed such a pop; and a pop that came before has changed the word. (That loom cannot
        // show: an RMW of its does not come early. The kernel `close` shows it.) Relaxed on
        // failure: nothing follows from it.
        self.word
            .compare_exchange(then.word, closed, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Takes a [`close`](Self::close) back.
    pub fn open(&self) {
        // ORDERING: Relaxed: whatever the caller has done meanwhile it tells in other ways.
        self.word
            .fetch_sub(u64::from(CLOSED) * SEARCHING, Ordering::Relaxed);
    }

    /// Returns the idle processors and the number of searching ones, for people.
    pub fn list(&self) -> (Vec<usize>, usize) {
        // ORDERING: Relaxed: for people; the stack may change under the walk, which therefore has a
        // bound.
        let word = Word::unpack(self.word.load(Ordering::Relaxed));
        let mut idle = Vec::new();
        let mut top = usize::from(word.top);
        while top != 0 && idle.len() < self.below.len() {
            idle.push(top - 1);
            // ORDERING: Relaxed: as above.
            top = usize::from(self.below[top - 1].load(Ordering::Relaxed) as u16);
        }
        (idle, word.searching.into())
    }
}

/// One searching processor, as an addend of the word.
const SEARCHING: u64 = 1 << 16;

/// The count of searching processors while the stack is closed: none can search then, and there
/// are never so many.
const CLOSED: u16 = u16::MAX;

/// The next tag, as an addend of the word.
const TAG: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::{Idle, Word};

    /// Answers that no machine has promised to look.
    fn no_promise() -> bool {
        false
    }

    #[test]
    fn a_word_survives_packing() {
        for tag in [0, 1, u32::MAX] {
            for searching in [0, 1, u16::MAX] {
                for top in [0, 1, u16::MAX] {
                    let word = Word {
                        tag,
                        searching,
                        top,
                    };
                    assert_eq!(Word::unpack(word.pack()), word);
                }
            }
        }
    }

    #[test]
    fn b2_the_last_to_go_idle_is_woken_first_and_one_at_a_time() {
        let idle = Idle::new(4);
        assert_eq!(idle.processor_to_wake(no_promise), None, "all are running");
        idle.go_idle(2, false);
        idle.go_idle(0, false);
        assert_eq!(idle.list(), (vec![0, 2], 0));
        assert_eq!(idle.processor_to_wake(no_promise), Some(0));
        assert_eq!(
            idle.processor_to_wake(no_promise),
            None,
            "one is searching already"
        );
        assert!(idle.stop_searching(), "it was the only one");
        assert_eq!(idle.processor_to_wake(no_promise), Some(2));
        assert!(idle.snapshot().is_none(), "it searches");
        idle.go_idle(2, true);
        assert_eq!(idle.list(), (vec![2], 0));
    }

    #[test]
    fn one_that_is_taken_does_not_search() {
        let idle = Idle::new(3);
        assert_eq!(idle.take(), None);
        assert!(idle.is_empty());
        (0..3).for_each(|processor| idle.go_idle(processor, false));
        assert!(!idle.is_empty());
        let snapshot = idle.snapshot().unwrap();
        assert_eq!(snapshot.idle, 3);
        assert!(idle.is_unchanged(snapshot));
        assert_eq!(idle.take(), Some(2));
        assert_eq!(idle.processor_to_wake(no_promise), Some(1), "none searched");
        assert_eq!(idle.take(), Some(0), "also while one searches");
        idle.go_idle(2, false);
        assert!(idle.stop_searching());
        assert_eq!(idle.snapshot().unwrap().idle, 1);
        assert!(!idle.is_unchanged(snapshot));
    }

    #[test]
    fn none_is_woken_when_it_is_closed() {
        let idle = Idle::new(2);
        idle.go_idle(0, false);
        let early = idle.snapshot().unwrap();
        idle.go_idle(1, false);
        assert!(!idle.close(early), "another one has gone idle since");
        let snapshot = idle.snapshot().unwrap();
        assert!(idle.close(snapshot));
        assert!(!idle.close(snapshot), "once");
        assert_eq!(idle.borrow(), None, "it would not be noticed");
        assert_eq!(idle.processor_to_wake(no_promise), None);
        assert_eq!((idle.take(), idle.take()), (Some(1), Some(0)));
        idle.open();
    }

    #[test]
    fn b5_at_most_half_search() {
        let idle = Idle::new(4);
        assert!(idle.try_start_searching(4));
        assert!(idle.try_start_searching(4));
        assert!(!idle.try_start_searching(4));
        assert!(!idle.stop_searching(), "another one still searches");
        assert!(idle.stop_searching());
    }
}
