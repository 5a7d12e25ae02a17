import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { registerBinaryMetrics } from './binary-metrics.ts'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { Options, compatibilityVersions } from '../options/options.ts'

function exposed(...args: readonly string[]): readonly string[] {
  const options = new Options(parseFlags(flagDefinitions, args))
  const metrics = new PrometheusRegistry()
  const build = { version: 'v1.36.0', commit: 'abc', platform: { os: 'linux', arch: 'amd64' } }
  registerBinaryMetrics(metrics, build, options.gates(), compatibilityVersions(options))
  return metrics.expose().split('\n')
}

test('the build, its versions and its gates are shown', () => {
  const lines = exposed('--feature-gates=PodDeletionCost=false')
  for (const line of [
    'version_info{binary="1.36.0",component="kube",emulation="1.36",min_compat="1.35"} 1',
    'kubernetes_feature_enabled{name="PodDeletionCost",stage="BETA"} 0',
    'kubernetes_feature_enabled{name="VolumeAttributesClass",stage=""} 1',
    'kubernetes_feature_enabled{name="KMSv1",stage="DEPRECATED"} 0',
  ])
    assert.ok(lines.includes(line), line)
  assert.ok(
    lines.some((line) => /^kubernetes_build_info\{.*git_commit="abc".*minor="36"/.test(line)),
  )
  assert.ok(lines.some((line) => line.startsWith('# HELP kubernetes_build_info [BETA] ')))
})

test('an emulated version moves what it must stay compatible with, down to the oldest', () => {
  for (const [emulated, oldest] of [
    ['1.35', '1.34'],
    ['1.33', '1.33'],
  ]) {
    const line = `version_info{binary="1.36.0",component="kube",emulation="${emulated}",min_compat="${oldest}"} 1`
    assert.ok(exposed(`--emulated-version=kube=${emulated}`).includes(line), line)
  }
})
