import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock, silentLogger } from '@gyropilot/foundation'
import type { ContainerStatus, Pod, PodStatus } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { StatusWriter } from './status-writer.ts'

const init = (state: ContainerStatus['state'], restartCount: number): PodStatus => ({
  initContainerStatuses: [
    { name: 'i', image: 'x', imageID: '', ready: false, restartCount, state },
  ] as ContainerStatus[],
})

test('nothing is written while what has ended for good runs again, and all of it once that has ended', async () => {
  const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) })
  const ended = { terminated: { exitCode: 0 } }
  const stored: Pod = {
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    spec: {
      restartPolicy: 'OnFailure',
      initContainers: [{ name: 'i', image: 'x' }],
      containers: [{ name: 'c', image: 'x' }],
    },
    status: { ...init(ended, 0), phase: 'Running' },
  }
  let status = init({ running: { startedAt: '2026-01-01T00:00:00Z' } }, 1)
  const written: unknown[] = []
  const resource = {
    patch: async (_: string, { value }: { readonly value: { readonly status: unknown } }) => {
      written.push(value.status)
      return stored
    },
  }
  const writer = new StatusWriter(stored, {
    client: { resource: () => resource } as unknown as Client,
    clock,
    logger: silentLogger,
    status: () => status,
    onGone: () => assert.fail('gone'),
  })
  assert.equal(await writer.flush(), false)
  await clock.advance(60_000)
  assert.deepEqual(written, [])
  status = init(ended, 1)
  assert.equal(await writer.flush(), true)
  assert.deepEqual(written, [init(ended, 1)])
})
