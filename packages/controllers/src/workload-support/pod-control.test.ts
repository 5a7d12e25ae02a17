import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { pod, refused, replicaSet } from './fixtures.ts'
import { createPods, deletePods, podFromTemplate, podNamePrefix } from './pod-control.ts'

const owner = replicaSet()

test('labels, annotations, finalizers and spec of the template are copied, with one controlling owner', () => {
  const template = {
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['e/f'], name: 'ignored' },
    spec: { containers: [{ name: 'c' }] },
  }
  assert.deepEqual(podFromTemplate(template, owner, resources.replicasets), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'rs-',
      namespace: 'ns',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['e/f'],
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'rs',
          uid: 'rs-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { containers: [{ name: 'c' }] },
  })
})

test('what the template does not have the pod does not have either', () => {
  const { metadata, ...bare } = podFromTemplate({}, owner, resources.replicasets)
  assert.deepEqual(bare, { apiVersion: 'v1', kind: 'Pod' })
  assert.deepEqual(Object.keys(metadata ?? {}), ['generateName', 'namespace', 'ownerReferences'])
})

test('the name prefix is the owner with a dash, or without where a pod name could not begin so', () => {
  assert.equal(podNamePrefix('web'), 'web-')
  assert.equal(podNamePrefix('Web'), 'Web')
  assert.equal(podNamePrefix('a'.repeat(253)), 'a'.repeat(253))
})

test('Given a template without labels, when creating, then no request is sent and an error is returned', () => {
  const bare = podFromTemplate({ spec: { containers: [] } }, owner, resources.replicasets)
  const driven = drive(createPods(owner, [bare], 'ns/rs'))
  assert.equal(driven.effects.length, 0)
  assert.ok(!driven.result[0]!.ok)
  assert.equal((driven.result[0]!.error as Error).message, 'unable to create pods, no labels')
  assert.equal(driven.result[0]!.attempted, false)
  assert.deepEqual(drive(createPods(owner, [pod(), bare], 'ns/rs')).writes, [])
})

test('each created pod is an event', () => {
  const driven = drive(createPods(owner, [pod({ name: 'x' })], 'ns/rs'))
  assert.deepEqual(driven.events, [
    { type: 'Normal', reason: 'SuccessfulCreate', message: 'Created pod: x' },
  ])
})

test('a failed creation is a warning, one in a terminating namespace is none', () => {
  const failing = drive(createPods(owner, [pod()], 'ns/rs'), {
    onWrite: () => refused(403, 'Forbidden', 'no quota'),
  })
  assert.deepEqual(failing.events, [
    { type: 'Warning', reason: 'FailedCreate', message: 'Error creating: no quota' },
  ])
  const terminating = drive(createPods(owner, [pod()], 'ns/rs'), {
    onWrite: () => refused(403, 'Forbidden', 'going', 'NamespaceTerminating'),
  })
  assert.deepEqual(terminating.events, [])
})

test('pods are created under expectations that are set with the writes and kept for a terminating namespace', () => {
  const [effect] = drive(createPods(owner, [pod(), pod()], 'ns/rs')).effects
  assert.ok(effect?.effect === 'writes')
  assert.equal(effect.order, 'slow-start')
  assert.ok(effect.expectations?.kind === 'creations')
  assert.equal(effect.expectations.key, 'ns/rs')
  const terminating = refused(403, 'Forbidden', 'x', 'NamespaceTerminating')
  assert.ok(!terminating.ok && effect.expectations.keepOnError?.(terminating.error))
  const denied = refused(403, 'Forbidden')
  assert.ok(!denied.ok && !effect.expectations.keepOnError?.(denied.error))
})

test('pods that are one object are said to be', () => {
  const repeatedOf = (pods: readonly Pod[]): unknown[] => {
    const [effect] = drive(createPods(owner, pods, 'ns/rs')).effects
    assert.ok(effect?.effect === 'writes')
    return effect.writes.map((write) => write.verb === 'create' && write.repeated)
  }
  const one = pod()
  assert.deepEqual(repeatedOf([one, one]), [true, true])
  assert.deepEqual(repeatedOf([one, pod()]), [false, false])
  assert.deepEqual(repeatedOf([one]), [false])
})

test('pods are deleted all at once, by name, without preconditions, under expectations of their keys', () => {
  const driven = drive(deletePods(owner, [pod({ name: 'x' }), pod({ name: 'y' })], 'ns/rs'))
  assert.deepEqual(driven.effects[0], {
    effect: 'writes',
    order: 'parallel',
    writes: [
      { verb: 'delete', type: resources.pods, namespace: 'ns', name: 'x', options: undefined },
      { verb: 'delete', type: resources.pods, namespace: 'ns', name: 'y', options: undefined },
    ],
    expectations: { kind: 'deletions', key: 'ns/rs', dependents: ['ns/x', 'ns/y'] },
  })
  assert.deepEqual(
    driven.result.map(({ ok }) => ok),
    [true, true],
  )
  assert.deepEqual(
    driven.events.map(({ reason, message }) => [reason, message]),
    [
      ['SuccessfulDelete', 'Deleted pod: x'],
      ['SuccessfulDelete', 'Deleted pod: y'],
    ],
  )
})

test('without a key nothing is expected of deletions', () => {
  const [effect] = drive(deletePods(owner, [pod({ name: 'x' })])).effects
  assert.ok(effect?.effect === 'writes')
  assert.equal(effect.expectations, undefined)
})

test('Given a pod already gone, when deleting, then a NotFound error is returned and no FailedDelete event is emitted', () => {
  const gone = refused(404, 'NotFound')
  const driven = drive(deletePods(owner, [pod()], 'ns/rs'), { onWrite: () => gone })
  assert.deepEqual(driven.result, [gone])
  assert.deepEqual(driven.events, [])
})

test('another error of a deletion is an event and is wrapped', () => {
  const refusal = refused(500, 'InternalError', 'broken')
  const driven = drive(deletePods(owner, [pod()], 'ns/rs'), { onWrite: () => refusal })
  assert.deepEqual(driven.events, [
    { type: 'Warning', reason: 'FailedDelete', message: 'Error deleting: broken' },
  ])
  assert.ok(!driven.result[0]!.ok)
  assert.equal((driven.result[0]!.error as Error).message, 'unable to delete pods: broken')
  assert.ok(!refusal.ok && (driven.result[0]!.error as Error).cause === refusal.error)
})
