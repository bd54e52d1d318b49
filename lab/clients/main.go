// Programs of others, by their own libraries, against three servers and a gateway:
//
//	divisi-clients [-kms=false] PROGRAM
//
// Each library encrypts and decrypts, shows a wrong token, is without one of the servers, and has what it
// encrypted back when that server returns. A difference is a line of output and exit code 1.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A client is a library with what is tried of it.
type client interface {
	// works tries all that is wanted of it, and keeps a ciphertext.
	works(*checks)
	// stranger tries it with a wrong token.
	stranger(*checks)
	// alone tries it while a server is stopped.
	alone(*checks)
	// again decrypts what `works` has kept.
	again(*checks)
}

// A trial is a library with what was found.
type trial struct {
	client
	checks checks
}

// The longest run: what hangs fails.
const limit = 150 * time.Second

const wrongToken = "s.wrong"

// every byte, so that no coding on the way goes unnoticed
func text() []byte {
	text := make([]byte, 256)
	for i := range text {
		text[i] = byte(i)
	}
	return text
}

// together calls all at a time, since a client without a server tries again for seconds.
func together(all ...func()) {
	var group sync.WaitGroup
	for _, one := range all {
		group.Go(one)
	}
	group.Wait()
}

func main() {
	withKms := flag.Bool("kms", true, "whether the gateway serves KMS v2")
	flag.Parse()
	differ, err := run(flag.Arg(0), *withKms)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if differ > 0 {
		os.Exit(1)
	}
}

func run(program string, withKms bool) (int, error) {
	folder, err := os.MkdirTemp("", "divisi-clients-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	socket := ""
	if withKms {
		socket = filepath.Join(folder, "kms.sock")
	} else {
		fmt.Println("KMS v2 of kube-apiserver: skipped, as -kms=false says")
	}
	m, err := start(program, socket)
	if err != nil {
		return 0, err
	}
	watch := time.AfterFunc(limit, func() {
		fmt.Printf("not done after %v\n", limit)
		// its children end with it
		m.process.Process.Kill()
		os.Exit(1)
	})
	defer watch.Stop()
	tried := []*trial{
		{client: &sops{machines: m}, checks: checks{name: "sops"}},
		{client: &tink{machines: m}, checks: checks{name: "tink"}},
		{client: &seal{machines: m}, checks: checks{name: "transit wrapper"}},
	}
	if withKms {
		kube := &kube{machines: m, folder: folder}
		tried = append(tried, &trial{client: kube, checks: checks{name: "kube-apiserver"}})
	}
	each := func(what func(client, *checks)) {
		var all []func()
		for _, one := range tried {
			all = append(all, func() {
				// what an earlier step did not get is missing in a later one
				defer func() {
					if why := recover(); why != nil {
						one.checks.that("goes on", false, why)
					}
				}()
				what(one.client, &one.checks)
			})
		}
		together(all...)
	}
	steps := []func(client, *checks){client.works, client.stranger, client.alone, client.again}
	before := []string{"", "", "stop 3", "start 3"}
	for i, step := range steps {
		if before[i] != "" {
			if err := m.tell(before[i]); err != nil {
				return 0, err
			}
		}
		each(step)
	}
	// a gateway has no state: what it encrypted is there for the next one
	for _, command := range []string{"stop gateway", "start gateway"} {
		if err := m.tell(command); err != nil {
			return 0, err
		}
	}
	each(client.again)
	if err := m.end(); err != nil {
		return 0, err
	}
	differ := 0
	for _, one := range tried {
		fmt.Printf("%s: %d checks, %d differ\n", one.checks.name, one.checks.done, one.checks.differ)
		differ += one.checks.differ
	}
	return differ, nil
}
