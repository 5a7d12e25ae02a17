import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KUBERNETES_VERSION } from '@gyropilot/api'
import { VERSION } from '../version.ts'
import { versionCommand, versionText } from './version-command.ts'

test('the version, for people and for programs; what it does not know is refused', () => {
  assert.equal(versionText('text'), `gyro v${VERSION} (Kubernetes v${KUBERNETES_VERSION})\n`)
  const json = { version: VERSION, kubernetes: KUBERNETES_VERSION }
  assert.deepEqual(JSON.parse(versionText('json')), json)
  const message = '--output=yaml is not known: use text or json'
  assert.throws(() => versionCommand(['-o', 'yaml']), { code: 'VERSION_FLAG_INVALID', message })
  for (const [args, message] of [
    [['--outputs=json'], 'unknown flag --outputs: did you mean --output?'],
    [['all'], '"gyro version" does not take any arguments, got ["all"]'],
  ] as const)
    assert.throws(() => versionCommand(args), { code: 'VERSION_FLAG_INVALID', message })
})
