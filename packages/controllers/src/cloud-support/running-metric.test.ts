import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { countedWhileRunning } from './running-metric.ts'

test('a loop counts from when it runs until it has ended, however it ends', async () => {
  for (const failure of [undefined, new Error('no')]) {
    const metrics = new RecordingMetrics()
    const ending = Promise.withResolvers<void>()
    const signals: AbortSignal[] = []
    const loop = countedWhileRunning(
      {
        run(signal) {
          signals.push(signal)
          return ending.promise
        },
      },
      'route',
      metrics,
    )
    const running = () =>
      metrics.value('running_managed_controllers', {
        name: 'route',
        manager: 'cloud-controller-manager',
      })
    assert.equal(running(), undefined)
    const { signal } = new AbortController()
    const ended = loop.run(signal).catch((error: unknown) => error)
    assert.deepEqual([running(), signals], [1, [signal]])
    if (failure === undefined) ending.resolve()
    else ending.reject(failure)
    assert.equal(await ended, failure)
    assert.equal(running(), 0)
  }
})
