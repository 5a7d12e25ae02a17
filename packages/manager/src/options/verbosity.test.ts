import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { Verbosity } from './verbosity.ts'

function logged(verbosity: Verbosity) {
  const inner = new RecordingLogger()
  return { logger: verbosity.limit(inner), messages: () => inner.messages() }
}

test('lines above --v are not written, and errors always are', () => {
  const { logger, messages } = logged(new Verbosity(2))
  logger.verbosity(2).info('two')
  logger.verbosity(2).verbosity(1).info('three')
  logger.verbosity(9).error(new Error('x'), 'failed')
  assert.deepEqual(messages(), ['two', 'failed'])
  assert.deepEqual([logger.enabled(2), logger.enabled(3)], [true, false])
})

test('a level that is changed counts for loggers made before', () => {
  const verbosity = new Verbosity(0)
  const { logger, messages } = logged(verbosity)
  const chatty = logger.named('elector').verbosity(4)
  chatty.info('before')
  verbosity.set(4)
  chatty.info('after')
  assert.deepEqual(messages(), ['after'])
})

test('--vmodule raises the level of loggers whose name fits', () => {
  const { logger, messages } = logged(new Verbosity(0, ['deployment_*=5', 'ttl?=1']))
  logger.named('deployment-controller').named('events').verbosity(5).info('fits')
  logger.named('deployment-controller').verbosity(6).info('too high')
  logger.named('job-controller').verbosity(1).info('another')
  assert.deepEqual(messages(), ['fits'])
})
