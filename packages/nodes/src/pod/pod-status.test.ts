import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { localContainer, localPod } from '../running/local-pod.ts'
import type { ContainerState, LocalPod } from '../running/local-pod.ts'
import { phaseOf, podStatusOf } from './pod-status.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const RUNNING: ContainerState = { state: 'running', startedAtMs: NOW_MS }
const ended = (exitCode: number): ContainerState => ({
  state: 'terminated',
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  startedAtMs: NOW_MS,
  finishedAtMs: NOW_MS,
  containerId: 'containerd://1',
})
const WAITING: ContainerState = { state: 'waiting', reason: 'CrashLoopBackOff' }

function local(
  states: readonly ContainerState[],
  given: Partial<LocalPod> = {},
  policy = 'Always',
) {
  const containers = states.map((_, i) => ({ name: `c${i}`, image: 'x' }))
  const object = pod({ spec: { containers, restartPolicy: policy as 'Always' } })
  const one = Object.assign(localPod(object, NOW_MS), given)
  one.containers.forEach((container, i) => (container.state = states[i]!))
  if (states.some(({ state }) => state !== 'waiting')) one.hasRun = true
  return { object, one }
}

const crashed = (): ReturnType<typeof local> => {
  const made = local([WAITING])
  const end = ended(1)
  if (end.state === 'terminated') made.one.containers[0]!.last = end
  made.one.hasRun = true
  return made
}

const phases: readonly (readonly [string, ReturnType<typeof local>, string])[] = [
  ['nothing has started', local([{ state: 'waiting', reason: 'ContainerCreating' }]), 'Pending'],
  ['all run', local([RUNNING, RUNNING]), 'Running'],
  ['one still waits for its first start', local([RUNNING, WAITING]), 'Pending'],
  ['in back-off after a crash', crashed(), 'Running'],
  ['ended with 0 and restarts', local([ended(0)]), 'Running'],
  ['ended with 0 under Never', local([ended(0)], {}, 'Never'), 'Succeeded'],
  ['ended with 1 under Never', local([ended(1)], {}, 'Never'), 'Failed'],
  ['ended with 1 under OnFailure', local([ended(1)], {}, 'OnFailure'), 'Running'],
  ['terminated by SIGTERM with 0', local([ended(0)], { ending: true }), 'Succeeded'],
  ['terminated by SIGTERM with 143', local([ended(143)], { ending: true }), 'Failed'],
  ['terminated before it started', local([WAITING], { ending: true }), 'Failed'],
  ['being terminated and still running', local([RUNNING], { ending: true }), 'Running'],
]

for (const [what, { object, one }, phase] of phases) {
  test(`a pod whose containers are: ${what} is ${phase}`, () => {
    assert.equal(phaseOf(object, one), phase)
  })
}

test('a terminal phase never changes', () => {
  const { one } = local([RUNNING])
  assert.equal(phaseOf(pod({ status: { phase: 'Failed' } }), one), 'Failed')
})

test('a pod past its deadline, evicted or deleted has not failed while an init container or one for debugging runs', () => {
  const failure = { reason: 'Evicted', message: 'too much' }
  const object = pod({
    spec: {
      initContainers: [{ name: 'i', image: 'x' }],
      containers: [{ name: 'c', image: 'x' }],
      restartPolicy: 'Never',
    },
  })
  const of = (given: Partial<LocalPod>, init: ContainerState, debug: ContainerState) => {
    const one = Object.assign(localPod(object, NOW_MS), { ending: true }, given)
    one.containers[0]!.state = init
    const ephemeral = localContainer({ name: 'd', image: 'x' }, 'ephemeral')
    one.ephemeral.push(Object.assign(ephemeral, { state: debug }))
    const { phase, reason, message, conditions } = podStatusOf(object, one, { hostIps: [] }, NOW_MS)
    const isDisrupted = conditions?.some(({ type }) => type === 'DisruptionTarget')
    return { phase, reason, message, isDisrupted }
  }
  const held = { phase: 'Pending', reason: undefined, message: undefined, isDisrupted: false }
  const evicted = { failure, isEvicted: true }
  assert.deepEqual(of(evicted, RUNNING, ended(0)), held)
  assert.deepEqual(of(evicted, ended(143), RUNNING), held)
  assert.deepEqual(of({}, RUNNING, ended(0)), held)
  const over = { phase: 'Failed', ...failure, isDisrupted: true }
  assert.deepEqual(of(evicted, ended(143), ended(0)), over)
})

test('owned conditions stand in their order after foreign ones, which are kept', () => {
  const { one } = local([RUNNING])
  const gate = { type: 'example.com/gate', status: 'True' as const }
  const object = pod({ status: { phase: 'Pending', conditions: [gate] } })
  const status = podStatusOf(object, one, { hostIps: ['192.168.0.1'] }, NOW_MS)
  assert.deepEqual(
    status.conditions?.map(({ type }) => type),
    [
      'example.com/gate',
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ],
  )
  assert.equal(status.conditions?.at(1)?.observedGeneration, 1)
})

test('all addresses are there, the first one twice; none where it has none yet', () => {
  const { object, one } = local([RUNNING])
  const hostIps = ['192.168.0.1', 'fd00::1']
  const before = podStatusOf(object, one, { hostIps }, NOW_MS)
  assert.equal(before.hostIP, '192.168.0.1')
  assert.deepEqual(before.hostIPs, [{ ip: '192.168.0.1' }, { ip: 'fd00::1' }])
  assert.ok(!('podIP' in before) && !('podIPs' in before))
  one.ips = ['10.1.0.2', 'fd00:1::2']
  const { podIP, podIPs } = podStatusOf(object, one, { hostIps }, NOW_MS)
  assert.equal(podIP, '10.1.0.2')
  assert.deepEqual(podIPs, [{ ip: '10.1.0.2' }, { ip: 'fd00:1::2' }])
})

test('transition times move with the status only', () => {
  const { object, one } = local([RUNNING])
  one.ips = ['10.0.0.2']
  const first = podStatusOf(object, one, { hostIps: ['h'] }, NOW_MS)
  const stored = { ...object, status: first }
  one.containers[0]!.ready = true
  const second = podStatusOf(stored, one, { hostIps: ['h'] }, NOW_MS + 60_000)
  const timeOf = (type: string) =>
    second.conditions?.find((c) => c.type === type)?.lastTransitionTime
  assert.equal(timeOf('Initialized'), '2026-01-01T00:00:00Z')
  assert.equal(timeOf('Ready'), '2026-01-01T00:01:00Z')
})

test('a missing readiness gate keeps a pod unready although its containers are ready', () => {
  const { one } = local([RUNNING])
  one.containers[0]!.ready = true
  const object = pod({ spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } })
  const ready = podStatusOf(object, one, { hostIps: ['h'] }, NOW_MS).conditions?.find(
    (c) => c.type === 'Ready',
  )
  assert.equal(ready?.reason, 'ReadinessGatesNotReady')
  assert.equal(
    ready?.message,
    'corresponding condition of pod readiness gate "example.com/gate" does not exist.',
  )
})

test('unready containers are named', () => {
  const { object, one } = local([RUNNING, RUNNING])
  const status = podStatusOf(object, one, { hostIps: ['h'] }, NOW_MS)
  const message = status.conditions?.find((c) => c.type === 'ContainersReady')?.message
  assert.equal(message, 'containers with unready status: [c0 c1]')
})

test('messages of ended containers share 12 KiB: each has the beginning of its own, of the run before too', () => {
  const lengthsOf = (count: number, text: string) => {
    const end = { ...ended(1), message: text } as NonNullable<LocalPod['containers'][0]['last']>
    const { object, one } = local(Array.from({ length: count }, () => ({ ...RUNNING, ...end })))
    one.containers[0]!.last = end
    const { containerStatuses = [] } = podStatusOf(object, one, { hostIps: [''] }, NOW_MS)
    const messages = containerStatuses.map(({ state }) => state?.terminated?.message ?? '')
    messages.push(containerStatuses[0]?.lastState?.terminated?.message ?? '')
    assert.ok(messages.every((message) => text.startsWith(message)))
    return [...new Set(messages.map((message) => Buffer.byteLength(message)))]
  }
  const long = 'seq'.repeat(1_300)
  assert.deepEqual(lengthsOf(3, long), [3_900])
  assert.deepEqual(lengthsOf(6, long), [2_048])
  assert.deepEqual(lengthsOf(6, 'é'.repeat(1_900)), [2_048])
})

test('who a container runs as is in its status where somebody said so, once it was started', () => {
  const userAt = (securityContext: object, containerId: string | undefined) => {
    const spec = { securityContext, containers: [{ name: 'c', image: 'busybox' }] }
    const own = pod({ name: 'p', spec })
    const local = localPod(own, 0)
    const [container] = local.containers
    container!.containerId = containerId
    return podStatusOf(own, local, { hostIps: [''] }, 0).containerStatuses?.[0]?.user
  }
  const context = { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000] }
  assert.deepEqual(userAt(context, 'containerd://1'), {
    linux: { uid: 1000, gid: 3000, supplementalGroups: [3000, 4000] },
  })
  assert.equal(userAt(context, undefined), undefined)
  assert.equal(userAt({}, 'containerd://1'), undefined)
})
