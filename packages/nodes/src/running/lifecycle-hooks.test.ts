import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { runHook } from './lifecycle-hooks.ts'
import { localContainer } from './local-pod.ts'

const container = localContainer({ name: 'c', image: 'app:1' }, 'main')
const hook = { exec: { command: ['cat', '/token'] } }
const failing = (error: Error) => ({
  clock: new VirtualClock({ settle: async () => {} }),
  programs: { exec: () => Promise.reject(error), request: () => Promise.reject(error) },
  pod: () => ({}),
})

test('a hook whose command cannot be run has failed, and says why', async () => {
  const services = failing(new Error('the server is away'))
  const { signal } = new AbortController()
  assert.equal(await runHook(hook, container, services, signal), 'the server is away')
  const request = { httpGet: { host: 'elsewhere', port: 80 } }
  assert.equal(await runHook(request, container, services, signal), 'the server is away')
})

test('a hook that is broken off has no outcome', async () => {
  const over = new Error('over')
  const hooked = runHook(hook, container, failing(over), AbortSignal.abort(over))
  await assert.rejects(hooked, over)
})
