import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InterruptedByShutdown } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { unlessStopping } from './health-monitor.ts'
import { nodeLifecycleController } from './index.ts'

test('name, alias and identity are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = nodeLifecycleController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['node-lifecycle-controller', ['nodelifecycle'], 'node-controller', true],
  )
})

test('what is stopped before it began ends at once', async () => {
  const context = testContext({
    name: 'node-lifecycle-controller',
    configuration: defaultControllersConfiguration,
  })
  const built = await nodeLifecycleController.build(context)
  await built!.run(AbortSignal.abort())
  assert.deepEqual(context.client.requests, [])
})

test('what a stopping process leaves undone is no error, anything else is', () => {
  const running = new AbortController().signal
  const error = new Error('no')
  assert.throws(() => unlessStopping(error, running), error)
  unlessStopping(error, AbortSignal.abort())
  unlessStopping(new InterruptedByShutdown(), running)
})
