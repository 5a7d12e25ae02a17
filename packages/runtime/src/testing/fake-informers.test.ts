import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '../informer.ts'
import { fakeInformers } from './fake-informers.ts'
import { keysOf } from './fake-server.ts'

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, labels: { app: 'a' } },
})

test('objects go to the informers of their kinds, whenever those are asked for', () => {
  const informers = fakeInformers([
    pod('a'),
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } },
  ])
  const pods = informers.informer(resources.pods)
  assert.deepEqual(keysOf(pods.lister.list()), ['default/a'])
  informers.fill(pod('b'))
  assert.deepEqual(keysOf(pods.lister.list('default')), ['default/a', 'default/b'])
  assert.deepEqual(keysOf(informers.informer(resources.nodes).lister.list()), ['n'])
})

test('handlers are told at once, of an add or an update by what was known, and of deletions as they are given', () => {
  const informers = fakeInformers([pod('a')])
  const told: string[] = []
  informers.informer(resources.pods).addHandler({
    onAdd: (object, initial) => void told.push(`add ${object.metadata!.name} ${initial}`),
    onUpdate: (previous, object) =>
      void told.push(`update ${previous.metadata!.name} ${object.metadata!.name}`),
    onDelete: (object) =>
      void told.push(
        object instanceof DeletedFinalStateUnknown ? `tombstone ${object.key}` : 'delete',
      ),
  })
  informers.apply(resources.pods, pod('a'))
  informers.apply(resources.pods, pod('b'))
  informers.remove(resources.pods, pod('b'))
  informers.remove(resources.pods, new DeletedFinalStateUnknown<Pod>('default/a', undefined))
  assert.deepEqual(told, [
    'add a true',
    'update a a',
    'add b false',
    'delete',
    'tombstone default/a',
  ])
  assert.equal(informers.informer(resources.pods).lister.list().length, 0)
})

test('an object of a cache cannot be edited', () => {
  const informers = fakeInformers([pod('a')])
  const cached = informers.informer(resources.pods).lister.getByKey('default/a') as {
    metadata: { labels: Record<string, string> }
  }
  assert.throws(() => (cached.metadata.labels.app = 'b'), TypeError)
})
