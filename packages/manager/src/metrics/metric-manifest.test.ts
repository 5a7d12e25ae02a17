import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost } from '@gyropilot/foundation/testing'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { metricFilters } from './metric-manifest.ts'
import { Options } from '../options/options.ts'

function world(...args: readonly string[]) {
  const host = new FakeHost()
  host.files.set('/labels.yaml', '"a_total,code": "200,404"\n')
  const filters = () => metricFilters(new Options(parseFlags(flagDefinitions, args)), host)
  return { host, filters }
}

test('a manifest says what the values of labels may be', async () => {
  const { filters } = world('--allow-metric-labels-manifest=/labels.yaml')
  const { allowed } = await filters()
  assert.deepEqual([...allowed.get('a_total')!.get('code')!], ['200', '404'])
})

test('without one the flag does', async () => {
  const { filters } = world('--allow-metric-labels=b_total,verb=get', '--disabled-metrics=c_total')
  const { allowed, disabled } = await filters()
  assert.deepEqual([...allowed.keys()], ['b_total'])
  assert.deepEqual([...disabled], ['c_total'])
})

test('a manifest that cannot be used ends the start, in upstream’s words', async () => {
  const { host, filters } = world('--allow-metric-labels-manifest=/labels.yaml')
  const begins = '^metrics.allowListMappingManifest: Invalid value: "/labels.yaml": '
  const refused = async (why: string) =>
    assert.rejects(filters(), { code: 'OPTIONS_INVALID', message: new RegExp(begins + why) })
  for (const text of ['- a', '"a,b": [1', '"a,b": [1]']) {
    host.files.set('/labels.yaml', text)
    await refused('failed to parse allow list manifest: ')
  }
  host.files.set('/labels.yaml', '"a_total": x')
  await refused('invalid allow list mapping in manifest: \\[metrics.allowListMappingManifest: ')
  host.files.delete('/labels.yaml')
  await refused('failed to read allow list manifest: open /labels.yaml: no such file or directory$')
})

test('numbers in a manifest are texts', async () => {
  const { host, filters } = world('--allow-metric-labels-manifest=/labels.yaml')
  host.files.set('/labels.yaml', '"a_total,code": 200')
  assert.deepEqual([...(await filters()).allowed.get('a_total')!.get('code')!], ['200'])
})
