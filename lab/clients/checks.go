package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/vault/api"
)

// checks count what was compared with one library, and say what differs.
type checks struct {
	name string

	lock         sync.Mutex
	done, differ int
}

// that notes whether something holds, and says what came in its place if it does not.
func (c *checks) that(what string, holds bool, got any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.done++
	if !holds {
		c.differ++
		// in one line, whatever an error's text has
		shown := strings.Join(strings.Fields(fmt.Sprint(got)), " ")
		fmt.Printf("%s: %s: got %s\n", c.name, what, shown)
	}
}

// same compares bytes that a call returned.
func (c *checks) same(what string, expected, got []byte, err error) {
	if err != nil {
		c.that(what, false, err)
		return
	}
	c.that(what, bytes.Equal(expected, got), fmt.Sprintf("%d bytes %.20x", len(got), got))
}

// status expects an answer that HashiCorp's client takes for an error, with this status.
func (c *checks) status(what string, status int, err error) {
	var answer *api.ResponseError
	c.that(what, errors.As(err, &answer) && answer.StatusCode == status, err)
}

// says expects an error with these words.
func (c *checks) says(what, words string, err error) {
	c.that(what, err != nil && strings.Contains(err.Error(), words), err)
}
