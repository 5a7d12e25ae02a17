import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllers } from '@gyropilot/controllers'
import { managerWorld } from './fixtures.ts'

test('every handler is told again as often as it asks for, whichever caches are filled early', async () => {
  const { run, clock, stop, logger } = managerWorld(controllers)
  const running = run()
  await clock.advance(1_000)
  stop.abort()
  await clock.advance(60_000)
  await running
  assert.ok(logger.lines.some(({ message }) => message === 'Controller starting'))
  assert.deepEqual(
    logger.lines.filter(({ message }) => message.startsWith('A resync period is')),
    [],
  )
})
