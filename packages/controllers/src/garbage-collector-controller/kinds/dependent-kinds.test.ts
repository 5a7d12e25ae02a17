import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestGraph, object, owner, ref } from '../fixtures.ts'

const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget' }
const widget = (name: string) => owner(name, WIDGET)
const toWidget = (name: string) => ref(name, WIDGET)
const PODS = [{ apiVersion: 'v1', kind: 'Pod' }]

const kindsOf = ({ graph }: TestGraph, apiVersion = WIDGET.apiVersion) => [
  ...graph.dependentKinds.of({ apiVersion, kind: 'Widget' }),
]

test('kinds are learned whichever of the two objects is seen first, and for every version of the owner', () => {
  for (const order of [
    [widget('w'), object('child', { owners: [toWidget('w')] })],
    [object('child', { owners: [toWidget('w')] }), widget('w')],
  ]) {
    const graph = new TestGraph()
    assert.deepEqual(kindsOf(graph), [])
    for (const seen of order) graph.add(seen)
    assert.deepEqual(kindsOf(graph), PODS)
    assert.deepEqual(kindsOf(graph, 'example.com/v9'), PODS)
    assert.deepEqual(kindsOf(graph, 'example.org/v1'), [])
  }
})

test('what nobody but a reference claims teaches nothing', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [toWidget('nobody')] }))
  assert.deepEqual(kindsOf(graph), [])
})

test('the kinds of the usual controllers are known from the start', () => {
  const { dependentKinds } = new TestGraph().graph
  const kinds = [...dependentKinds.of({ apiVersion: 'apps/v1', kind: 'StatefulSet' })]
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['Pod', 'ControllerRevision', 'PersistentVolumeClaim'],
  )
})
