import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { CustomResourceDefinition } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { FakeServer, statusError, testClock } from '../testing/index.ts'
import type { FakeRequest } from '../testing/index.ts'
import { defineResource, definitionOf } from './define-resource.ts'
import { installDefinition } from './install-definition.ts'
import type { InstallOptions } from './install-definition.ts'

const type = resources.customresourcedefinitions
const schema = { type: 'object' }
const definition = definitionOf(
  defineResource({ group: 'example.com', version: 'v2', kind: 'Website' }),
  {
    schema,
    otherVersions: [
      { version: 'v1', schema },
      { version: 'v1alpha1', schema, served: false },
    ],
  },
)
const ESTABLISHED = { type: 'Established', status: 'True' }

/** A server that applies as it is told, serves what `served` says, and an installation. */
function installing(options: Partial<InstallOptions> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const stop = new AbortController()
  const served = new Set<string>()
  let meanwhile: (request: FakeRequest) => unknown = () => undefined
  server.onRequest = (request) => {
    const { verb, path, body } = request
    const answer = meanwhile(request)
    if (answer !== undefined) return answer
    if (verb === 'patch') return server.put(type, (body as { value: typeof definition }).value)
    if (verb !== 'GET') return undefined
    const version = path.replace('/apis/example.com/', '')
    if (!served.has(version)) throw statusError(404, 'NotFound')
    return {
      kind: 'APIResourceList',
      resources: [{ name: 'websites' }, { name: 'websites/status' }],
    }
  }
  const report = (...conditions: readonly object[]): void => {
    const stored = server.get(type, undefined, 'websites.example.com') as CustomResourceDefinition
    server.put(type, { ...stored, status: { conditions } } as CustomResourceDefinition)
  }
  const run = () => {
    const context = { clock, random: new SeededRandom('install'), signal: stop.signal, ...options }
    const ended: { with?: unknown } = {}
    installDefinition(server, definition, context).then(
      () => (ended.with = 'served'),
      (error) => (ended.with = error),
    )
    return ended
  }
  return {
    server,
    clock,
    stop,
    served,
    report,
    run,
    during: (next: typeof meanwhile) => void (meanwhile = next),
  }
}

type World = ReturnType<typeof installing>

const messageOf = ({ with: error }: { with?: unknown }): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error)

test('a definition is applied, and waited for until it is established and all its versions are served', async () => {
  const { server, clock, served, report, run } = installing()
  const ended = run()
  await clock.advance(1_000)
  assert.equal(server.requested('patch')[0]?.options['force'], true)
  report(ESTABLISHED)
  served.add('v1')
  await clock.advance(1_000)
  assert.equal(ended.with, undefined, 'what is there of a former definition is not enough')
  served.add('v2')
  await clock.advance(100)
  assert.equal(ended.with, 'served')
})

test('the time is that of all of it, and the error says what is missing', async () => {
  const names = { type: 'NamesAccepted', status: 'False', message: '"Website" is already in use' }
  const cases: [string, Partial<Record<'before' | 'after', (world: World) => void>>][] = [
    [
      'the definition is not accepted yet',
      { before: ({ during }) => during(() => new Promise(() => {})) },
    ],
    ['websites.example.com is not established yet', {}],
    [
      'the names of websites.example.com are not accepted: "Website" is already in use',
      { after: ({ report }) => report(ESTABLISHED, names) },
    ],
    [
      'websites of example.com/v2 are not served yet',
      { after: ({ report }) => report(ESTABLISHED) },
    ],
  ]
  for (const [missing, { before, after }] of cases) {
    const world = installing({ timeoutMs: 500 })
    before?.(world)
    const ended = world.run()
    await world.clock.advance(50)
    after?.(world)
    await world.clock.advance(449)
    assert.equal(ended.with, undefined)
    await world.clock.advance(1)
    const text = `WaitTimeoutError: timed out waiting for the condition: ${missing}`
    assert.equal(messageOf(ended), text)
  }
})

test('the signal ends all of it, an apply that is not answered too', async () => {
  for (const hangs of [true, false]) {
    const { clock, stop, during, run } = installing()
    if (hangs) during(() => new Promise(() => {}))
    const ended = run()
    await clock.advance(200)
    stop.abort(new Error('stopped'))
    await clock.advance(0)
    assert.equal(messageOf(ended), 'Error: stopped')
  }
})

test('a server that cannot answer for a moment is asked again; what it refuses is an error at once', async () => {
  const failures: [Error, boolean][] = [
    [statusError(503, 'ServiceUnavailable'), true],
    [statusError(429, 'TooManyRequests'), true],
    [new TransportError('CONNECTION_RESET', 'reset'), true],
    [statusError(403, 'Forbidden'), false],
    [new TypeError('a defect'), false],
  ]
  for (const [failure, passes] of failures) {
    const { clock, served, report, during, run } = installing()
    for (const version of ['v1', 'v2']) served.add(version)
    let asked = 0
    during(({ verb }) => {
      if (verb !== 'get' || asked++ > 0) return undefined
      report(ESTABLISHED)
      throw failure
    })
    const ended = run()
    await clock.advance(200)
    assert.equal(ended.with, passes ? 'served' : failure)
  }
})
