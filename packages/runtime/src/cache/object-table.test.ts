import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { keysOf } from '../testing/index.ts'
import { ObjectTable, differenceOf } from './object-table.ts'

const object = (name: string, namespace?: string, version = '1'): KubernetesObject => ({
  metadata: { name, resourceVersion: version, ...(namespace === undefined ? {} : { namespace }) },
})

function table(...objects: readonly KubernetesObject[]): ObjectTable<KubernetesObject> {
  const filled = new ObjectTable<KubernetesObject>()
  for (const one of objects) filled.set(one)
  return filled
}

test('an object takes the place of its namesake, which is answered', () => {
  const [before, after] = [object('a', 'x'), object('a', 'x', '2')]
  const of = table(before, object('a', 'y'), object('a'))
  assert.equal(of.set(after), before)
  assert.equal(of.size, 3)
  assert.equal(of.getByKey('x/a'), after)
  assert.equal(of.counterpartOf(before), after)
  assert.equal(of.getByKey('a')?.metadata?.namespace, undefined)
  assert.equal(of.get('z', 'a'), undefined)
})

test('objects are counted by namespace', () => {
  const of = table(object('a', 'x'), object('b', 'x'), object('a', 'y'), object('c'))
  assert.deepEqual(
    ['x', 'y', '', 'z'].map((namespace) => of.countIn(namespace)),
    [2, 1, 1, 0],
  )
  of.delete('x/a')
  assert.equal(of.countIn('x'), 1)
})

test('a namespace whose last object goes leaves nothing, and can come back', () => {
  const of = table(object('a', 'x'), object('b', 'x'), object('a', 'y'))
  assert.equal(of.delete('x/none'), undefined)
  assert.equal(of.delete('none/a'), undefined)
  assert.equal(of.size, 3)
  assert.equal(of.delete('x/a')?.metadata?.name, 'a')
  assert.deepEqual(of.namespaces(), ['x', 'y'])
  of.delete('x/b')
  assert.deepEqual(of.namespaces(), ['y'])
  assert.deepEqual(of.inNamespace('x'), [])
  of.set(object('c', 'x'))
  assert.deepEqual(keysOf(of.list()), ['x/c', 'y/a'])
  assert.deepEqual(keysOf([...of]), ['x/c', 'y/a'])
  assert.equal(of.size, 2)
})

test('what tells two tables apart is named', () => {
  const all = [object('a', 'x'), object('b')]
  assert.equal(differenceOf(table(...all), table(...all.toReversed())), undefined)
  assert.equal(differenceOf(table(object('b')), table(...all)), 'x/a was not streamed')
  assert.equal(differenceOf(table(...all), table(object('b'))), 'x/a is not in the list')
  assert.equal(
    differenceOf(table(object('a', 'x', '2'), object('b')), table(...all)),
    'x/a was streamed in another state',
  )
})
