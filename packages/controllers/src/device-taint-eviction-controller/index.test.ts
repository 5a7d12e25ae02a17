import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceTaintEvictionController } from './index.ts'

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } =
    deviceTaintEvictionController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'device-taint-eviction-controller',
      [],
      'device-taint-eviction-controller',
      true,
      ['DynamicResourceAllocation', 'DRADeviceTaints'],
    ],
  )
})
