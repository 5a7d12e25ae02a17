import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { metricFilters } from './metric-manifest.ts'
import { Options } from '../options/options.ts'

function world(...args: readonly string[]) {
  const host = new FakeHost()
  const logger = new RecordingLogger()
  host.files.set('/labels.yaml', 'allowListMapping:\n  "a_total,code": "200,404"\n')
  const filters = () => metricFilters(new Options(parseFlags(flagDefinitions, args)), host, logger)
  return { host, logger, filters }
}

test('the manifest counts when the flag is not given', async () => {
  const { filters } = world('--allow-metric-labels-manifest=/labels.yaml')
  const { allowed } = await filters()
  assert.deepEqual([...allowed.get('a_total')!.get('code')!], ['200', '404'])
})

test('the flag wins over the manifest', async () => {
  const { filters } = world(
    '--allow-metric-labels-manifest=/labels.yaml',
    '--allow-metric-labels=b_total,verb=get',
    '--disabled-metrics=c_total',
  )
  const { allowed, disabled } = await filters()
  assert.deepEqual([...allowed.keys()], ['b_total'])
  assert.deepEqual([...disabled], ['c_total'])
})

test('a manifest that cannot be used is told and filters nothing', async () => {
  const { host, logger, filters } = world('--allow-metric-labels-manifest=/labels.yaml')
  for (const text of ['- a', '"a,b": [1', undefined]) {
    if (text === undefined) host.files.delete('/labels.yaml')
    else host.files.set('/labels.yaml', text)
    assert.equal((await filters()).allowed.size, 0)
  }
  assert.deepEqual(
    logger.messages(),
    Array.from({ length: 3 }, () => 'Failed to read allow list manifest'),
  )
})
