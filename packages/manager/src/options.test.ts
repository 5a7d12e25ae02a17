import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagDefinitions } from './flags/kube-controller-manager-flags.ts'
import { parseFlags } from './flags/pflag.ts'
import { Options, validate } from './options.ts'

const check = (...args: string[]) => validate(new Options(parseFlags(flagDefinitions, args)))

test('the defaults are valid', () => {
  assert.doesNotThrow(() => check())
})

test('Given `--leader-elect-resource-lock=endpoints`, when started, then exit 1', () => {
  assert.throws(() => check('--leader-elect-resource-lock=endpoints'), {
    exitCode: 1,
    message: 'resourceLock value must be "leases"',
  })
  assert.doesNotThrow(() => check('--leader-elect-resource-lock=endpoints', '--leader-elect=false'))
})

test('Given cloud-provider=aws, or cidr-allocator-type=CloudAllocator, when validated, then error; external and RangeAllocator pass', () => {
  assert.throws(() => check('--cloud-provider=aws'), /--cloud-provider must be empty or external/)
  assert.throws(() => check('--cidr-allocator-type=CloudAllocator'), /must be RangeAllocator/)
  assert.doesNotThrow(() =>
    check('--cloud-provider=external', '--cidr-allocator-type=RangeAllocator'),
  )
})

test('Given both a general and a specific signing file, when validated, then error', () => {
  const general = ['--cluster-signing-cert-file=/a', '--cluster-signing-key-file=/b']
  const specific = [
    '--cluster-signing-kubelet-client-cert-file=/c',
    '--cluster-signing-kubelet-client-key-file=/d',
  ]
  assert.throws(
    () => check(...general, ...specific),
    /cannot specify --cluster-signing-kubelet-client/,
  )
  assert.doesNotThrow(() => check(...general))
  assert.doesNotThrow(() => check(...specific))
})

test('Given `--controllers=-*` or `nosuch`, when started, then exit 1 naming the item', () => {
  for (const item of ['-*', 'nosuch']) {
    assert.throws(() => check(`--controllers=${item}`), {
      exitCode: 1,
      message: `"${item}" is not in the list of known controllers`,
    })
  }
})

test('all problems are told at once', () => {
  assert.throws(() => check('--concurrent-job-syncs=0', '--max-endpoints-per-slice=1001'), {
    message:
      '[concurrent-job-syncs must be greater than 0, but got 0, max-endpoints-per-slice: must be between 1 and 1000, inclusive, but got 1001]',
  })
})

test('unknown feature gates and locked ones set otherwise are refused', () => {
  assert.throws(
    () => check('--feature-gates=NoSuchGate=true'),
    /unrecognized feature gate: NoSuchGate/,
  )
  assert.throws(() => check('--feature-gates=VolumeAttributesClass=false'), /locked to true/)
  assert.doesNotThrow(() =>
    check('--feature-gates=VolumeAttributesClass=true,PodDeletionCost=false'),
  )
})
