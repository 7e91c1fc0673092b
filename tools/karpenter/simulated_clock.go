package main

import (
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// epoch is the simulated time at which a drill begins. Karpenter never compares it with the time of this machine.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// simulatedClock is Karpenter's clock in a drill: it stands still until the drill moves it.
type simulatedClock struct {
	*clocktesting.FakeClock
	// waits gets whoever waits for a time: the validation of a consolidation does, 15 s (disruption/validation.go).
	waits chan waiter
}

// waiter goes on when it is released.
type waiter struct {
	until   time.Time
	release chan time.Time
}

func newSimulatedClock() *simulatedClock {
	return &simulatedClock{clocktesting.NewFakeClock(epoch), make(chan waiter, 100)}
}

func (c *simulatedClock) move(seconds float64) {
	c.SetTime(epoch.Add(time.Duration(seconds * float64(time.Second))))
}

// seconds returns a time as the drill counts it.
func seconds(at time.Time) float64 {
	return at.Sub(epoch).Seconds()
}

// Sleep does nothing: controllers sleep so that a cache of theirs sees their own writes, and here there is none.
func (c *simulatedClock) Sleep(time.Duration) {}

func (c *simulatedClock) After(wait time.Duration) <-chan time.Time {
	waiting := waiter{c.Now().Add(wait), make(chan time.Time, 1)}
	c.waits <- waiting
	return waiting.release
}
