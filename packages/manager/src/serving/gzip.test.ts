import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsGzip } from './gzip.ts'

/** Asked of the page of metrics of kube-controller-manager 1.36.2. */
const RECORDED: readonly (readonly [header: string, isPacked: boolean])[] = [
  ['gzip', true],
  ['gzip;q=0', false],
  ['gzip;q=0.5', true],
  ['gzip;q=0.5, identity', false],
  ['gzip;q=0.5, identity;q=0.6', false],
  ['identity, gzip', false],
  ['identity;q=0.9, gzip', true],
  ['gzip, identity', false],
  ['identity;q=0.5, gzip;q=0.5', false],
  ['*', false],
  ['*;q=0.5', false],
  ['identity;q=0, *', false],
  ['GZIP', false],
  ['x-gzip', false],
  ['gzip ;q=1', true],
  ['gzip; q=1', true],
  [',gzip', false],
  ['br,gzip;q=0.1', true],
  ['gzip;x=1', false],
  ['gzip;q=x', false],
  ['gzip;q=2', false],
  ['gzip;q=1.5', true],
  ['gzip;q=', false],
  ['deflate gzip', false],
  ['', false],
  ['identity;q=0', false],
  ['gzip;q=0.001', true],
  ['gzip;q=.5', false],
  ['"gzip"', false],
  ['*;q=0', false],
  ['gzip;q=0, gzip', true],
  ['gzip,*;q=0', true],
]

test('codings are weighed as upstream weighs them', () => {
  for (const [header, isPacked] of RECORDED) assert.equal(acceptsGzip([header]), isPacked, header)
})

test('a header may be repeated', () => {
  assert.equal(acceptsGzip(['br', 'gzip']), true)
  assert.equal(acceptsGzip([]), false)
})
