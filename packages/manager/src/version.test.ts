import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versionAnswer } from './version.ts'

const answer = (value: string) => versionAnswer(value, 'v1.36.0', 'gyropil')

test('--version prints one line, and =raw all that is known', () => {
  assert.equal(answer('true').print, 'Kubernetes v1.36.0')
  assert.match(answer('raw').print!, /^version.Info\{Major:"1", Minor:"36", GitVersion:"v1.36.0"/)
  assert.deepEqual(answer('false'), { version: 'v1.36.0' })
  assert.deepEqual(answer(''), { version: 'v1.36.0' })
})

test('--version=vX.Y.Z-more changes what is reported; another release is refused', () => {
  assert.deepEqual(answer('v1.36.0-mine'), { version: 'v1.36.0-mine' })
  for (const value of ['v1.35.0', 'v1', 'maybe']) {
    assert.throws(() => answer(value), { code: 'FLAG_INVALID', message: /for "--version" flag/ })
  }
})
