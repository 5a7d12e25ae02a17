import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { drive } from '@gyropilot/runtime/testing'
import { askCloud, cloudCalls } from './cloud-calls.ts'
import { node } from './fixtures.ts'

test('a call is data that names the part, the method and what is asked', () => {
  const rules = askCloud('instancesV2', 'instanceExists', node('n'))
  const { effects } = drive(rules, { onOutside: () => ({ ok: true, object: true }) })
  const call = { name: 'instancesV2.instanceExists', arguments: [node('n')] }
  assert.deepEqual(effects, [{ effect: 'outside', call }])
})

function provider(exists: (node: Node, signal: AbortSignal) => Promise<boolean>): CloudProvider {
  return { name: 'p', hasClusterId: true, instancesV2: { instanceExists: exists } as never }
}

const call = { name: 'instancesV2.instanceExists', arguments: [node('n')] }

test('the provider is given the arguments and the signal, as a method of its part', async () => {
  const { signal } = new AbortController()
  const given: unknown[] = []
  const perform = cloudCalls(
    provider(async function (this: unknown, ...all: unknown[]) {
      given.push(this !== undefined, ...all)
      return true
    }),
  )
  assert.equal(await perform(call, signal), true)
  assert.deepEqual(given, [true, node('n'), signal])
})

test('a provider that throws at once rejects, and one that does not hear the signal is not waited for', async () => {
  const thrown = cloudCalls(
    provider(() => {
      throw new Error('at once')
    }),
  )
  await assert.rejects(thrown(call, new AbortController().signal), /at once/)
  const stop = new AbortController()
  const deaf = cloudCalls(provider(() => new Promise(() => {})))(call, stop.signal)
  stop.abort(new Error('stopped'))
  await assert.rejects(deaf, /stopped/)
})
