import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { DEFAULT_BEHAVIOR, behaviorOf } from '../behavior/behavior.ts'
import { ContainerProbes } from './container-probes.ts'
import { localContainer } from './local-pod.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a probe that cannot be run is told of, counts for nothing, and goes on', async () => {
  const clock = new VirtualClock({ settle })
  const livenessProbe = { exec: { command: ['x'] }, periodSeconds: 5, failureThreshold: 2 }
  const container = localContainer({ name: 'c', image: 'app:1', livenessProbe }, 'main')
  const behavior = behaviorOf({}, DEFAULT_BEHAVIOR, assert.fail).container(container.spec, 'main')
  const bad = { exitCode: 1, output: 'bad\n' }
  const outcomes = [bad, new Error('the server is away'), new Error('the server is away'), bad]
  const told: string[] = []
  const probes = new ContainerProbes(container, behavior, clock.nowMs(), {
    clock,
    signal: new AbortController().signal,
    pod: () => ({}),
    programs: {
      async exec() {
        const outcome = outcomes.shift()
        if (outcome instanceof Error) throw outcome
        return outcome
      },
      portProblem: () => assert.fail(),
      webProblem: () => assert.fail(),
    },
    changed: () => {},
    unhealthy: (kind, outcome) => void told.push(`${kind} ${outcome}`),
  })
  let failedAtMs: number | undefined
  const startMs = clock.monotonicMs()
  void probes.failed.then(() => (failedAtMs = clock.monotonicMs() - startMs))
  probes.start()
  await clock.advance(60_000)
  assert.equal(failedAtMs, 15_000)
  const unknown = 'liveness errored and resulted in unknown state: the server is away'
  assert.deepEqual(told, ['liveness failed: bad', unknown, unknown, 'liveness failed: bad'])
})

test('the command of a probe refers to variables as the spec has them, and to no others', async () => {
  const clock = new VirtualClock({ settle })
  const readinessProbe = { exec: { command: ['x', '$(A) $(B) $(FROM)', '$(HOME) $(NO)'] } }
  const env = [
    { name: 'A', value: 'a' },
    { name: 'B', value: '$(A)' },
    { name: 'FROM', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ]
  const container = localContainer({ name: 'c', image: 'app:1', readinessProbe, env }, 'main')
  const behavior = behaviorOf({}, DEFAULT_BEHAVIOR, assert.fail).container(container.spec, 'main')
  const asked: (readonly string[])[] = []
  const stop = new AbortController()
  const probes = new ContainerProbes(container, behavior, clock.nowMs(), {
    clock,
    signal: stop.signal,
    pod: () => ({}),
    programs: {
      async exec(_, command) {
        asked.push(command)
        return undefined
      },
      portProblem: () => assert.fail(),
      webProblem: () => assert.fail(),
    },
    changed: () => {},
    unhealthy: () => {},
  })
  probes.start()
  await clock.advance(1_000)
  stop.abort()
  assert.deepEqual(asked, [['x', 'a $(A) ', '$(HOME) $(NO)']])
})
