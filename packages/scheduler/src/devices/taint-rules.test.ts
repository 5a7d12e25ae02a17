import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceTaint, DeviceTaintRule } from '@gyropilot/api'
import { publishedDevices } from './device-pools.ts'
import { slice } from './fixtures.ts'
import { withRuleTaints } from './taint-rules.ts'

const OWN: DeviceTaint = { key: 'own', effect: 'NoSchedule' }
const DEVICES = publishedDevices([slice('s', [{ name: 'x', taints: [OWN] }, { name: 'y' }])])
const rule = (deviceSelector?: DeviceTaintRule['spec']['deviceSelector']): DeviceTaintRule => ({
  spec: {
    taint: { key: 'ruled', effect: 'NoExecute' },
    ...(deviceSelector && { deviceSelector }),
  },
})
const keys = (...rules: readonly DeviceTaintRule[]) =>
  withRuleTaints(DEVICES, rules).map(({ device }) =>
    (device.taints ?? []).map(({ key }) => key).join(),
  )

test('a rule taints the devices that it selects, beside their own taints', () => {
  assert.deepEqual(keys(rule({ device: 'x' })), ['own,ruled', ''])
  assert.deepEqual(keys(rule({ driver: 'd.example.com', pool: 'p', device: 'y' })), [
    'own',
    'ruled',
  ])
  assert.deepEqual(keys(rule({})), ['own,ruled', 'ruled'])
})

test('a rule without a selector selects nothing, and one part that is another leaves the device alone', () => {
  for (const selector of [undefined, { driver: 'other' }, { pool: 'q' }, { device: 'z' }])
    assert.deepEqual(keys(rule(selector)), ['own', ''])
})
