import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { HandlerRegistration, Informer } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { resourceId } from './monitored-resources.ts'
import { Monitors } from './monitors.ts'

const { pods, configmaps } = resources
const mapOf = (...types: readonly ResourceType[]) =>
  new Map(types.map((type) => [resourceId(type), type]))
const pod: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', uid: 'u' },
}

/** Monitors of resources whose first lists come when the test says so. */
function monitoring(options: { resyncPeriodMs?: number; refusing?: readonly string[] } = {}) {
  const informers = fakeInformers([pod])
  const { refusing = [], ...more } = options
  const log: string[] = []
  const heard: string[] = []
  const asked: object[] = []
  const synced = new Map<string, PromiseWithResolvers<boolean>>()
  const known = new Map<string, boolean>()
  const monitors = new Monitors({
    ...more,
    informer(type) {
      const { resource } = type
      if (refusing.includes(resource)) throw new Error(`no ${resource}`)
      log.push(`informer ${resource}`)
      const informer = informers.informer(type) as Informer<KubernetesObject>
      synced.set(resource, Promise.withResolvers())
      const addHandler: Informer<KubernetesObject>['addHandler'] = (handler, handlerOptions) => {
        asked.push({ ...handlerOptions })
        const registration = informer.addHandler(handler)
        const waiting: HandlerRegistration = {
          hasSynced: () => known.get(resource) ?? false,
          whenSynced: () => synced.get(resource)!.promise,
          remove() {
            log.push(`end ${resource}`)
            registration.remove()
          },
        }
        return waiting
      }
      return {
        lister: informer.lister,
        addHandler,
        lastSyncResourceVersion: () => '7',
      } as Informer<KubernetesObject>
    },
    start: () => void log.push('start'),
    handler: ({ resource }) => ({
      onAdd: ({ metadata }) => heard.push(`${resource} ${metadata?.name}`),
    }),
  })
  return {
    informers,
    monitors,
    log,
    heard,
    asked,
    sync(type: ResourceType, isWell = true) {
      known.set(type.resource, isWell)
      synced.get(type.resource)!.resolve(isWell)
    },
  }
}
const { signal } = new AbortController()

test('what is new is watched, what is left out is asked for nothing any more but heard of, the rest goes on', () => {
  const { informers, monitors, log, heard } = monitoring()
  monitors.update(mapOf(pods), signal)
  monitors.update(mapOf(pods, configmaps), signal)
  assert.deepEqual(log, ['informer pods', 'start', 'informer configmaps', 'start'])
  const other = { ...pod, metadata: { ...pod.metadata, name: 'q' } }
  informers.apply(pods, other)
  log.length = 0
  monitors.update(mapOf(configmaps), signal)
  informers.apply(pods, { ...other, metadata: { ...other.metadata, name: 'late' } })
  assert.deepEqual(log, ['start'])
  assert.deepEqual(
    heard.filter((entry) => entry !== 'pods p'),
    ['pods q', 'pods late'],
  )
  assert.equal(monitors.cached(pods, 'ns', 'p'), undefined)
})

test('what comes back is heard of by the handler that it had, and by another one under another kind', () => {
  const { informers, monitors, log, heard } = monitoring()
  monitors.update(mapOf(pods), signal)
  monitors.update(mapOf(), signal)
  log.length = 0
  heard.length = 0
  monitors.update(mapOf(pods), signal)
  assert.deepEqual(monitors.cached(pods, 'ns', 'p'), pod)
  informers.apply(pods, { ...pod, metadata: { ...pod.metadata, name: 'q' } })
  assert.deepEqual([log, heard], [['start'], ['pods q']])
  monitors.update(mapOf(), signal)
  log.length = 0
  monitors.update(mapOf({ ...pods, kind: 'Capsule' }), signal)
  assert.deepEqual(log, ['end pods', 'informer pods', 'start'])
})

test('a resource that stands for another kind all at once has a handler of that kind from then on', () => {
  const { monitors, log } = monitoring()
  monitors.update(mapOf(pods), signal)
  log.length = 0
  monitors.update(mapOf({ ...pods, kind: 'Capsule' }), signal)
  assert.deepEqual(log, ['end pods', 'informer pods', 'start'])
})

test('those that cannot be watched are told of, the others are watched nevertheless', () => {
  const { monitors, log } = monitoring({ refusing: ['pods'] })
  assert.throws(() => monitors.update(mapOf(pods, configmaps), signal), { message: 'no pods' })
  assert.deepEqual(log, ['informer configmaps', 'start'])
})

test('handlers are told again in the period that was asked for, else in that of the informer', () => {
  const own = monitoring()
  own.monitors.update(mapOf(pods), signal)
  const asked = monitoring({ resyncPeriodMs: 5_000 })
  asked.monitors.update(mapOf(pods), signal)
  assert.deepEqual([own.asked, asked.asked], [[{}], [{ resyncPeriodMs: 5_000 }]])
})

test('what is cached is asked by kind; of what is not monitored nothing is known', () => {
  const { monitors, sync } = monitoring()
  assert.deepEqual(
    [monitors.cachedIn(pods, 'ns'), monitors.seenVersion(pods), monitors.isSynced(pods)],
    [[], '', false],
  )
  monitors.update(mapOf(pods), signal)
  assert.equal(monitors.isSynced(pods), false)
  sync(pods)
  assert.equal(monitors.isSynced(pods), true)
  assert.deepEqual(monitors.cached(pods, 'ns', 'p'), pod)
  assert.deepEqual(monitors.cachedIn(pods, 'ns'), [pod])
  assert.equal(monitors.seenVersion(pods), '7')
})

test('all are synced when each is, and not when one has ended before', async () => {
  for (const isWell of [true, false]) {
    const { monitors, sync } = monitoring()
    monitors.update(mapOf(pods, configmaps), signal)
    let answer: boolean | undefined
    const waiting = monitors.whenSynced(signal).then((done) => (answer = done))
    sync(pods)
    await Promise.resolve()
    assert.equal(answer, undefined)
    sync(configmaps, isWell)
    await waiting
    assert.equal(answer, isWell)
  }
})

test('the first sync waits until there is something to monitor, or for the end', async () => {
  const { monitors, sync } = monitoring()
  let answer: boolean | undefined
  const waiting = monitors.whenFirstSynced(signal).then((done) => (answer = done))
  monitors.update(mapOf(), signal)
  await Promise.resolve()
  monitors.update(mapOf(pods), signal)
  sync(pods)
  await waiting
  assert.equal(answer, true)
  assert.equal(await monitors.whenFirstSynced(AbortSignal.abort()), false)
  const stopping = new AbortController()
  const never = monitoring().monitors.whenFirstSynced(stopping.signal)
  stopping.abort()
  assert.equal(await never, false)
})

test('without anything to monitor the first sync does not come', async () => {
  const { monitors } = monitoring()
  let isOver = false
  void monitors.whenFirstSynced(signal).then(() => (isOver = true))
  monitors.update(mapOf(), signal)
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  assert.equal(isOver, false)
})

test('a kind that never could be listed keeps the first sync waiting until it is gone, and one that came since does', async () => {
  const { monitors, sync } = monitoring()
  let answer: boolean | undefined
  monitors.update(mapOf(pods), signal)
  const waiting = monitors.whenFirstSynced(signal).then((done) => (answer = done))
  monitors.update(mapOf(configmaps), signal)
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  assert.equal(answer, undefined)
  sync(configmaps)
  await waiting
  assert.equal(answer, true)
})
