import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@gyropilot/client'
import type { Cluster } from '@gyropilot/cluster/live'
import { virtualClock } from '@gyropilot/foundation/testing'
import { narration } from './narration.ts'

const EXPIRED = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code: 410,
  reason: 'Expired',
} as const

const event = (name: string, resourceVersion: string): object => ({
  metadata: { name, resourceVersion },
  involvedObject: { kind: 'Node', name },
  reason: 'NodeReady',
  message: 'is ready',
})

test('what happens is told also when the server has forgotten what was told last', async () => {
  const clock = virtualClock()
  const from: (string | undefined)[] = []
  let latest = 10
  const watches: (() => AsyncGenerator<object>)[] = [
    async function* () {
      yield { type: 'ADDED', object: event('a', '11') }
    },
    async function* () {
      throw new StatusError(EXPIRED)
    },
    async function* () {
      yield { type: 'ERROR', object: EXPIRED }
    },
    async function* () {
      yield { type: 'ADDED', object: event('b', '31') }
      await new Promise(() => {})
    },
  ]
  const events = {
    list: async () => ({ items: [], metadata: { resourceVersion: String(latest) } }),
    async watch({ resourceVersion }: { readonly resourceVersion?: string }) {
      from.push(resourceVersion)
      latest += 10
      return watches.shift()!()
    },
  }
  const cluster = { client: () => ({ resource: () => events }) } as unknown as Cluster
  const lines: string[] = []
  const line = ({ text }: { readonly text: string }): void => void lines.push(text)
  ;(await narration(cluster, clock))({ banner() {}, stopping() {}, line })
  await clock.advance(5_000)
  assert.deepEqual(from, ['10', '11', '30', '40'])
  assert.deepEqual(lines, ['node a: is ready', 'node b: is ready'])
})
