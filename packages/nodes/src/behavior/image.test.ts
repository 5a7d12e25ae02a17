import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_IMAGE_RULES, imageProblem, resolvedImage } from './image.ts'

const cases: readonly (readonly [string, string | undefined])[] = [
  ['nginx', undefined],
  ['nginx:latest', undefined],
  ['nginx:1.27-alpine', undefined],
  ['registry.k8s.io/pause:3.10', undefined],
  ['localhost:5000/team/app:v1', undefined],
  [`nginx@sha256:${'a'.repeat(64)}`, undefined],
  ['nginx:does-not-exist', 'ErrImagePull'],
  ['nginx:doesnotexist', 'ErrImagePull'],
  ['ghcr.io/x/y:broken', 'ErrImagePull'],
  ['nginx:bad', 'ErrImagePull'],
  ['nginx:badge', undefined],
  ['nginx:404', 'ErrImagePull'],
  ['nginx:404.1', undefined],
  ['nosuchimage', 'ErrImagePull'],
  ['team/does-not-exist:v1', 'ErrImagePull'],
  ['invalid.example.com/team/app', 'ErrImagePull'],
  ['registry.example.com:5000/nonexistent@sha256:' + 'a'.repeat(64), 'ErrImagePull'],
  ['invalidator:v1', undefined],
  ['missing-colon-exporter:v1', undefined],
  ['nginx::1', 'InvalidImageName'],
  ['Nginx', 'InvalidImageName'],
  ['ng inx', 'InvalidImageName'],
  ['', 'InvalidImageName'],
]

for (const [image, reason] of cases) {
  test(`image ${JSON.stringify(image)} is ${reason ?? 'pulled'}`, () => {
    assert.equal(imageProblem(image, DEFAULT_IMAGE_RULES)?.reason, reason)
  })
}

test('references are shown in full, as a container runtime does', () => {
  assert.equal(resolvedImage('nginx'), 'docker.io/library/nginx:latest')
  assert.equal(resolvedImage('team/app:v1'), 'docker.io/team/app:v1')
  assert.equal(resolvedImage('localhost:5000/app'), 'localhost:5000/app:latest')
  assert.equal(resolvedImage('registry.k8s.io/pause:3.10'), 'registry.k8s.io/pause:3.10')
})
