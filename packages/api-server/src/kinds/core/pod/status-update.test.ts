/** Statuses of pods. Recorded from kube-apiserver 1.36.2 (tests/recordings/vectors/pods.json has more). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { context, created, decoded, statusErrors } from '../../fixtures.ts'
import { pod as rules } from './index.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }

const ended = (name: string, exitCode: number): Draft => ({
  name,
  state: { terminated: { exitCode } },
})
const running = (name: string): Draft => ({ name, state: { running: {} } })
const place = (list: string, index: number): string =>
  `status.${list}[${index}].state: Forbidden: may not be transitioned to non-terminated state`

/** Whether containers with these fields may run again after these exit codes, in a pod with this policy. */
function restarts(restartPolicy: string, fields: Draft, codes: readonly number[]): boolean[] {
  return ['containers', 'initContainers'].flatMap((list) =>
    codes.map((code) => {
      const spec = {
        containers: [{ name: 'b' }],
        restartPolicy,
        [list]: [{ name: 'a', ...fields }],
      }
      const statuses = list === 'containers' ? 'containerStatuses' : 'initContainerStatuses'
      const before = { spec, status: { [statuses]: [ended('a', code)] } }
      const after = { spec, status: { [statuses]: [running('a')] } }
      const errors = statusErrors(POD, before, after)
      if (errors.length > 0) assert.deepEqual(errors, [place(statuses, 0)])
      return errors.length === 0
    }),
  )
}

test('Given a container that has ended, then its rules, its own policy or that of the pod say whether it may run again.', () => {
  const codes = [0, 1, 42]
  const only = (...allowed: number[]): boolean[] => {
    const one = codes.map((code) => allowed.includes(code))
    return [...one, ...one]
  }
  const rule = (operator: string, ...values: number[]): Draft => ({
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values } }],
  })
  for (const pod of ['Always', 'OnFailure', 'Never']) {
    assert.deepEqual(restarts(pod, { restartPolicy: 'Always' }, codes), only(...codes), pod)
    assert.deepEqual(restarts(pod, { restartPolicy: 'OnFailure' }, codes), only(1, 42), pod)
    const never = { restartPolicy: 'Never' }
    assert.deepEqual(restarts(pod, never, codes), only(), pod)
    assert.deepEqual(restarts(pod, { ...never, ...rule('In', 42) }, codes), only(42), pod)
    assert.deepEqual(restarts(pod, { ...never, ...rule('NotIn', 0, 42) }, codes), only(1), pod)
  }
  assert.deepEqual(restarts('Always', {}, codes), only(...codes))
  assert.deepEqual(restarts('OnFailure', {}, codes), only(1, 42))
  assert.deepEqual(restarts('Never', {}, codes), only())
})

const statuses = (of: (name: string) => Draft): Draft => ({
  containerStatuses: ['a', 'x'].map(of),
  initContainerStatuses: ['i', 'x'].map(of),
  ephemeralContainerStatuses: ['d'].map(of),
})

test('Given a container that nobody knows or that is there for debugging, then it stays ended; told at its old place, as often as it runs.', () => {
  const spec = { restartPolicy: 'Always', containers: [{ name: 'a' }] }
  const before = { spec, status: statuses((name) => ended(name, 1)) }
  const after = { spec, status: statuses(running) }
  assert.deepEqual(statusErrors(POD, before, after), [
    place('containerStatuses', 1),
    place('initContainerStatuses', 0),
    place('initContainerStatuses', 1),
    place('ephemeralContainerStatuses', 0),
  ])
  const containerStatuses = [running('x'), ended('x', 1), running('x')]
  assert.deepEqual(statusErrors(POD, before, { spec, status: { containerStatuses } }), [
    place('containerStatuses', 1),
    place('containerStatuses', 1),
  ])
})

test('Given a rule that restarts all containers, then all but those for debugging may run again.', () => {
  const restartPolicyRules = [
    { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
  ]
  for (const list of ['containers', 'initContainers']) {
    const ruled = { name: 'r', restartPolicy: 'Never', restartPolicyRules }
    const spec = { restartPolicy: 'Never', containers: [{ name: 'a' }], [list]: [ruled] }
    const before = { spec, status: statuses((name) => ended(name, 0)) }
    const after = { spec, status: statuses(running) }
    assert.deepEqual(statusErrors(POD, before, after), [place('ephemeralContainerStatuses', 0)])
  }
})

test('Given a writer that knows no observedGeneration, then what others wrote stays, of each condition too.', () => {
  const generations = (before: Draft[], after: Draft[]): unknown[] => {
    const stored = { ...created(POD, { spec: {} }), status: { conditions: before } }
    const { status } = decoded(POD, { status: { conditions: after } })
    const draft: Draft = { ...stored, status }
    rules.status!.prepareForUpdate!(draft, stored, context)
    return draft.status.conditions.map((one: Draft) => one.observedGeneration)
  }
  const a = (observedGeneration?: number): Draft => ({ type: 'A', observedGeneration })
  const b = (observedGeneration?: number): Draft => ({ type: 'B', observedGeneration })
  assert.deepEqual(generations([a(3), b(5)], [b(), { type: 'C' }, a(0)]), [5, undefined, 3])
  assert.deepEqual(generations([a(3), b(5)], [a(2), b(6)]), [2, 6])
  assert.deepEqual(generations([], [a()]), [undefined])
  // Of one type the nth goes on from the nth.
  assert.deepEqual(generations([a(2), a(9)], [a(), a(), a()]), [2, 9, undefined])
  assert.deepEqual(generations([a(2), a(9)], [a(5), a()]), [5, 9])
})
