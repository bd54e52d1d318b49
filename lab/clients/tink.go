package main

import (
	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/aead"
	tinkapi "github.com/tink-crypto/tink-go/v2/tink"
)

// tink is Tink's package hcvault: AEADs by a key of Transit, and by keys of its own that this one wraps.
type tink struct {
	*machines
	kept []byte
}

var header = []byte("a header")

// client is HashiCorp's own, by which the other packages come, too.
func (m *machines) client(token string) (*api.Client, error) {
	config := api.DefaultConfig()
	config.Address = "http://" + m.address
	client, err := api.NewClient(config)
	if err != nil {
		return nil, err
	}
	client.SetToken(token)
	return client, nil
}

func (t *tink) aead(c *checks, token string, options ...hcvault.AEADOption) tinkapi.AEAD {
	client, err := t.client(token)
	if err != nil {
		panic(err)
	}
	prefix := "hcvault://" + t.address + "/"
	kms, err := hcvault.NewClientWithAEADOptions(prefix, client.Logical(), options...)
	if err != nil {
		panic(err)
	}
	made, err := kms.GetAEAD(prefix + "transit/keys/tink")
	if err != nil {
		panic(err)
	}
	return made
}

func (t *tink) works(c *checks) {
	client, err := t.client(t.token)
	if err != nil {
		panic(err)
	}
	_, err = client.Logical().Write("transit/keys/tink", nil)
	c.that("a key is made without a body", err == nil, err)
	secret, err := client.Logical().Read("transit/keys/tink")
	c.that("the key is read", err == nil && secret != nil && secret.Data["type"] == "aes256-gcm96", err)
	secret, err = client.Logical().Read("transit/keys/absent")
	c.that("an absent key is nothing", err == nil && secret == nil, err)
	secret, err = client.Logical().List("transit/keys")
	listed := 0
	if err == nil && secret != nil {
		for _, name := range secret.Data["keys"].([]any) {
			if name == "tink" {
				listed++
			}
		}
	}
	c.that("the key is listed", listed == 1, err)

	direct := t.aead(c, t.token)
	for _, length := range []int{0, 1, 256, 5000} {
		long := append(make([]byte, 0, length), make([]byte, length)...)
		copy(long, text())
		for _, beside := range [][]byte{nil, header} {
			sealed, err := direct.Encrypt(long, beside)
			c.that("encrypts", err == nil, err)
			got, err := direct.Decrypt(sealed, beside)
			c.same("decrypts", long, got, err)
			_, err = direct.Decrypt(sealed, []byte("another header"))
			c.status("another header", 400, err)
		}
	}
	t.kept, err = direct.Encrypt(text(), header)
	c.that("encrypts to keep", err == nil, err)

	// as clients of the first version do: Transit does not look at a context of a key that has none
	old := t.aead(c, t.token, hcvault.WithLegacyContextParamater())
	sealed, err := old.Encrypt(text(), header)
	c.that("encrypts with a context", err == nil, err)
	got, err := old.Decrypt(sealed, header)
	c.same("decrypts with a context", text(), got, err)

	// what most users have: a key of Tink for each text, wrapped by the key of Transit
	envelope := aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), direct)
	sealed, err = envelope.Encrypt(text(), header)
	c.that("encrypts by an envelope", err == nil, err)
	got, err = envelope.Decrypt(sealed, header)
	c.same("decrypts by an envelope", text(), got, err)
}

func (t *tink) stranger(c *checks) {
	wrong := t.aead(c, wrongToken)
	_, err := wrong.Encrypt(text(), header)
	c.status("a wrong token encrypts", 403, err)
	_, err = wrong.Decrypt(t.kept, header)
	c.status("a wrong token decrypts", 403, err)
}

func (t *tink) alone(c *checks) {
	_, err := t.aead(c, t.token).Decrypt(t.kept, header)
	c.status("decrypts without a server", 503, err)
}

func (t *tink) again(c *checks) {
	got, err := t.aead(c, t.token).Decrypt(t.kept, header)
	c.same("decrypts again", text(), got, err)
}
