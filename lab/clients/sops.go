package main

import (
	"net/http"

	"github.com/getsops/sops/v3/hcvault"
)

// sops is what SOPS does with the key of a file: package hcvault keeps it encrypted by a key of Transit.
type sops struct {
	*machines
	kept []string
}

func (s *sops) key(c *checks, path, token string) *hcvault.MasterKey {
	key, err := hcvault.NewMasterKeyFromURI("http://" + s.address + "/v1/" + path)
	if err != nil {
		c.that("the address of a key", false, err)
		return &hcvault.MasterKey{}
	}
	hcvault.Token(token).ApplyToMasterKey(key)
	hcvault.NewHTTPClient(&http.Client{}).ApplyToMasterKey(key)
	return key
}

var sopsPaths = []string{"transit/keys/sops", "t2/keys/sops"}

func (s *sops) works(c *checks) {
	for _, path := range sopsPaths {
		key := s.key(c, path, s.token)
		// SOPS draws 32 bytes for a file
		err := key.EncryptIfNeeded(text()[:32])
		c.that("encrypts", err == nil, err)
		s.kept = append(s.kept, key.EncryptedKey)
		other := s.key(c, path, s.token)
		other.SetEncryptedDataKey([]byte(key.EncryptedKey))
		got, err := other.Decrypt()
		c.same("decrypts", text()[:32], got, err)
	}
	// the key of one mount does not open what the key of another made
	key := s.key(c, sopsPaths[1], s.token)
	key.EncryptedKey = s.kept[0]
	_, err := key.Decrypt()
	c.status("another mount", 400, err)
}

func (s *sops) stranger(c *checks) {
	key := s.key(c, sopsPaths[0], wrongToken)
	c.status("a wrong token encrypts", 403, key.Encrypt(text()[:32]))
	key.EncryptedKey = s.kept[0]
	_, err := key.Decrypt()
	c.status("a wrong token decrypts", 403, err)
}

func (s *sops) alone(c *checks) {
	together(func() {
		key := s.key(c, sopsPaths[0], s.token)
		key.EncryptedKey = s.kept[0]
		_, err := key.Decrypt()
		c.status("decrypts without a server", 503, err)
	}, func() {
		key := s.key(c, sopsPaths[0], s.token)
		c.status("encrypts without a server", 503, key.Encrypt(text()[:32]))
	})
}

func (s *sops) again(c *checks) {
	for i, path := range sopsPaths {
		key := s.key(c, path, s.token)
		key.EncryptedKey = s.kept[i]
		got, err := key.Decrypt()
		c.same("decrypts again", text()[:32], got, err)
	}
}
