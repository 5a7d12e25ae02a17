import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '@gyropilot/foundation'
import { DEFAULT_BEHAVIOR, behaviorOf } from '../behavior/behavior.ts'
import { consoleOf, localContainer } from './local-pod.ts'
import { PodPrograms } from './pod-programs.ts'

test('who attaches to a run finds what is typed and said in it, however late its program begins', async () => {
  let nowMs = 7
  // Time passes while the program is begun.
  const clock = {
    nowMs: () => nowMs++,
    monotonicMs: () => nowMs,
    turnMs: () => 0,
    after: () => assert.fail(),
  }
  const container = localContainer(
    { name: 'c', image: 'busybox', command: ['cat'], stdin: true },
    'main',
  )
  const programs = new PodPrograms({
    clock,
    logger: silentLogger,
    behavior: behaviorOf({}, DEFAULT_BEHAVIOR, assert.fail),
    place: () => {
      throw new Error('no place')
    },
  })
  const run = programs.program(container, 0, new AbortController().signal)
  assert.ok(consoleOf(container, 0))
  await assert.rejects(run, /no place/)
})
