package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// machines are three servers and a gateway as processes of this machine, told by
// `divisi-gateway demo --stay` what to do.
type machines struct {
	address, token, socket string

	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// start starts all of them, with a socket of KMS v2 if a path is given.
func start(program, socket string) (*machines, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	drawn := make([]byte, 16)
	if _, err := rand.Read(drawn); err != nil {
		return nil, err
	}
	m := &machines{token: "s." + hex.EncodeToString(drawn), socket: socket}
	arguments := []string{"demo", "--stay", "--listen", address, "--token", m.token}
	arguments = append(arguments, "--mount", "transit", "--mount", "t2")
	if socket != "" {
		arguments = append(arguments, "--kms", socket)
	}
	m.process = exec.Command(program, arguments...)
	m.process.Stderr = os.Stderr
	if m.in, err = m.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewReader(out)
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	line, err := m.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s demo --stay did not start (%w)", program, err)
	}
	var said struct{ Address string }
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, err
	}
	m.address = said.Address
	return m, nil
}

// tell says `stop N`, `start N`, `stop gateway` or `start gateway`: the answer comes when it is done.
func (m *machines) tell(command string) error {
	if _, err := io.WriteString(m.in, command+"\n"); err != nil {
		return err
	}
	answer, err := m.out.ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "ok" {
		return fmt.Errorf("demo --stay answered %q to %q (%v)", answer, command, err)
	}
	return nil
}

// end ends all processes, by the end of the input of the one that started them.
func (m *machines) end() error {
	if err := m.in.Close(); err != nil {
		return err
	}
	return m.process.Wait()
}
