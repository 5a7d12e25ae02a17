import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goPlatform, userAgent } from './user-agent.ts'

const parts = {
  program: '/usr/bin/kube-controller-manager',
  version: 'v1.36.2-3+abc',
  os: 'linux',
  arch: 'amd64',
  commit: '1a2b3c4d5e6f',
}

test('Given version `v1.36.2-3+abc`, then user agent has `v1.36.2`.', () => {
  assert.equal(userAgent(parts), 'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/1a2b3c4')
  assert.equal(
    userAgent({ ...parts, suffix: 'leader-election' }),
    'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/1a2b3c4/leader-election',
  )
})

test('empty parts are unknown', () => {
  assert.equal(
    userAgent({ program: '', version: '', os: '', arch: '', commit: '' }),
    'unknown/unknown (unknown/unknown) kubernetes/unknown',
  )
})

test('platforms have the names of Go', () => {
  assert.deepEqual(goPlatform('win32', 'x64'), { os: 'windows', arch: 'amd64' })
  assert.deepEqual(goPlatform('darwin', 'arm64'), { os: 'darwin', arch: 'arm64' })
})
