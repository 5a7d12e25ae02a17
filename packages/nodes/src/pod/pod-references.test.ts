import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod, Volume } from '@gyropilot/api'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { PodReferences } from './pod-references.ts'

const POD: Pod = { metadata: { namespace: 'default', name: 'p' }, spec: { containers: [] } }

const volumeOf = (name: string, key?: string, optional = false): Volume => ({
  name: 'v',
  configMap: { name, optional, ...(key === undefined ? {} : { items: [{ key, path: key }] }) },
})

function setup() {
  const server = new FakeServer()
  const clock = testClock()
  server.put(resources.configmaps, {
    metadata: { namespace: 'default', name: 'there' },
    data: { a: '1' },
  })
  return { server, clock, references: new PodReferences(server, clock) }
}

test('what is there is read once a minute, what is missing each time', async () => {
  const { server, clock, references } = setup()
  const reads = async (name: string): Promise<number> => {
    const before = server.requests.length
    await references.volumeProblem(POD, volumeOf(name))
    return server.requests.length - before
  }
  assert.equal(await reads('there'), 1)
  await clock.advance(59_999)
  assert.equal(await reads('there'), 0)
  await clock.advance(1)
  assert.equal(await reads('there'), 1)
  for (let i = 0; i < 3; i++) assert.equal(await reads('missing'), 1)
})

test('a key that was missing is found as soon as it is there, and what was taken away within a minute', async () => {
  const { server, clock, references } = setup()
  const problem = () => references.volumeProblem(POD, volumeOf('there', 'b'))
  const metadata = { namespace: 'default', name: 'there' }
  assert.equal(await problem(), 'references non-existent config key: b')
  server.put(resources.configmaps, { metadata, data: { a: '1', b: '2' } })
  assert.equal(await problem(), undefined)
  server.put(resources.configmaps, { metadata, data: { a: '1' } })
  assert.equal(await problem(), undefined)
  await clock.advance(60_000)
  assert.equal(await problem(), 'references non-existent config key: b')
  const requests = server.requests.length
  assert.equal(await references.volumeProblem(POD, volumeOf('there', 'c', true)), undefined)
  assert.equal(server.requests.length, requests)
})

const CASES: readonly (readonly [string, Volume, string | undefined])[] = [
  ['all is there', volumeOf('there', 'a'), undefined],
  ['no object', volumeOf('none'), 'configmap "none" not found'],
  ['no key', volumeOf('there', 'b'), 'references non-existent config key: b'],
  ['optional object', volumeOf('none', 'a', true), undefined],
  ['optional key', volumeOf('there', 'b', true), undefined],
  ['another kind of storage', { name: 'v', emptyDir: {} }, undefined],
  [
    'two of a projected volume',
    {
      name: 'v',
      projected: { sources: [{ configMap: { name: 'none' } }, { secret: { name: 's' } }] },
    },
    '[configmap "none" not found, secret "s" not found]',
  ],
]
for (const [title, volume, problem] of CASES) {
  test(`a volume of a pod: ${title}`, async () => {
    const { references } = setup()
    assert.equal(await references.volumeProblem(POD, volume), problem)
  })
}
