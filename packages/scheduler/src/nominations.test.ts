import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { Nominations } from './nominations.ts'

function podOf(nominatedNodeName?: string, given: Partial<Pod> = {}): Pod {
  return {
    metadata: { name: 'p', uid: 'u' },
    spec: { containers: [] },
    status: { nominatedNodeName },
    ...given,
  }
}

test('a promise holds before its write is seen, whatever else happens to the pod', () => {
  const nominations = new Nominations()
  assert.equal(nominations.isEmpty, true)
  nominations.promise(podOf(), 'n1')
  nominations.observe(podOf(), podOf())
  assert.deepEqual(
    nominations.on('n1').map(({ metadata }) => metadata?.uid),
    ['u'],
  )
  assert.deepEqual(nominations.on('n2'), [])
})

test('a promise that was written ends when somebody takes it out of the status', () => {
  const nominations = new Nominations()
  nominations.observe(podOf('n1'), podOf())
  assert.equal(nominations.on('n1').length, 1)
  nominations.observe(podOf(), podOf('n1'))
  assert.equal(nominations.isEmpty, true)
})

test('room is free when its promise ends otherwise than by the binding that was meant, once', () => {
  const bound = (nodeName: string): Pod => podOf('n1', { spec: { containers: [], nodeName } })
  const leaving = podOf('n1', { metadata: { uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' } })
  const frees = (after: Pod, before: Pod): boolean => {
    const nominations = new Nominations()
    nominations.observe(before, undefined)
    return nominations.observe(after, before)
  }
  for (const after of [podOf(), podOf('n2'), bound('n2'), leaving])
    assert.equal(frees(after, podOf('n1')), true)
  for (const after of [podOf('n1'), bound('n1')]) assert.equal(frees(after, podOf('n1')), false)
  assert.equal(frees(bound('n2'), bound('n2')), false)
  assert.equal(frees(leaving, leaving), false)
  assert.equal(frees(podOf('n1'), podOf()), false)
})

test('who is bound or goes has no promise', () => {
  for (const ended of [
    podOf('n1', { spec: { containers: [], nodeName: 'n2' } }),
    podOf('n1', { metadata: { uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  ]) {
    const nominations = new Nominations()
    nominations.promise(podOf(), 'n1')
    nominations.observe(ended, podOf('n1'))
    assert.equal(nominations.isEmpty, true)
  }
})
