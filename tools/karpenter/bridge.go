package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// step is what has happened in a drill by a time.
type step struct {
	// Now is the drill's time in seconds.
	Now float64 `json:"now"`
	// Set are objects that are new or changed.
	Set  []json.RawMessage `json:"set"`
	Gone []key             `json:"gone"`
	// Lost are the provider ids of machines that Azure took away.
	Lost   []string  `json:"lost"`
	Failed []failure `json:"failed"`
}

// call is a request to the drill in the middle of a step.
type call struct {
	Call         string `json:"call"`
	Name         string `json:"name"`
	Namespace    string `json:"namespace,omitempty"`
	Grace        *int64 `json:"grace,omitempty"`
	Pool         string `json:"pool,omitempty"`
	Size         string `json:"size,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
}

// answer is the drill's to a call.
type answer struct {
	Done       bool   `json:"done"`
	ProviderID string `json:"providerID"`
	// Code and Message are those of a machine that Azure refuses.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// reply ends a step.
type reply struct {
	// Wake is the time at which Karpenter wants to go on if nothing happens before.
	Wake float64 `json:"wake"`
	// Taints are Karpenter's on each node that has some.
	Taints map[string][]corev1.Taint `json:"taints"`
	// Notes say what Karpenter decided.
	Notes []string `json:"notes"`
}

// bridge speaks with the drill, a line of JSON at a time.
type bridge struct {
	mu         sync.Mutex
	in         *json.Decoder
	out        *json.Encoder
	isApplying bool
}

func newBridge() *bridge {
	out := os.Stdout
	// Karpenter logs to stdout.
	os.Stdout = os.Stderr
	return &bridge{in: json.NewDecoder(os.Stdin), out: json.NewEncoder(out)}
}

// next returns the next step; io.EOF when the drill has ended.
func (b *bridge) next() (step, error) {
	var read step
	err := b.in.Decode(&read)
	return read, err
}

func (b *bridge) ask(asked call) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	var read answer
	exitOn(b.out.Encode(asked))
	if err := b.in.Decode(&read); err != nil {
		if err == io.EOF {
			os.Exit(0)
		}
		exitOn(fmt.Errorf("no answer to %s %s: %w", asked.Call, asked.Name, err))
	}
	return read
}

func (b *bridge) end(ended reply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	exitOn(b.out.Encode(ended))
}
