import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasDash } from './image-facts.ts'

test('images whose sh is dash', () => {
  for (const image of ['debian:12-slim', 'docker.io/library/ubuntu', 'ubuntu@sha256:1'])
    assert.equal(hasDash(image), true, image)
  for (const image of ['busybox', 'alpine:3.20', 'rockylinux:9', 'nginx', undefined])
    assert.equal(hasDash(image), false, String(image))
})
