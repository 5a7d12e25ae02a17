import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from '@gyropilot/api/schema'
import { wrappedIntegers } from './wrapped-integers.ts'

test('integers keep what their fields have room for, and a float beyond int64 is the least of all', () => {
  const made = (replicas: unknown, terminationGracePeriodSeconds: unknown): unknown =>
    wrappedIntegers(
      { spec: { replicas, template: { spec: { terminationGracePeriodSeconds } } } },
      schemaOf('apps', 'v1', 'Deployment')!,
    )
  const expected = (replicas: unknown, terminationGracePeriodSeconds: unknown): unknown => ({
    spec: { replicas, template: { spec: { terminationGracePeriodSeconds } } },
  })
  assert.deepEqual(made(2 ** 31, 5), expected(-(2 ** 31), 5))
  assert.deepEqual(made(1e30, 1e30), expected(0, -(2n ** 63n)))
  assert.deepEqual(made(2 ** 63, 2n ** 63n - 1n), expected(0, 2n ** 63n - 1n))
  assert.deepEqual(made('x', 2 ** 53), expected('x', 2n ** 53n))
})
