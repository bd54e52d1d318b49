package main

import (
	"context"

	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"
)

// seal is HashiCorp's transit wrapper, by which OpenBao and Vault unseal themselves.
type seal struct {
	*machines
	wrapper *transit.Wrapper
	kept    *wrapping.BlobInfo
}

func (s *seal) wrap(token string) (*transit.Wrapper, error) {
	wrapper := transit.NewWrapper()
	// it renews its token, and encrypts a letter to see that it can
	_, err := wrapper.SetConfig(context.Background(),
		transit.WithAddress("http://"+s.address), transit.WithToken(token),
		transit.WithMountPath("transit/"), transit.WithKeyName("unseal"))
	return wrapper, err
}

func (s *seal) works(c *checks) {
	ctx := context.Background()
	var err error
	s.wrapper, err = s.wrap(s.token)
	c.that("is set up", err == nil, err)
	for _, length := range []int{1, 32, 256, 4096} {
		long := make([]byte, length)
		copy(long, text())
		sealed, err := s.wrapper.Encrypt(ctx, long)
		c.that("encrypts", err == nil && sealed.KeyInfo.KeyId == "v1", err)
		if err != nil {
			continue
		}
		got, err := s.wrapper.Decrypt(ctx, sealed)
		c.same("decrypts", long, got, err)
	}
	s.kept, err = s.wrapper.Encrypt(ctx, text())
	c.that("encrypts to keep", err == nil, err)
	id, err := s.wrapper.KeyId(ctx)
	c.that("the key's version", err == nil && id == "v1", id)
	changed := &wrapping.BlobInfo{Ciphertext: append([]byte{}, s.kept.Ciphertext...)}
	// one of the letters of its middle becomes another
	middle := len(changed.Ciphertext) / 2
	if changed.Ciphertext[middle] == 'A' {
		changed.Ciphertext[middle] = 'B'
	} else {
		changed.Ciphertext[middle] = 'A'
	}
	_, err = s.wrapper.Decrypt(ctx, changed)
	c.status("a changed ciphertext", 400, err)
}

func (s *seal) stranger(c *checks) {
	_, err := s.wrap(wrongToken)
	c.status("a wrong token", 403, err)
}

func (s *seal) alone(c *checks) {
	together(func() {
		_, err := s.wrapper.Decrypt(context.Background(), s.kept)
		c.status("decrypts without a server", 503, err)
	}, func() {
		_, err := s.wrap(s.token)
		c.status("is set up without a server", 503, err)
	})
}

func (s *seal) again(c *checks) {
	got, err := s.wrapper.Decrypt(context.Background(), s.kept)
	c.same("decrypts again", text(), got, err)
	// as a server that starts anew
	anew, err := s.wrap(s.token)
	c.that("is set up again", err == nil, err)
	if err == nil {
		got, err = anew.Decrypt(context.Background(), s.kept)
		c.same("decrypts by another", text(), got, err)
	}
}
