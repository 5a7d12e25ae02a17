import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { BEHAVIOR_ANNOTATION } from './annotations.ts'
import { DEFAULT_BEHAVIOR, behaviorOf } from './behavior.ts'
import type { ContainerRole } from './usual-run.ts'

const of = (given: Parameters<typeof pod>[0], role: ContainerRole = 'main') => {
  const problems: string[] = []
  const object = pod(given)
  const behavior = behaviorOf(object, DEFAULT_BEHAVIOR, (problem) => problems.push(problem))
  return { behavior, container: behavior.container(object.spec!.containers[0]!, role), problems }
}

test('without a document containers of restartPolicy Always run for ever and end with 0 when asked', () => {
  const { container } = of({})
  assert.deepEqual(container.runs, [{ durationMs: Infinity, exitCode: 0 }])
  assert.equal(container.readyAfterMs, undefined)
  assert.equal(container.terminateExitCode, 0)
})

const SECOND = [{ durationMs: 1000, exitCode: 0 }]
const FOREVER = [{ durationMs: Infinity, exitCode: 0 }]

test('what an image does that nobody scripted: by who started it, its command and its name', () => {
  const job = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }]
  const unknown = { image: 'registry.local:5000/team/app:1' }
  const table: readonly [string, object, 'Never' | 'OnFailure' | 'Always', boolean, unknown][] = [
    ['a server runs on', { image: 'nginx:1.27' }, 'Never', false, FOREVER],
    ['an unknown image runs on', unknown, 'OnFailure', false, FOREVER],
    ['arguments are the image’s', { ...unknown, args: ['--port', '80'] }, 'Never', false, FOREVER],
    ['a shell nobody types into ends', { image: 'busybox:1.36' }, 'Never', false, SECOND],
    ['a greeting ends', { image: 'docker.io/library/hello-world' }, 'Never', false, SECOND],
    ['a command of its own ends', { ...unknown, command: ['perl', '-e'] }, 'Never', false, SECOND],
    [
      'a loop runs on',
      { ...unknown, command: ['sh', '-c', 'while true; do x; done'] },
      'Never',
      false,
      FOREVER,
    ],
    ['a pod of a Job ends', unknown, 'Never', true, SECOND],
    ['a pause is one', { image: 'registry.k8s.io/pause:3.10' }, 'Never', true, FOREVER],
    ['its command is not', { image: 'pause', command: ['perl'] }, 'Never', true, SECOND],
    [
      'a Job that loops runs on',
      { ...unknown, command: ['sh', '-c', 'while sleep 1; do x; done'] },
      'OnFailure',
      true,
      FOREVER,
    ],
    ['restartPolicy Always runs on', { image: 'busybox' }, 'Always', false, FOREVER],
  ]
  for (const [name, container, restartPolicy, ofJob, wanted] of table) {
    const { runs, runsAreScripted } = of({
      ...(ofJob ? { metadata: { ownerReferences: job } } : {}),
      spec: { restartPolicy, containers: [{ name: 'c', ...container }] },
    }).container
    assert.deepEqual([runs, runsAreScripted], [wanted, false], name)
  }
})

test('init containers end, sidecars run on, whatever the pod and its short annotations say', () => {
  const annotations = { 'sim.kubelet/exit-code': '1', 'sim.kubelet/crash-loop': 'true' }
  for (const restartPolicy of ['Always', 'Never'] as const) {
    assert.deepEqual(of({ annotations, spec: { restartPolicy } }, 'init').container.runs, SECOND)
    assert.deepEqual(
      of({ annotations, spec: { restartPolicy } }, 'sidecar').container.runs,
      FOREVER,
    )
  }
})

test('a short annotation may say it for each completion index of a Job', () => {
  const exitCodes = (index: string | undefined, value: string) => {
    const annotations = {
      'sim.kubelet/exit-code': value,
      ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': index }),
    }
    const { runs } = of({ annotations, spec: { restartPolicy: 'Never' } }).container
    return runs.map(({ exitCode }) => exitCode)
  }
  assert.deepEqual(exitCodes('0', '0=3,2-4=7'), [3])
  assert.deepEqual(exitCodes('3', '0=3, 2-4=7'), [7])
  assert.deepEqual(exitCodes('1', '0=3,2-4=7'), [0])
  assert.deepEqual(exitCodes('9', '0=3,*=5'), [5])
  assert.deepEqual(exitCodes(undefined, '0=3,*=5'), [5])
  assert.deepEqual(exitCodes('3', '4'), [4])
})

test('what simulated nodes do not know or cannot use is said', () => {
  const said = (annotations: Record<string, string>) => of({ annotations }).problems
  assert.deepEqual(said({ 'sim.kubelet/exitcode': '1' }), [
    'annotation sim.kubelet/exitcode is not known to simulated nodes: did you mean sim.kubelet/exit-code?',
  ])
  assert.deepEqual(said({ 'sim.kubelet/wholly-other': '1', other: 'x' }), [
    'annotation sim.kubelet/wholly-other is not known to simulated nodes',
  ])
  assert.deepEqual(said({ 'sim.kubelet/run': 'soon' }), [
    'annotation sim.kubelet/run cannot be used: "soon" is not a duration such as 3s or 1m30s',
  ])
  assert.deepEqual(said({ 'sim.kubelet/crash-loop': 'yes' }), [
    'annotation sim.kubelet/crash-loop cannot be used: "yes" is not true or false',
  ])
  assert.deepEqual(said({ 'sim.kubelet/exit-code': '0=1,x=2' }), [
    'annotation sim.kubelet/exit-code cannot be used: "x=2" is not a whole number',
  ])
  assert.deepEqual(said({ 'sim.kubelet/shared-cpu': '1,60s=lots' }), [
    'annotation sim.kubelet/shared-cpu cannot be used: "60s=lots" is not an amount such as 250m or 64Mi, or one from a time on such as 60s=1500m',
  ])
  assert.deepEqual(
    said({ [BEHAVIOR_ANNOTATION]: 'containers: { c: { run: [], runs: [{ exit: 1 }] } }' }),
    [
      'annotation sim.kubelet/behavior has a field containers.c.run that is not known: did you mean runs?',
      'annotation sim.kubelet/behavior has a field containers.c.runs.exit that is not known',
    ],
  )
  assert.deepEqual(
    said({
      'sim.kubelet/run': '0=5s,*=1s',
      'sim.kubelet/never-ready': 'false',
      'sim.kubelet/cpu': '0,1m=2',
      'sim.kubelet/memory': '64Mi',
      'sim.kubelet/shared-memory': '1Gi',
      [BEHAVIOR_ANNOTATION]: '{}',
    }),
    [],
  )
})

test('scripted results of probes stand in the order of their times', () => {
  const document =
    'containers: { c: { liveness: [{ at: 20s, result: success }, { at: 5s, result: failure }] } }'
  assert.deepEqual(of({ annotations: { [BEHAVIOR_ANNOTATION]: document } }).container.probes, {
    startup: [],
    readiness: [],
    liveness: [
      { atMs: 5000, success: false },
      { atMs: 20_000, success: true },
    ],
  })
})

test('short annotations cover the common cases', () => {
  const annotated = (key: string, value: string) =>
    of({ annotations: { [`sim.kubelet/${key}`]: value } }).container
  assert.equal(annotated('run', '5s').runs[0]?.durationMs, 5000)
  assert.equal(annotated('exit-code', '3').runs[0]?.exitCode, 3)
  assert.equal(annotated('ready-after', '3s').readyAfterMs, 3000)
  assert.equal(annotated('never-ready', 'true').readyAfterMs, Infinity)
  assert.deepEqual(annotated('crash-loop', 'true').runs, [{ durationMs: 1000, exitCode: 1 }])
  assert.deepEqual(
    annotated('fail-runs', '2').runs.map(({ exitCode }) => exitCode),
    [1, 1, 0],
  )
  assert.equal(annotated('image-error', 'no such thing').pullError?.message, 'no such thing')
  assert.equal(annotated('terminate', '20s').terminateMs, 20_000)
})

test('the document sets fields of named containers over those of all', () => {
  const document = `
sandbox: 1s
speed: 2
containers:
  "*": { start: { duration: 4s }, terminate: { ignore: true } }
  c:
    runs: [{ duration: 2s, exitCode: 7, reason: Odd }, { duration: forever }]
    pull: { error: { message: nope }, times: 2 }
`
  const { behavior, container } = of({ annotations: { [BEHAVIOR_ANNOTATION]: document } })
  assert.equal(behavior.sandboxMs, 500)
  assert.equal(container.startMs, 2000)
  assert.equal(container.ignoresTermination, true)
  assert.deepEqual(container.runs[0], { durationMs: 1000, exitCode: 7, reason: 'Odd' })
  assert.equal(container.runs[1]?.durationMs, Infinity)
  assert.deepEqual(container.pullError, { reason: 'ErrImagePull', message: 'nope', times: 2 })
})

test('a document that cannot be read is reported and ignored', () => {
  for (const text of ['{', '- a list', 'just text']) {
    const { behavior, problems } = of({ annotations: { [BEHAVIOR_ANNOTATION]: text } })
    assert.equal(problems.length, 1, text)
    assert.equal(behavior.sandboxMs, DEFAULT_BEHAVIOR.sandboxMs)
  }
})

test('a scripted load is read with the speed of the pod, one that is of no use is none', () => {
  const { usage } = of({
    annotations: {
      [BEHAVIOR_ANNOTATION]: 'speed: 2',
      'sim.kubelet/cpu': '1,60s=2',
      'sim.kubelet/shared-cpu': 'x',
      'sim.kubelet/shared-memory': '1Ki',
    },
  }).behavior
  const own = [
    { atMs: 0, amount: 1 },
    { atMs: 30_000, amount: 2 },
  ]
  assert.deepEqual(usage, { cpu: { own }, memory: { shared: [{ atMs: 0, amount: 1_024 }] } })
})
