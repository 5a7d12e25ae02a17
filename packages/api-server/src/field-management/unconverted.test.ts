import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DecodeError, decodeObject } from '@gyropilot/schema'
import { unconverted } from './unconverted.ts'

/** What kube-apiserver 1.36.2 answered to strategic merges and applies. */
test('what does not fit its Go type is told as the converter of trees tells it', () => {
  const pod = (spec: object): string => {
    try {
      decodeObject({ group: '', version: 'v1', kind: 'Pod' }, { spec })
    } catch (error) {
      assert.ok(error instanceof DecodeError)
      return unconverted(error)
    }
    return ''
  }
  const container = (fields: object): string => pod({ containers: [fields] })
  assert.equal(container({ resources: [] }), 'cannot restore struct from: slice')
  assert.equal(container({ resources: { requests: [] } }), 'cannot restore map from slice')
  assert.equal(container({ resources: { claims: 5 } }), 'cannot restore slice from int64')
  assert.equal(pod({ priority: 1.5 }), 'cannot convert float64 to int32')
  assert.equal(pod({ priority: 'x' }), 'unrecognized type: int32')
  assert.equal(pod({ hostname: 1.5 }), 'unrecognized type: string')
  assert.equal(pod({ hostNetwork: 1 }), 'unrecognized type: bool')
  assert.equal(pod({ preemptionPolicy: 5 }), 'cannot convert int64 to v1.PreemptionPolicy')
})
