package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	"k8s.io/kms/pkg/service"
)

// kube is kube-apiserver's own client of KMS v2, alone and as kube-apiserver sets it up by a file, with its
// health checks and its keys of data.
type kube struct {
	*machines
	folder string

	client service.Service
	id     string
	kept   *service.EncryptResponse
	health healthz.HealthChecker
	stored []byte
}

const (
	// The longest call, as in the file of encryption below.
	callTime = 10 * time.Second
	// kube-apiserver asks again this long after a check that failed.
	checkAgain = 3 * time.Second
	// A gateway knows by then that a server went or came.
	learns = 3 * time.Second
)

var place = value.DefaultContext("/registry/secrets/default/letter")

// setUp reads a file of encryption, as a kube-apiserver that starts.
func (k *kube) setUp(c *checks) (value.Transformer, healthz.HealthChecker) {
	path := filepath.Join(k.folder, "encryption.yaml")
	text := fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - kms: {apiVersion: v2, name: divisi, endpoint: "unix://%s", timeout: %v}
`, k.socket, callTime)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	config, err := encryptionconfig.LoadEncryptionConfig(context.Background(), path, false, "here")
	if err != nil || len(config.HealthChecks) != 1 {
		c.that("a file of encryption", false, err)
		return nil, nil
	}
	return config.Transformers[schema.GroupResource{Resource: "secrets"}], config.HealthChecks[0]
}

func check(health healthz.HealthChecker) error {
	request, err := http.NewRequest(http.MethodGet, "http://localhost/healthz", nil)
	if err != nil {
		return err
	}
	return health.Check(request)
}

func well(status *service.StatusResponse) bool { return status.Healthz == "ok" }
func ill(status *service.StatusResponse) bool  { return !well(status) }

// status asks how the gateway is, again until it is as expected: it learns in the background how the servers
// are.
func (k *kube) status(c *checks, expected func(*service.StatusResponse) bool) *service.StatusResponse {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		status, err := k.client.Status(context.Background())
		if err != nil {
			c.that("status", false, err)
			return &service.StatusResponse{}
		}
		if expected(status) || time.Since(begun) > learns {
			return status
		}
	}
}

func (k *kube) decrypt(sealed []byte, id string) ([]byte, error) {
	request := &service.DecryptRequest{Ciphertext: sealed, KeyID: id, Annotations: k.kept.Annotations}
	return k.client.Decrypt(context.Background(), "a request", request)
}

func (k *kube) works(c *checks) {
	ctx := context.Background()
	var err error
	k.client, err = kmsv2.NewGRPCService(ctx, "unix://"+k.socket, "divisi", callTime)
	if err != nil {
		panic(err)
	}
	transit, err := k.machines.client(k.token)
	if err != nil {
		panic(err)
	}
	_, err = transit.Logical().Write("transit/keys/kms", nil)
	c.that("its key is made", err == nil, err)
	status := k.status(c, well)
	c.that("is well", well(status) && status.Version == "v2" && status.KeyID != "", status)
	k.id = status.KeyID
	for _, length := range []int{1, 32, 256} {
		sealed, err := k.client.Encrypt(ctx, "a request", text()[:length])
		if err != nil {
			c.that("encrypts", false, err)
			return
		}
		c.that("the id of the key", sealed.KeyID == k.id, sealed.KeyID)
		c.that("the length of a ciphertext", len(sealed.Ciphertext) <= 1024, len(sealed.Ciphertext))
		k.kept = sealed
		got, err := k.decrypt(sealed.Ciphertext, sealed.KeyID)
		c.same("decrypts", text()[:length], got, err)
	}
	changed := bytes.Clone(k.kept.Ciphertext)
	changed[len(changed)-1] ^= 1
	_, err = k.decrypt(changed, k.id)
	c.that("a changed ciphertext is refused", err != nil, err)

	transformer, health := k.setUp(c)
	if transformer == nil {
		return
	}
	k.health = health
	err = check(health)
	c.that("kube-apiserver is well", err == nil, err)
	k.stored, err = transformer.TransformToStorage(ctx, text(), place)
	c.that("stores a secret", err == nil && bytes.HasPrefix(k.stored, []byte("k8s:enc:kms:v2:divisi:")), err)
	got, stale, err := transformer.TransformFromStorage(ctx, k.stored, place)
	c.same("reads a secret", text(), got, err)
	c.that("it is not stale", !stale, stale)
}

// There are no tokens: who may open the socket may use its key. But no other key.
func (k *kube) stranger(c *checks) {
	// in the form of an id, but none
	unknown := strings.Map(func(digit rune) rune {
		if digit == '0' {
			return '1'
		}
		return '0'
	}, k.id)
	for _, id := range []string{"another", k.id + "0", unknown, ""} {
		_, err := k.decrypt(k.kept.Ciphertext, id)
		c.that(fmt.Sprintf("the id %q is refused", id), err != nil, err)
	}
}

func (k *kube) alone(c *checks) {
	status := k.status(c, ill)
	named := ill(status) && strings.Contains(status.Healthz, "3")
	c.that("says which server is missing", named && status.KeyID == k.id, status)
	together(func() {
		_, err := k.decrypt(k.kept.Ciphertext, k.id)
		c.that("decrypts without a server", err != nil, err)
	}, func() {
		_, err := k.client.Encrypt(context.Background(), "a request", text())
		c.that("encrypts without a server", err != nil, err)
	}, func() {
		// a check that went well is believed for 20 s: one that starts now asks; the reason, in brackets, may
		// have become another since
		waits, _, _ := strings.Cut(status.Healthz, " (")
		if _, health := k.setUp(c); health != nil {
			c.says("kube-apiserver is not well", waits, check(health))
			k.health = health
		}
	})
}

func (k *kube) again(c *checks) {
	status := k.status(c, well)
	c.that("is well again", well(status) && status.KeyID == k.id, status)
	got, err := k.decrypt(k.kept.Ciphertext, k.id)
	c.same("decrypts again", text(), got, err)
	// A check that failed is believed for 3 s, and one that began without the server may end after its return.
	err = check(k.health)
	for begun := time.Now(); err != nil && time.Since(begun) < callTime+checkAgain; err = check(k.health) {
		time.Sleep(time.Second)
	}
	c.that("kube-apiserver is well again", err == nil, err)
	// as a kube-apiserver that starts: it has the key of the data from nowhere else
	transformer, _ := k.setUp(c)
	if transformer != nil {
		got, stale, err := transformer.TransformFromStorage(context.Background(), k.stored, place)
		c.same("reads a secret again", text(), got, err)
		c.that("it is not stale", !stale, stale)
	}
}
