import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { keysOf } from '../testing/index.ts'
import { informing, pod } from './fixtures.ts'
import { withKind } from './transform.ts'

test('Given a transform, then store, handlers and streaming list see the transformed object.', async () => {
  for (const watchList of [true, false]) {
    const i = informing({
      watchList,
      transform: (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { transformed: 'yes' } },
      }),
    })
    const labels: unknown[] = []
    i.server.put(resources.pods, pod('a'))
    i.informer.addHandler({ onAdd: (object) => void labels.push(object.metadata!.labels) })
    await i.start()
    // What it is shown is the whole object.
    assert.ok(i.server.requests.every(({ decode }) => decode === undefined))
    i.server.put(resources.pods, pod('b'))
    await i.clock.advance(0)
    assert.deepEqual(labels, [{ transformed: 'yes' }, { transformed: 'yes' }])
    assert.ok(
      i.informer.lister.list().every((object) => object.metadata!.labels?.transformed === 'yes'),
    )
    await i.end()
  }
})

test('a transform that is set later is shown whole objects too, with their kind', async () => {
  const i = informing({ watchList: false })
  const kinds: unknown[] = []
  i.informer.setTransform((object) => {
    kinds.push([object.apiVersion, object.kind])
    return object
  })
  i.server.onRequest = ({ verb }) =>
    verb === 'list'
      ? { metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'a' } }] }
      : undefined
  await i.start()
  assert.deepEqual(kinds, [['v1', 'Pod']])
  assert.ok(i.server.requests.every(({ decode }) => decode === undefined))
  await i.end()
})

test('a transform that fails loses a watch event, and ends the round of a list', async () => {
  let failing = false
  const errors: unknown[] = []
  const i = informing({
    watchList: false,
    onWatchError: (error) => errors.push(error),
    transform: (object) => {
      if (failing) throw new Error('cannot')
      return object
    },
  })
  await i.start()
  failing = true
  i.server.put(resources.pods, pod('lost'))
  await i.clock.advance(0)
  failing = false
  i.server.put(resources.pods, pod('b'))
  await i.clock.advance(0)
  assert.deepEqual(keysOf(i.informer.lister.list()), ['default/b'])
  failing = true
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(2_000)
  assert.match(String(errors[0]), /cannot/)
  await i.end()
})

test('by default managedFields are dropped, kind and apiVersion filled in, and the rest is shared', async () => {
  const i = informing({ watchList: false })
  const spec = { containers: [{ name: 'c' }] }
  const item: Pod = {
    metadata: { namespace: 'default', name: 'a', managedFields: [{ manager: 'm' }] },
    spec,
  }
  i.server.onRequest = ({ verb }) =>
    verb === 'list' ? { metadata: { resourceVersion: '1' }, items: [item] } : undefined
  await i.start()
  const cached = i.informer.lister.getByKey('default/a')!
  assert.deepEqual(cached, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'a' },
    spec,
  })
  assert.equal(cached.spec, spec)
  assert.ok(item.metadata!.managedFields, 'the object that came is not touched')
  await i.end()
})

test('an object that needs no change is cached as it came: one copy for server, cache and all handlers', async () => {
  const i = informing()
  const stored = i.server.put(resources.pods, pod('a'))
  const handed: unknown[] = []
  for (let n = 0; n < 3; n++) i.informer.addHandler({ onAdd: (object) => void handed.push(object) })
  await i.start()
  assert.equal(handed.length, 3)
  assert.ok(
    [...handed, i.informer.lister.getByKey('default/a')].every((object) => object === stored),
  )
  await i.end()
})

test('what a transform makes of an object is what it is found by, until its deletion', async () => {
  for (const watchList of [true, false]) {
    const i = informing({
      watchList,
      transform: (object) => ({
        ...object,
        metadata: { ...object.metadata, namespace: 'all', name: `my-${object.metadata?.name}` },
      }),
    })
    i.server.put(resources.pods, pod('a'))
    await i.start()
    const b = i.server.put(resources.pods, pod('b'))
    await i.clock.advance(0)
    assert.deepEqual(keysOf(i.informer.lister.list()), ['all/my-a', 'all/my-b'])
    i.server.remove(resources.pods, b)
    await i.clock.advance(0)
    assert.deepEqual(keysOf(i.informer.lister.list()), ['all/my-a'])
    await i.end()
  }
})

test('of kind and apiVersion what is missing is filled in, though the other is there', () => {
  const shape = { apiVersion: 'v1', kind: 'Pod' }
  for (const object of [{ kind: 'Pod' }, { apiVersion: 'v1' }, {}])
    assert.deepEqual(withKind(object as Pod, shape), shape)
})

test('metadata is cached by the name of what it is of, listed or streamed: mappers and events tell objects apart by it', async () => {
  for (const watchList of [true, false]) {
    const kinds: unknown[] = []
    const i = informing({
      watchList,
      metadataOnly: true,
      transform: (object) => {
        kinds.push(object.kind)
        return object
      },
    })
    i.server.put(resources.pods, pod('a'))
    await i.start()
    i.server.put(resources.pods, pod('b'))
    await i.clock.advance(0)
    assert.deepEqual([...new Set(kinds)], ['Pod'], 'a transform is shown it too')
    const names = i.informer.lister.list().map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
    assert.deepEqual(names, ['v1 Pod', 'v1 Pod'])
    await i.end()
  }
})
