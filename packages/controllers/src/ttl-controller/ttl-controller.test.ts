import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { ttlLogic, ttlController } from './index.ts'
import { reconcile } from './reconcile.ts'
import { TtlSteps } from './ttl-steps.ts'

function node(annotations?: Record<string, string>): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', annotations } }
}

const ttl = (text: string) => ({ 'node.alpha.kubernetes.io/ttl': text })

test('Given no annotations, or another annotation, or the ttl with another value, when patched, then the patch body holds only the ttl key', () => {
  for (const annotations of [undefined, { other: 'x' }, ttl('10')]) {
    assert.deepEqual(drive(reconcile(node(annotations), 300)).writes, [
      {
        verb: 'patch',
        type: resources.nodes,
        namespace: undefined,
        name: 'n',
        patch: { type: 'strategic', value: { metadata: { annotations: ttl('300') } } },
        subresource: undefined,
      },
    ])
  }
})

const needed: readonly [string | undefined, number, boolean][] = [
  [undefined, 0, true],
  ['0', 0, false],
  ['15', 15, false],
  ['015', 15, false],
  ['+15', 15, false],
  [' 15', 15, true],
  ['15', 0, true],
  ['0', 15, true],
  ['15s', 15, true],
  ['', 0, true],
  ['1e1', 10, true],
]
test('Given annotation missing and desired 0, then one PATCH; equal value: none; different value: one PATCH', () => {
  for (const [text, desired, patched] of needed) {
    const { writes } = drive(reconcile(node(text === undefined ? {} : ttl(text)), desired))
    assert.equal(writes.length, patched ? 1 : 0, `${text} and ${desired}`)
  }
})

test('a refused patch is returned for a retry', () => {
  const gone = refused(404, 'NotFound')
  assert.ok(!gone.ok)
  assert.deepEqual(drive(reconcile(node(), 0), { onWrite: () => gone }).result, {
    error: gone.error,
  })
})

function after(nodes: number, step: number, event: 'added' | 'deleted'): number {
  const steps = new TtlSteps(nodes, step)
  steps[event]()
  return steps.ttlSeconds
}

test('Given step 0 and 0, 99, 100 nodes before an add, then TTL 0, 0, 15', () => {
  assert.deepEqual(
    [0, 99, 100].map((nodes) => after(nodes, 0, 'added')),
    [0, 0, 15],
  )
})

test('Given step 1 and a delete at 101, 91, 90 nodes, then 15, 15, 0; an add at 91: 15', () => {
  assert.deepEqual(
    [101, 91, 90].map((nodes) => after(nodes, 1, 'deleted')),
    [15, 15, 0],
  )
  assert.equal(after(91, 1, 'added'), 15)
})

test('Given step 4 and a delete at 1800 nodes, then 60; at 10000 nodes: 300', () => {
  assert.deepEqual([after(1_800, 4, 'deleted'), after(10_000, 4, 'deleted')], [60, 300])
})

test('a cluster that loses its last node stays at the first step', () => {
  assert.equal(after(1, 0, 'deleted'), 0)
})

test('each step begins and ends where the table says', () => {
  const up = [100, 500, 1_000, 2_000].map((nodes, step) => [
    after(nodes - 1, step, 'added'),
    after(nodes, step, 'added'),
  ])
  assert.deepEqual(up, [
    [0, 15],
    [15, 30],
    [30, 60],
    [60, 300],
  ])
  const down = [90, 450, 900, 1_800].map((nodes, step) => [
    after(nodes + 1, step + 1, 'deleted'),
    after(nodes, step + 1, 'deleted'),
  ])
  assert.deepEqual(down, [
    [15, 0],
    [30, 15],
    [60, 30],
    [300, 60],
  ])
})

test('nodes are counted by events: adds and deletes, tombstones included, once each; updates and syncs count nothing', () => {
  const informers = fakeInformers([node(ttl('0'))])
  const logic = ttlLogic({ informers })
  const [watch] = logic.watches
  const wanted = (): string | undefined => {
    const [write] = drive(logic.reconcile(logic.observe('n')!)).writes
    return write?.verb === 'patch' ? JSON.stringify(write.patch) : undefined
  }
  for (let count = 0; count < 100; count++) {
    assert.deepEqual([...watch!.onAdd!(node())], ['n'])
    assert.deepEqual([...watch!.onUpdate!(node(), node())], ['n'])
  }
  assert.equal(wanted(), undefined)
  watch!.onAdd!(node())
  assert.match(wanted() ?? '', /"15"/)
  const tombstone = new DeletedFinalStateUnknown<Node>('n', undefined)
  for (let count = 0; count < 11; count++) {
    assert.deepEqual([...watch!.onDelete!(count % 2 === 0 ? tombstone : node())], [])
  }
  assert.match(wanted() ?? '', /"15"/)
  watch!.onDelete!(node())
  assert.equal(wanted(), undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = ttlController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['ttl-controller', ['ttl'], 'ttl-controller', true],
  )
})
