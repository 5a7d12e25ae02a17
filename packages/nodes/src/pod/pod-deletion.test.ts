import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock, silentLogger } from '@gyropilot/foundation'
import type { Pod } from '@gyropilot/api'
import type { Client, DeleteOptions } from '@gyropilot/client'
import { deletePod } from './pod-deletion.ts'

test('a pod whose end cannot be stored is not deleted before it can', async () => {
  const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) })
  const did: string[] = []
  let stored: Pod = {
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    status: { phase: 'Running' },
  }
  const answers = [false, false, true]
  const resource = {
    async delete(name: string, options: DeleteOptions) {
      // A namesake that took its place is not meant.
      did.push(`delete ${name} ${options.preconditions?.uid} ${stored.status?.phase}`)
      return {}
    },
  }
  const deleted = deletePod({
    client: { resource: () => resource } as unknown as Client,
    clock,
    logger: silentLogger,
    signal: new AbortController().signal,
    pod: () => stored,
    async store() {
      const isStored = answers.shift()!
      did.push(`store ${isStored}`)
      if (isStored) stored = { ...stored, status: { phase: 'Succeeded' } }
      return isStored
    },
    gone: () => did.push('gone'),
  })
  await clock.advance(5_000)
  await deleted
  assert.deepEqual(did, ['store false', 'store false', 'store true', 'delete p u Succeeded'])
})
