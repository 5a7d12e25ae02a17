import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { parseIp } from '@gyropilot/schema/validation/ip'
import { createMemoryStore } from '../storage/memory-store.ts'
import { turn } from '../testing/test-server.ts'
import { isServiceAddress } from './service-ranges.ts'

for (const [ip, expected] of [
  ['10.0.0.0', true],
  ['10.0.0.255', true],
  ['10.0.1.0', false],
  ['fd00::1', false],
] as const) {
  test(`a Service may ${expected ? '' : 'not '}go on with ${ip} in 10.0.0.0/24`, () => {
    const store = createMemoryStore(new VirtualClock({ settle: turn }))
    assert.equal(isServiceAddress(store, ['10.0.0.0/24'], parseIp(ip)!), expected)
  })
}
