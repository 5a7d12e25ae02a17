import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { Options } from '../options/options.ts'
import { candidateVersions } from './candidate-versions.ts'

test('a candidate tells the version that it is, and that which it emulates', () => {
  const told = (...flags: string[]) =>
    candidateVersions('v1.36.2', new Options(parseFlags(flagDefinitions, flags)))
  assert.deepEqual(told(), { binaryVersion: '1.36.2', emulationVersion: '1.36.0' })
  assert.equal(told('--emulated-version=1.35').emulationVersion, '1.35.0')
  assert.equal(told('--emulated-version=kube=1.34').emulationVersion, '1.34.0')
})
