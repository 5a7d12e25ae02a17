import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { informerSwitches } from './informer-switches.ts'

const crash = (): void => {}
const ROWS = [
  [{}, { watchList: true }],
  [{ KUBE_FEATURE_WatchListClient: 'false' }, { watchList: false }],
  [{ KUBE_FEATURE_WatchListClient: 'F' }, { watchList: false }],
  [{ KUBE_CACHE_MUTATION_DETECTOR: 'true' }, { watchList: true, onAltered: crash }],
  [{ KUBE_WATCHLIST_INCONSISTENCY_DETECTOR: '1' }, { watchList: true, onInconsistentList: crash }],
  [{ KUBE_WATCHLIST_INCONSISTENCY_DETECTOR: '0' }, { watchList: true }],
] as const
for (const [variables, expected] of ROWS) {
  test(`variables ${JSON.stringify(variables)}`, () =>
    assert.deepEqual(informerSwitches(new FakeHost({}, variables), crash), expected))
}

test('a value that is no boolean is logged and changes nothing', () => {
  const logger = new RecordingLogger()
  const variables = { KUBE_FEATURE_WatchListClient: 'off', KUBE_CACHE_MUTATION_DETECTOR: 'yes' }
  const switches = informerSwitches(new FakeHost({}, variables), crash, logger)
  assert.deepEqual(switches, { watchList: true })
  assert.deepEqual(logger.messages(), [
    'cannot use KUBE_FEATURE_WatchListClient',
    'cannot use KUBE_CACHE_MUTATION_DETECTOR',
  ])
})
