import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { node } from '../cloud-support/fixtures.ts'
import { concernsBackends, isBackend, isIncluded, namesText, sameBackends } from './backends.ts'
import { AUTOSCALER_TAINT, EXCLUDE_LABEL } from './config.ts'

const labelled = (value: string): Node => node('n', { labels: { [EXCLUDE_LABEL]: value } })
const marked: Node = { ...node('n'), metadata: { name: 'n', deletionTimestamp: 'now' } }
const leaving = node('n', { taints: [{ key: AUTOSCALER_TAINT, effect: 'NoSchedule' }] })

const values: readonly (readonly [string, boolean])[] = [
  ['false', true],
  ['False', true],
  ['FALSE', true],
  ['f', true],
  ['F', true],
  ['0', true],
  ['', false],
  ['true', false],
  ['1', false],
  ['no', false],
  ['fALSE', false],
  ['false ', false],
]

test('Given labels, taints, readiness, deletion, then the predicates decide as defined', () => {
  for (const [value, included] of values) {
    assert.equal(isIncluded(labelled(value)), included, value)
    assert.equal(isBackend(labelled(value)), included, value)
  }
  assert.equal(isBackend(node('n')), true)
  assert.equal(isBackend(node('n', { ready: 'False' })), true)
  assert.equal(isBackend(node('n', { taints: [{ key: 'other', effect: 'NoExecute' }] })), true)
  assert.equal(isBackend(leaving), false)
  assert.equal(isBackend(marked), false)
  assert.equal(isIncluded(marked), true)
})

test('Given old and new nodes, then only included and providerID changes enqueue', () => {
  const plain = node('n')
  assert.equal(concernsBackends(plain, plain), false)
  assert.equal(concernsBackends(plain, labelled('')), true)
  assert.equal(concernsBackends(labelled('true'), plain), true)
  assert.equal(concernsBackends(plain, labelled('false')), false)
  assert.equal(concernsBackends(plain, node('n', { providerId: 'x://1' })), true)
  for (const other of [
    leaving,
    marked,
    node('n', { ready: 'False' }),
    node('n', { labels: { a: 'b' } }),
  ])
    assert.equal(concernsBackends(plain, other), false)
})

test('Given node lists that differ in providerID, then they are unequal', () => {
  const [a, b] = [node('a', { providerId: 'x://a' }), node('b')]
  assert.equal(sameBackends([a, b], [b, a]), true)
  assert.equal(sameBackends([a], [node('a', { providerId: 'x://other' })]), false)
  assert.equal(sameBackends([b], [node('b', { providerId: '' })]), true)
  assert.equal(sameBackends([a], [b]), false)
  assert.equal(sameBackends([a], [a, b]), false)
  assert.equal(sameBackends([], []), true)
})

test('names of nodes are sorted, the first twenty of them', () => {
  assert.equal(namesText([]), '[]')
  assert.equal(namesText([node('b'), node('a')]), '[a b]')
  const many = Array.from({ length: 22 }, (_, at) => node(`n${99 - at}`))
  const first = Array.from({ length: 20 }, (_, at) => `n${80 + at}`).join(' ')
  assert.equal(namesText(many), `[${first} <2 more>]`)
  assert.equal(namesText(many.slice(0, 20)), `[${first}]`)
})
