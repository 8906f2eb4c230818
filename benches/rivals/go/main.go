// The Go side of the comparisons: the same scenarios, with goroutines and channels.
//
// It reads one line per round from its standard input, a scenario's name and its numbers, and
// answers with the nanoseconds that the round took, or the bytes. Between rounds it waits for the
// next line, so that the others have the machine to themselves.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Spawn starts waves of goroutines that add their numbers to a total, and waits for each wave.
func spawn(waves, wave uint64) {
	for range waves {
		var all sync.WaitGroup
		var total atomic.Uint64
		all.Add(int(wave))
		for number := uint64(1); number <= wave; number++ {
			go func() {
				total.Add(number)
				all.Done()
			}()
		}
		all.Wait()
		if total.Load() != wave*(wave+1)/2 {
			panic("goroutines went missing")
		}
	}
}

// Tree grows trees of goroutines: each starts two of one less depth, those of depth 0 are counted.
func tree(trees, depth uint64) {
	for range trees {
		var leaves sync.WaitGroup
		leaves.Add(1 << depth)
		var grow func(depth uint64)
		grow = func(depth uint64) {
			if depth == 0 {
				leaves.Done()
				return
			}
			go grow(depth - 1)
			go grow(depth - 1)
		}
		go grow(depth)
		leaves.Wait()
	}
}

// Skynet grows a tree of goroutines, ten to a knot: each leaf has a number, each knot the sum of
// the numbers below it.
func skynet(leaves uint64) {
	var grow func(sums chan<- uint64, first, leaves uint64)
	grow = func(sums chan<- uint64, first, leaves uint64) {
		if leaves == 1 {
			sums <- first
			return
		}
		children := make(chan uint64, 10)
		leaves /= 10
		for child := range uint64(10) {
			go grow(children, first+child*leaves, leaves)
		}
		var sum uint64
		for range 10 {
			sum += <-children
		}
		sums <- sum
	}
	root := make(chan uint64, 1)
	go grow(root, 0, leaves)
	if <-root != leaves*(leaves-1)/2 {
		panic("leaves went missing")
	}
}

// Ring sends one number round a ring of goroutines, which is how many hops are left.
func ring(hops, size uint64) {
	done := make(chan struct{})
	entry := make(chan uint64, 1)
	next := entry
	for range size - 1 {
		own := make(chan uint64, 1)
		go pass(own, next, done)
		next = own
	}
	go pass(entry, next, done)
	entry <- hops
	<-done
	close(entry)
}

func pass(own <-chan uint64, next chan<- uint64, done chan<- struct{}) {
	for left := range own {
		if left == 0 {
			done <- struct{}{}
		} else {
			next <- left - 1
		}
	}
	// The end of the ring goes round as well; the entry is closed already.
	defer func() { _ = recover() }()
	close(next)
}

// FanIn has many senders, each with as many numbers, and one receiver behind a buffered channel.
func fanIn(bursts, senders, each uint64) {
	for range bursts {
		sink := make(chan uint64, 1024)
		for range senders {
			go func() {
				for number := uint64(1); number <= each; number++ {
					sink <- number
				}
			}()
		}
		var sum uint64
		for range senders * each {
			sum += <-sink
		}
		if sum != senders*(each*(each+1)/2) {
			panic("messages went missing")
		}
	}
}

// Idle has the memory of goroutines: each has its channel, has had a message through it, and waits
// for the next one.
func idle(goroutines uint64) uint64 {
	before := inUse()
	mailboxes := make([]chan uint64, goroutines)
	var all sync.WaitGroup
	all.Add(int(goroutines))
	for number := range mailboxes {
		mailbox := make(chan uint64, 1)
		mailboxes[number] = mailbox
		go func() {
			for range mailbox {
				all.Done()
			}
		}()
		mailbox <- 1
	}
	all.Wait()
	// The list of them is where they are addressed: it is not counted.
	bytes := inUse() - before - goroutines*8
	for _, mailbox := range mailboxes {
		close(mailbox)
	}
	return bytes
}

// InUse is the memory of live objects and stacks; goroutines' descriptors are objects of the
// runtime.
func inUse() uint64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc + memory.StackInuse + memory.OtherSys
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var scenario string
		var a, b, c uint64
		// What a scenario does not need is not there.
		_, _ = fmt.Sscan(lines.Text(), &scenario, &a, &b, &c)
		if scenario == "idle" {
			fmt.Println(idle(a))
			continue
		}
		start := time.Now()
		switch scenario {
		case "spawn":
			spawn(a, b)
		case "tree":
			tree(a, b)
		case "ring":
			ring(a, b)
		case "skynet":
			skynet(a)
		case "fan-in":
			fanIn(a, b, c)
		default:
			panic("no such scenario: " + scenario)
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
}
