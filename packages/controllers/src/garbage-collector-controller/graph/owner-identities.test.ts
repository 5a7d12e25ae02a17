import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestGraph, names, object, ref } from '../fixtures.ts'
import { identityOfReference } from './identity.ts'
import { alternateOwnerIdentity, partitionDependents } from './owner-identities.ts'

function dependents(graph: TestGraph) {
  return graph.node('rc').dependents
}

test('a dependent with two references to one uid can agree and disagree', () => {
  const graph = new TestGraph()
  graph.add(object('both', { owners: [ref('rc'), ref('rc', { apiVersion: 'v2' })] }))
  const parts = partitionDependents(dependents(graph), identityOfReference(ref('rc'), 'ns1'))
  assert.deepEqual([names(parts.matching), names(parts.other)], [['both'], ['both']])
})

test('dependents in other namespaces disagree with a namespaced owner and may agree with a cluster-scoped one', () => {
  const graph = new TestGraph()
  graph.add(object('a', { namespace: 'a', owners: [ref('rc')] }))
  graph.add(object('b', { namespace: 'b', owners: [ref('rc')] }))
  const inA = partitionDependents(dependents(graph), identityOfReference(ref('rc'), 'a'))
  assert.deepEqual([names(inA.matching), names(inA.other)], [['a'], ['b']])
  const anywhere = partitionDependents(dependents(graph), identityOfReference(ref('rc'), ''))
  assert.deepEqual([names(anywhere.matching), names(anywhere.other)], [['a', 'b'], []])
})

test('Given child-first/owner-first/wrong-version mixes, then the alternate identity is the first after the absent one by kind, apiVersion, namespace, name, uid, else the first', () => {
  const graph = new TestGraph()
  const claims = [
    ref('rc', { kind: 'B', name: 'b' }),
    ref('rc', { kind: 'B', name: 'a' }),
    ref('rc', { kind: 'C' }),
    ref('rc', { kind: 'A' }),
  ]
  for (const [index, claim] of claims.entries()) graph.add(object(`c${index}`, { owners: [claim] }))
  const next = (claim: (typeof claims)[number]) => {
    const found = alternateOwnerIdentity(dependents(graph), identityOfReference(claim, 'ns1'))
    return found && `${found.kind} ${found.name}`
  }
  assert.equal(next(claims[3]!), 'B a')
  assert.equal(next(claims[1]!), 'B b')
  assert.equal(next(claims[0]!), 'C rc')
  assert.equal(next(claims[2]!), 'A rc', 'round to the first')
})

test('an absent cluster-scoped identity is not proposed again from a namespace', () => {
  const graph = new TestGraph()
  graph.add(object('a', { namespace: 'a', owners: [ref('rc', { kind: 'Node' })] }))
  const node = (name: string) => identityOfReference(ref('rc', { kind: 'Node', name }), '')
  assert.equal(alternateOwnerIdentity(dependents(graph), node('rc')), undefined)
  const other = alternateOwnerIdentity(dependents(graph), node('x'))
  assert.deepEqual([other?.name, other?.namespace], ['rc', ''])
})

test('the same claim from another namespace is another identity of a namespaced owner', () => {
  const graph = new TestGraph()
  graph.add(object('a', { namespace: 'a', owners: [ref('rc')] }))
  graph.add(object('b', { namespace: 'b', owners: [ref('rc')] }))
  const found = alternateOwnerIdentity(dependents(graph), identityOfReference(ref('rc'), 'a'))
  assert.equal(found?.namespace, 'b')
})
