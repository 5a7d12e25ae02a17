import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestTarget } from './request.ts'

test('a path is decoded, and neither cleaned nor taken for a host', () => {
  const read = (written: string) => {
    const target = requestTarget(written)
    return target && [target.path, target.query.toString()]
  }
  assert.deepEqual(read('/%68ealthz?verbose&exclude=a%2Fb'), ['/healthz', 'verbose=&exclude=a%2Fb'])
  assert.deepEqual(read('//healthz'), ['//healthz', ''])
  assert.deepEqual(read('/healthz/../metrics'), ['/healthz/../metrics', ''])
  assert.deepEqual(read('https://example.com/metrics?a'), ['/metrics', 'a='])
  assert.equal(read('/%zz'), undefined)
})
