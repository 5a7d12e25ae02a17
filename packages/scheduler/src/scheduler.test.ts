import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { Clock, Timer } from '@gyropilot/foundation'
import type { InformerFactory } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { node, pod } from '@gyropilot/api/testing'
import { Scheduler } from './scheduler.ts'

/** Time passes with every look at it: as if each piece of work took a while. */
class BusyClock implements Clock {
  readonly timers: (() => void)[] = []
  readonly #stepMs: number
  #nowMs = 0
  #turnStartMs = 0

  constructor(stepMs: number) {
    this.#stepMs = stepMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return (this.#nowMs += this.#stepMs)
  }

  turnMs(): number {
    return this.monotonicMs() - this.#turnStartMs
  }

  after(_: number, callback: () => void): Timer {
    this.timers.push(() => {
      this.#turnStartMs = this.#nowMs
      callback()
    })
    return { cancel: () => {} }
  }
}

interface Handler {
  onAdd(object: Node | Pod): void
  onDelete(object: Node | Pod): void
  onUpdate(before: Node | Pod, object: Node | Pod): void
}

function schedulerWith(clock: Clock) {
  const handlers = new Map<string, Handler>()
  const lister = { list: () => [], get: () => undefined, byIndex: () => [] }
  const informers = {
    informer: ({ resource }: { resource: string }) => ({
      lister,
      addHandler: (handler: Handler) => handlers.set(resource, handler),
      addIndex: () => {},
    }),
  } as unknown as InformerFactory
  const binding = new Map<string, PromiseWithResolvers<void>>()
  const deleted: string[] = []
  const patched: [name: string, status: object | undefined][] = []
  const client = {
    resource: () => ({
      createSubresource: (name: string) => {
        const under = Promise.withResolvers<void>()
        binding.set(name, under)
        return under.promise
      },
      patch: async (name: string, { value }: { value: { status?: object } }) => {
        patched.push([name, value.status])
        return {}
      },
      delete: async (name: string) => void deleted.push(name),
    }),
  } as unknown as Client
  const scheduler = new Scheduler({
    client,
    informers,
    clock,
    random: new SeededRandom('scheduler'),
    logger: silentLogger,
    recorder: { record: () => {} } as never,
  })
  const add = (type: { readonly resource: string }, object: Node | Pod): void =>
    handlers.get(type.resource)!.onAdd(object)
  const change = (before: Pod, after: Pod): void =>
    handlers.get(resources.pods.resource)!.onUpdate(before, after)
  const remove = (type: { readonly resource: string }, object: Node | Pod): void =>
    handlers.get(type.resource)!.onDelete(object)
  return { scheduler, binding, add, change, remove, deleted, patched }
}

function world(stepMs: number) {
  const clock = new BusyClock(stepMs)
  const { scheduler, binding, add } = schedulerWith(clock)
  for (let at = 0; at < 5; at++) add(resources.nodes, node({ name: `n${at}` }))
  for (let at = 0; at < 100; at++) add(resources.pods, pod({ name: `p${at}` }))
  const next = async (): Promise<void> => {
    clock.timers.shift()?.()
    for (let turns = 0; turns < 20; turns++) await Promise.resolve()
  }
  return { clock, scheduler, binding, next }
}

test('the queue is worked off in turns: after 10 ms others have theirs', async () => {
  const { scheduler, binding, next } = world(3)
  scheduler.start(new AbortController().signal)
  await next()
  const first = binding.size
  assert.ok(first > 0 && first < 10, `${first} pods in the first turn`)
  await next()
  assert.ok(binding.size > first && binding.size < 20, `${binding.size} pods in two turns`)
})

test('only so many bindings are under way; the next follow as they end', async () => {
  const { scheduler, binding, next } = world(0)
  scheduler.start(new AbortController().signal)
  await next()
  assert.equal(binding.size, 8)
  for (const { resolve } of binding.values()) resolve()
  for (let turns = 0; turns < 40; turns++) await Promise.resolve()
  assert.equal(binding.size, 16)
})

test('the room of a pod whose binding fails is free at once for those that found none', async () => {
  const clock = testClock()
  const { scheduler, binding, add } = schedulerWith(clock)
  const asking = (name: string): Pod => {
    const requests = { cpu: '1' }
    return pod({ name, spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
  }
  add(resources.nodes, node({ name: 'n', allocatable: { cpu: '1', pods: '10' } }))
  for (const name of ['first', 'second']) add(resources.pods, asking(name))
  const stopped = new AbortController()
  scheduler.start(stopped.signal)
  await clock.advance(10_000)
  assert.deepEqual([...binding.keys()], ['first'])
  binding.get('first')!.reject(new Error('refused'))
  await clock.advance(100)
  assert.deepEqual([...binding.keys()], ['first', 'second'])
  stopped.abort()
})

test('a pod whose claim for devices is not recorded yet waits for that alone, not for a back-off', async () => {
  const clock = testClock()
  const { scheduler, binding, add, change } = schedulerWith(clock)
  scheduler.start(new AbortController().signal)
  add(resources.nodes, node({ name: 'n' }))
  const spec = {
    containers: [{ name: 'c', image: 'x' }],
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }],
  }
  const created = pod({ spec })
  add(resources.pods, created)
  await clock.advance(10)
  assert.equal(binding.size, 0)
  // That the template makes none is an answer too.
  change(created, pod({ spec, status: { resourceClaimStatuses: [{ name: 'gpu' }] } }))
  await clock.advance(0)
  assert.equal(binding.size, 1)
})

test('a node that goes may have been the emptiest domain: who waited for it is tried again', async () => {
  const clock = testClock()
  const { scheduler, binding, add, remove } = schedulerWith(clock)
  const spread = (name: string, nodeName?: string): Pod =>
    pod({
      name,
      labels: { app: 'web' },
      spec: {
        ...(nodeName === undefined ? {} : { nodeName }),
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
      },
    })
  const cordoned = node({ name: 'b', labels: { zone: 'b' }, spec: { unschedulable: true } })
  for (const each of [node({ name: 'a', labels: { zone: 'a' } }), cordoned])
    add(resources.nodes, each)
  add(resources.pods, spread('there', 'a'))
  add(resources.pods, spread('waiting'))
  const stopped = new AbortController()
  scheduler.start(stopped.signal)
  await clock.advance(20_000)
  assert.deepEqual([...binding.keys()], [])
  remove(resources.nodes, cordoned)
  await clock.advance(10)
  assert.deepEqual([...binding.keys()], ['waiting'])
  stopped.abort()
})

test('a pod that takes less in its place makes room: who found none is tried again', async () => {
  const clock = testClock()
  const { scheduler, binding, add, change, patched } = schedulerWith(clock)
  const asking = (name: string, cpu: string, nodeName?: string): Pod => {
    const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu } } }]
    return pod({ name, spec: { containers, ...(nodeName === undefined ? {} : { nodeName }) } })
  }
  add(resources.nodes, node({ name: 'n', allocatable: { cpu: '2', pods: '10' } }))
  const large = asking('placed', '1500m', 'n')
  add(resources.pods, large)
  add(resources.pods, asking('waiting', '1'))
  const stopped = new AbortController()
  scheduler.start(stopped.signal)
  await clock.advance(20_000)
  const larger = asking('placed', '2', 'n')
  change(large, larger)
  await clock.advance(10)
  assert.deepEqual([binding.size, patched.length], [0, 1])
  change(larger, asking('placed', '1', 'n'))
  await clock.advance(10)
  assert.deepEqual([...binding.keys()], ['waiting'])
  stopped.abort()
})

test('a victim that is on its way out already is left alone, and others keep what they were promised there', async () => {
  const clock = testClock()
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  for (const leaving of [{}, metadata]) {
    const { scheduler, add, deleted, patched } = schedulerWith(clock)
    const asking = (name: string, priority: number, more: object = {}): Pod => {
      const requests = { cpu: '1' }
      const containers = [{ name: 'c', image: 'x', resources: { requests } }]
      return pod({ name, spec: { priority, containers, ...more } })
    }
    add(resources.nodes, node({ name: 'n', allocatable: { cpu: '1', pods: '10' } }))
    const victim = asking('victim', 0, { nodeName: 'n' })
    add(resources.pods, { ...victim, metadata: { ...victim.metadata, ...leaving } })
    const promised = asking('promised', 50)
    add(resources.pods, { ...promised, status: { nominatedNodeName: 'n' } })
    add(resources.pods, asking('important', 100))
    const stopped = new AbortController()
    scheduler.start(stopped.signal)
    await clock.advance(100)
    const isLeaving = leaving === metadata
    assert.deepEqual(new Set(deleted), new Set(isLeaving ? [] : ['victim']))
    const lost = patched.filter(
      ([name, status]) =>
        name === 'promised' && JSON.stringify(status) === '{"nominatedNodeName":null}',
    )
    assert.equal(lost.length > 0, !isLeaving)
    stopped.abort()
  }
})

test('what goes wrong with one pod keeps no other from its node, nor ends the process', async () => {
  const clock = testClock()
  const { scheduler, binding, add, patched } = schedulerWith(clock)
  for (const name of ['n0', 'n1']) add(resources.nodes, node({ name }))
  const labelSelector = { matchExpressions: [{ key: 'a', operator: 'Wrong' as 'In' }] }
  const broken = { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule', labelSelector }
  const controller = {
    apiVersion: 'v1',
    kind: 'constructor',
    name: 'x',
    uid: 'x',
    controller: true,
  }
  add(
    resources.pods,
    pod({ name: 'broken', spec: { topologySpreadConstraints: [broken as never] } }),
  )
  const owned = pod({ name: 'owned' })
  const metadata = { ...owned.metadata, ownerReferences: [controller] }
  add(resources.pods, { ...owned, metadata })
  scheduler.start(new AbortController().signal)
  await clock.advance(0)
  assert.deepEqual([...binding.keys()], ['owned'])
  assert.deepEqual(
    patched.map(([name]) => name),
    ['broken'],
  )
})
