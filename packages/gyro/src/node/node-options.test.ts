import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { helpText } from './help.ts'
import { nodeDocument, nodeOptions } from './node-options.ts'

const GIVEN: readonly (readonly [string, object])[] = [
  ['stop node-2', { action: 'stop', names: ['node-2'], afterMs: 0, forMs: 0 }],
  ['start node-2', { action: 'start', names: ['node-2'] }],
  ['stop a b --for 10m', { names: ['a', 'b'], forMs: 600_000 }],
  ['--after=30s stop a', { names: ['a'], afterMs: 30_000 }],
  ['stop --for 1m a --kubeconfig f --context c', { names: ['a'], kubeconfig: 'f', context: 'c' }],
  ['--help', { help: true }],
]
for (const [line, wanted] of GIVEN)
  test(`gyro node ${line}`, () => {
    const options = nodeOptions(line.split(' '))
    for (const [name, value] of Object.entries(wanted))
      assert.deepEqual(options[name as keyof typeof options], value, name)
  })

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['', /^say what to do with which nodes: 'gyro node stop NAME'/],
  ['stop', /^say what to do with which nodes/],
  ['stpo a', /^"stpo" is not known: did you mean stop\?$/],
  ['reboot a', /^"reboot" is not known: say what to do/],
  ['stop a --for soon', /^--for=soon is not a duration such as 500ms or 1m30s$/],
  ['stop a --for=-1s', /^--for=-1s is negative$/],
  ['start a --for 1s', /^--for goes with gyro node stop$/],
  ['start a --after 1s', /^--after goes with gyro node stop$/],
  ['stop a --untli 1s', /unknown flag --untli/],
]
for (const [line, message] of REFUSED)
  test(`gyro node ${line} is refused`, () =>
    assert.throws(
      () => nodeOptions(line === '' ? [] : line.split(' ')),
      (error) => {
        assert.ok(error instanceof GyropilotError)
        assert.equal(error.exitCode, 2)
        assert.match(error.message, message)
        return true
      },
    ))

const NOW_MS = Date.UTC(2026, 0, 1)
const DOCUMENTS: readonly (readonly [string, string | null])[] = [
  ['stop a', '{"stopped":true}'],
  ['stop a --after 1m', '{"stopped":{"from":"2026-01-01T00:01:00Z"}}'],
  [
    'stop a --for 10m',
    '{"stopped":{"from":"2026-01-01T00:00:00Z","until":"2026-01-01T00:10:00Z"}}',
  ],
  [
    'stop a --after 1m --for 10m',
    '{"stopped":{"from":"2026-01-01T00:01:00Z","until":"2026-01-01T00:11:00Z"}}',
  ],
  ['start a', null],
]
for (const [line, document] of DOCUMENTS)
  test(`gyro node ${line} writes ${document}`, () =>
    assert.equal(nodeDocument(nodeOptions(line.split(' ')), NOW_MS), document))

test('the help shows every flag', () => {
  for (const flag of ['--after', '--for', '--kubeconfig', '--context'])
    assert.ok(helpText(100).includes(flag), flag)
})
