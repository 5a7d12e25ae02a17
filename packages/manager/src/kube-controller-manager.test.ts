import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RestConfig } from '@gyropilot/client'
import { FakeHost } from '@gyropilot/foundation/testing'
import type { AppWorld } from './app-world.ts'
import { flagDefinitions } from './flags/kube-controller-manager-flags.ts'
import { parseFlags } from './flags/pflag.ts'
import { kubeControllerManager } from './kube-controller-manager.ts'
import { Options } from './options/options.ts'

const started = async (...flags: string[]) => {
  const host = new FakeHost({ '/empty': '' })
  const options = new Options(parseFlags(flagDefinitions, flags))
  const world = { host, localTimeZone: 'UTC' } as unknown as AppWorld
  const config = { server: 'https://127.0.0.1', tls: {} }
  const prepared = await kubeControllerManager.prepare(options, world)
  return prepared.configuration(config as unknown as RestConfig)
}

const refused: readonly (readonly [flag: string, message: string])[] = [
  [
    '--service-account-private-key-file=/nope',
    'error reading key for service account token controller: open /nope: no such file or directory',
  ],
  [
    '--root-ca-file=/nope',
    'error parsing root-ca-file at /nope: open /nope: no such file or directory',
  ],
  [
    '--root-ca-file=/empty',
    'error parsing root-ca-file at /empty: data does not contain any valid RSA or ECDSA certificates',
  ],
  [
    '--pv-recycler-pod-template-filepath-nfs=/nope',
    'failed to probe volume plugins when starting persistentvolume controller: failed to read file path /nope: open /nope: no such file or directory',
  ],
]

for (const [flag, message] of refused)
  test(`${flag} ends the start in upstream's words`, async () => {
    await assert.rejects(started(flag), { code: 'OPTIONS_INVALID', exitCode: 1, message })
  })
