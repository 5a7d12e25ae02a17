import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod, service } from './fixtures.ts'
import type { PodOptions } from './fixtures.ts'
import { addServiceSelectorIndex, podWatch } from './pod-services.ts'

const services = [
  service({ name: 'a', spec: { selector: { app: 'a' } } }),
  service({ name: 'b', spec: { selector: { app: 'b' } } }),
  service({ name: 'all', spec: { selector: {} } }),
  service({ name: 'none', spec: { selector: undefined } }),
]
const informer = fakeInformers(services).informer(resources.services)
addServiceSelectorIndex(informer)
const watch = podWatch(informer.lister, 500)
const later = (...names: readonly string[]): object[] =>
  names.map((name) => ({ key: `ns/${name}`, afterMs: 500 }))

function updated(before: PodOptions, now: PodOptions): unknown[] {
  const keys = watch.onUpdate!(pod(before), pod({ resourceVersion: '2', ...now }))
  return [...keys].toSorted((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1))
}

test('added and deleted pods concern the Services that select them; null selects nothing, {} everything', () => {
  assert.deepEqual([...watch.onAdd!(pod())], later('a', 'all'))
  assert.deepEqual([...watch.onDelete!(pod())], later('a', 'all'))
  assert.deepEqual([...watch.onDelete!(new DeletedFinalStateUnknown<Pod>('ns/pod', undefined))], [])
  const elsewhere = { ...pod(), metadata: { ...pod().metadata, namespace: 'other' } }
  assert.deepEqual([...watch.onAdd!(elsewhere)], [])
})

const b = { labels: { app: 'b' } }
const cases: readonly (readonly [string, PodOptions, PodOptions, readonly string[]])[] = [
  ['a resync concerns nobody', {}, { resourceVersion: '1', ready: false }, []],
  ['a change of neither pod nor labels concerns nobody', {}, {}, []],
  ['readiness', {}, { ready: false }, ['a', 'all']],
  ['another pod under the same name', {}, { uid: 'other' }, ['a', 'all']],
  ['a mark for deletion', {}, { deleting: true }, ['a', 'all']],
  [
    'whatever is new of a pod that is marked for deletion',
    { deleting: true, ready: false },
    { deleting: true, ready: false, phase: 'Succeeded' },
    ['a', 'all'],
  ],
  ['an address', {}, { ips: ['10.9.0.2'] }, ['a', 'all']],
  [
    'the second of two addresses',
    { ips: ['10.9.0.1', 'fd00::1'] },
    { ips: ['10.9.0.1', 'fd00::2'] },
    ['a', 'all'],
  ],
  [
    'labels that come and go, of a pod that had none',
    { labels: {} },
    { labels: { app: 'a' } },
    ['a'],
  ],
  ['a further address', {}, { ips: ['10.9.0.1', 'fd00::1'] }, ['a', 'all']],
  ['the phase alone concerns nobody', {}, { phase: 'Unknown' }, []],
  [
    'nor does the end of a pod that was never ready',
    { ready: false },
    { ready: false, phase: 'Failed' },
    [],
  ],
  ['labels alone: who selects it now or before, not both', {}, b, ['a', 'b']],
  [
    'labels and pod: all who select it now or before',
    {},
    { ...b, ready: false },
    ['a', 'all', 'b'],
  ],
  ['hostname alone: nobody, for the same Services select it', {}, { hostname: 'h' }, []],
  ['labels that no selector names concern nobody', {}, { labels: { app: 'a', extra: 'x' } }, []],
]
for (const [title, before, now, names] of cases) {
  test(`an update: ${title}`, () => {
    assert.deepEqual(updated(before, now), later(...names))
  })
}
