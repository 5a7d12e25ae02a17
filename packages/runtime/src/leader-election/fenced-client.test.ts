import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { fencedClient } from './fenced-client.ts'

const READS = ['get', 'list', 'watch', 'pages', 'raw GET']

/** What reaches a client, and what the fence says of what does not. */
async function sent(holdsLease: boolean) {
  const reached: string[] = []
  const refused: string[] = []
  const verbs = new Proxy({}, { get: (_, verb) => async () => void reached.push(String(verb)) })
  const raw = async ({ method }: { method: string }) => void reached.push(`raw ${method}`)
  const client = fencedClient({ resource: () => verbs, raw } as unknown as Client, () => holdsLease)
  const objects = client.resource(resources.configmaps, 'default') as unknown as Record<
    string,
    () => Promise<unknown>
  >
  const ask = (work: Promise<unknown>) => work.catch(({ message }) => refused.push(message))
  for (const verb of Object.keys(objects)) await ask(objects[verb]!())
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    await ask(client.raw({ method, path: '/x' }))
  return { reached, refused }
}

test('without the lease only reads reach the server; with it everything does', async () => {
  const { reached, refused } = await sent(false)
  assert.deepEqual(reached.toSorted(), READS.toSorted())
  assert.ok(refused.includes('apply configmaps: the leader lease has run out'))
  assert.ok(refused.includes('POST /x: the leader lease has run out'))
  const all = await sent(true)
  assert.equal(all.reached.length, reached.length + refused.length)
  assert.deepEqual(all.refused, [])
})
