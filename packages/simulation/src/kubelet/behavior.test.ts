import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../testing/index.ts'
import { BEHAVIOR_ANNOTATION, DEFAULT_BEHAVIOR, behaviorOf } from './behavior.ts'

const of = (given: Parameters<typeof pod>[0]) => {
  const problems: string[] = []
  const behavior = behaviorOf(pod(given), DEFAULT_BEHAVIOR, (problem) => problems.push(problem))
  return { behavior, container: behavior.container('c'), problems }
}

test('without a document containers of restartPolicy Always run for ever and end with 0 when asked', () => {
  const { container } = of({})
  assert.deepEqual(container.runs, [{ durationMs: Infinity, exitCode: 0 }])
  assert.equal(container.readyAfterMs, undefined)
  assert.equal(container.terminateExitCode, 0)
})

test('pods that are meant to end run for a second and exit 0', () => {
  for (const restartPolicy of ['OnFailure', 'Never'] as const) {
    assert.deepEqual(of({ spec: { restartPolicy } }).container.runs, [
      { durationMs: 1000, exitCode: 0 },
    ])
  }
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
