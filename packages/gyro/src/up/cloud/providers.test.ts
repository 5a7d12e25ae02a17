import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { cloudProviders } from './providers.ts'

test('the cloud of tables knows the machines of simulated nodes, and forgets the calls that a long life makes', async () => {
  const clock = virtualClock()
  const random = new SeededRandom('providers')
  const cloud = await cloudProviders().create('in-memory', { clock, random, logger: silentLogger })
  assert.ok(cloud instanceof InMemoryCloud)
  const { signal } = new AbortController()
  const exists = (name: string): Promise<boolean> =>
    cloud.instancesV2!.instanceExists({ metadata: { name } }, signal)
  assert.deepEqual([await exists('node-1'), await exists('other')], [true, false])
  assert.deepEqual(cloud.faults.calls, [])
})
