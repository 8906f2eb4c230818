// The Go original of the process scheduler, wippyai/runtime's system/scheduler/actor: its own
// benchmark ExecuteSync, on request.
//
// It reads one line per round from its standard input, "execute", workers, executions, and answers
// with the nanoseconds that the round took. A scheduler is made for the first round of its workers.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/wippyai/runtime/api/dispatcher"
	"github.com/wippyai/runtime/api/payload"
	"github.com/wippyai/runtime/api/pid"
	"github.com/wippyai/runtime/api/process"
	"github.com/wippyai/runtime/api/relay"
	"github.com/wippyai/runtime/api/runtime"
	"github.com/wippyai/runtime/system/scheduler"
	"github.com/wippyai/runtime/system/scheduler/actor"
)

type command struct{}

func (command) CmdID() dispatcher.CommandID { return 1 }

// A process that yields one command, and is done.
type yielding struct{ yielded bool }

func (p *yielding) Init(context.Context, string, payload.Payloads) error { return nil }
func (p *yielding) Send(*relay.Package) error                            { return nil }
func (p *yielding) Close()                                               {}

func (p *yielding) Step(_ []process.Event, out *process.StepOutput) error {
	if p.yielded {
		out.Done(nil)
		return nil
	}
	p.yielded = true
	out.Yield(command{}, 0)
	out.Continue()
	return nil
}

// Complete completes the command in a goroutine of its own.
func complete(_ context.Context, _ dispatcher.Command, tag uint64, to dispatcher.ResultReceiver) error {
	go to.CompleteYield(tag, nil, nil)
	return nil
}

// Executor waits for processes as the original's benchmarks do, by the hook at their end.
type executor struct {
	*actor.Scheduler
	mutex   sync.Mutex
	pending map[string]chan *runtime.Result
	started uint64
}

func newExecutor(workers int) *executor {
	registry := scheduler.NewRegistry()
	registry.Register(1, dispatcher.HandlerFunc(complete))
	e := &executor{pending: make(map[string]chan *runtime.Result)}
	e.Scheduler = actor.NewScheduler(registry, actor.WithWorkers(workers), actor.WithLifecycle(e))
	e.Start()
	return e
}

func (e *executor) OnStart(context.Context, pid.PID, process.Process) error { return nil }

func (e *executor) OnComplete(_ context.Context, p pid.PID, result *runtime.Result) {
	e.mutex.Lock()
	waiting := e.pending[p.UniqID]
	delete(e.pending, p.UniqID)
	e.mutex.Unlock()
	waiting <- result
}

func (e *executor) execute() {
	e.started++
	p := pid.PID{UniqID: fmt.Sprintf("p%d", e.started)}
	result := make(chan *runtime.Result, 1)
	e.mutex.Lock()
	e.pending[p.UniqID] = result
	e.mutex.Unlock()
	if _, err := e.Submit(context.Background(), p, &yielding{}, "", nil); err != nil {
		panic(err)
	}
	if r := <-result; r.Error != nil {
		panic(r.Error)
	}
}

func main() {
	executors := make(map[int]*executor)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var scenario string
		var workers int
		var executions uint64
		if _, err := fmt.Sscan(lines.Text(), &scenario, &workers, &executions); err != nil || scenario != "execute" {
			panic("no such scenario: " + lines.Text())
		}
		e := executors[workers]
		if e == nil {
			e = newExecutor(workers)
			executors[workers] = e
		}
		start := time.Now()
		for range executions {
			e.execute()
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
}
