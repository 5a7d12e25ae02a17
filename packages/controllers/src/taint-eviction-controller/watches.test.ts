import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { EventHandler } from '@gyropilot/runtime'
import { node, noExecute, pod, tolerating } from './fixtures.ts'
import { itemOfKey, nodeHandler, podHandler } from './watches.ts'

interface World {
  readonly tainted?: string
  readonly waiting?: string
}

function told({ tainted, waiting }: World, tell: (handler: EventHandler<Pod>) => void): string[] {
  const keys: string[] = []
  const concerns = {
    hasNoExecuteTaints: (nodeName: string) => nodeName === tainted,
    isWaiting: (namespace: string, name: string) => `${namespace}/${name}` === waiting,
  }
  tell(podHandler(concerns, (key) => keys.push(key)))
  return keys
}

const updates: readonly (readonly [string, Pod, Pod, readonly string[]])[] = [
  ['that says the same', pod('p'), pod('p'), []],
  ['that was bound', pod('p', { node: '' }), pod('p'), ['test/p/n']],
  ['with other tolerations', pod('p'), pod('p', { tolerations: [tolerating('a')] }), ['test/p/n']],
  ['of another pod of the name', pod('p', { uid: '1' }), pod('p', { uid: '2' }), ['test/p/n']],
  [
    'of another one that is not bound',
    pod('p', { uid: '1' }),
    pod('p', { uid: '2', node: '' }),
    ['test/p/'],
  ],
  [
    'with other tolerations of one that is not bound',
    pod('p', { node: '' }),
    pod('p', { node: '', tolerations: [tolerating('a')] }),
    ['test/p/'],
  ],
]
for (const [title, previous, current, expected] of updates) {
  test(`an update ${title}: ${expected.length === 0 ? 'not looked at' : 'looked at where it matters'}`, () => {
    const update = (world: World): string[] =>
      told(world, (handler) => handler.onUpdate?.(previous, current))
    const isBound = current.spec?.nodeName !== undefined
    assert.deepEqual(update({ waiting: 'test/p' }), expected)
    assert.deepEqual(update({ tainted: 'n' }), isBound ? expected : [])
    assert.deepEqual(update({ tainted: 'm', waiting: 'test/q' }), [])
  })
}

test('a new or deleted pod is looked at where its node has taints, or one of its name waits', () => {
  for (const tell of [
    (handler: EventHandler<Pod>) => handler.onAdd?.(pod('p'), true),
    (handler: EventHandler<Pod>) => handler.onDelete?.(pod('p')),
  ]) {
    assert.deepEqual(told({ tainted: 'n' }, tell), ['test/p/n'])
    assert.deepEqual(told({ waiting: 'test/p' }, tell), ['test/p/n'])
    assert.deepEqual(told({ tainted: 'm', waiting: 'test/q' }, tell), [])
  }
})

test('a deleted pod is looked at as it was last known, if it was', () => {
  const keys = told({ waiting: 'test/p' }, ({ onDelete }) => {
    onDelete?.(new DeletedFinalStateUnknown<Pod>('test/p', pod('p')))
    onDelete?.(new DeletedFinalStateUnknown<Pod>('test/p', undefined))
  })
  assert.deepEqual(keys, ['test/p/n'])
})

test('a key is the pod and its node', () => {
  assert.deepEqual(itemOfKey('ns/p/n'), { namespace: 'ns', name: 'p', nodeName: 'n' })
  assert.deepEqual(itemOfKey('ns/p/'), { namespace: 'ns', name: 'p', nodeName: '' })
})

test('a node is looked at when it comes, goes, or has other NoExecute taints', () => {
  const keys: string[] = []
  const { onAdd, onUpdate, onDelete } = nodeHandler((key) => keys.push(key))
  const told = (tell: () => void): readonly string[] => {
    tell()
    return keys.splice(0)
  }
  const noSchedule = { ...noExecute('a'), effect: 'NoSchedule' } as const
  assert.deepEqual(
    told(() => onAdd?.(node('n'), true)),
    ['n'],
  )
  assert.deepEqual(
    told(() => onUpdate?.(node('n'), node('n', noSchedule))),
    [],
  )
  assert.deepEqual(
    told(() => onUpdate?.(node('n'), node('n', noExecute('a')))),
    ['n'],
  )
  assert.deepEqual(
    told(() => onDelete?.(node('n'))),
    ['n'],
  )
  assert.deepEqual(
    told(() => onDelete?.(new DeletedFinalStateUnknown<Node>('m', undefined))),
    ['m'],
  )
})
