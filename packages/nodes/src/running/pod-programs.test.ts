import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '@gyropilot/api'
import { VirtualClock, silentLogger } from '@gyropilot/foundation'
import { FakeServer } from '@gyropilot/runtime/testing'
import { DEFAULT_BEHAVIOR, behaviorOf } from '../behavior/behavior.ts'
import { PodStorage } from '../container/pod-storage.ts'
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

test('last words that the server would have to tell are left out', async () => {
  const clock = new VirtualClock({ settle: async () => {} })
  const spec: Container = {
    name: 'c',
    image: 'busybox',
    command: ['sh', '-c', 'echo bad; exit 1'],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
  const wordsOf = (client: FakeServer): Promise<string | undefined> => {
    const place = (container: Container, containerId: string) => ({
      pod: { spec: { containers: [spec] } },
      container,
      containerId,
      storage: new PodStorage(),
      client,
      clock,
      nodeName: 'n',
      resources: () => undefined,
    })
    const behavior = behaviorOf({}, DEFAULT_BEHAVIOR, assert.fail)
    const programs = new PodPrograms({ clock, logger: silentLogger, behavior, place })
    return programs.lastWords(localContainer(spec, 'main'), 1, 0)
  }
  const server = new FakeServer()
  assert.equal(await wordsOf(server), 'bad\n')
  server.onRequest = () => {
    throw new Error('the server is away')
  }
  assert.equal(await wordsOf(server), undefined)
})
