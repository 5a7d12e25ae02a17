import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { SERVER_IDENTITY } from '../auth/index.ts'
import { startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { RepairEvents } from './repair-events.ts'

const REPORT = { controller: 'some-controller', action: 'SomeAction', note: 'text' }

async function recorder(t: TestContext): Promise<TestServer & { events: RepairEvents }> {
  const it = await startServer()
  t.after(() => it.server.stop())
  const { clock, server } = it
  const user = SERVER_IDENTITY
  const random = new SeededRandom(1)
  const options = { server: server.internals, clock, random, logger: silentLogger, user }
  return { ...it, events: new RepairEvents(options) }
}

function kubernetes({ server }: TestServer): Stored {
  return server.internals.get('', 'services', 'default', 'kubernetes')!
}

test('two about one object within a millisecond are two', async (t) => {
  const it = await recorder(t)
  for (const reason of ['One', 'Other']) it.events.report(kubernetes(it), { ...REPORT, reason })
  await it.clock.advance(0)
  const reasons = it.server.internals.list('', 'events').map(({ reason }) => reason)
  assert.deepEqual(reasons.toSorted(), ['One', 'Other'])
})

test('none is written after the end', async (t) => {
  const it = await recorder(t)
  it.events.report(kubernetes(it), { ...REPORT, reason: 'One' })
  it.events.stop()
  await it.clock.advance(0)
  assert.deepEqual(it.server.internals.list('', 'events'), [])
})
