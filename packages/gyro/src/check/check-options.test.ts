import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { checkOptions } from './check-options.ts'
import { helpText } from './help.ts'

const GIVEN: readonly (readonly [line: string, wanted: object])[] = [
  [
    'a.yaml',
    { inputs: ['a.yaml'], namespace: 'default', podSecurity: 'privileged', output: 'text' },
  ],
  ['-', { inputs: ['-'] }],
  ['a - -n shop b', { inputs: ['a', '-', 'b'], namespace: 'shop' }],
  ['--output=json --warnings-as-errors a', { output: 'json', warningsAsErrors: true }],
  ['-o github --ignore-missing-kinds a', { output: 'github', ignoreMissingKinds: true }],
  ['--pod-security restricted a', { podSecurity: 'restricted', inputs: ['a'] }],
  [
    '--service-cluster-ip-range 10.96.0.0/12,fd00::/108 a',
    { serviceRanges: ['10.96.0.0/12', 'fd00::/108'] },
  ],
  ['-- --odd -', { inputs: ['--odd', '-'] }],
  ['--help', { help: true }],
]
for (const [line, wanted] of GIVEN) {
  test(`gyro check ${line}`, () => {
    const options = checkOptions(line.split(' '))
    for (const [name, value] of Object.entries(wanted))
      assert.deepEqual(options[name as keyof typeof options], value, name)
  })
}

const REFUSED: readonly (readonly [line: string, message: RegExp])[] = [
  ['', /^name files or folders, or - for standard input: 'gyro check FILE\.\.\.'/],
  ['- -', /^- is given twice/],
  [
    'a --pod-security strict',
    /^--pod-security=strict is not known: did you mean restricted\?|use privileged, baseline or restricted$/,
  ],
  ['a -o yaml', /^--output=yaml is not known: use text, json or github$/],
  ['a --outptu json', /unknown flag --outptu: did you mean --output\?/],
  ['a -n Shop', /^--namespace=Shop is no name of a namespace/],
  ['a --service-cluster-ip-range x', /^--service-cluster-ip-range=x is not one range for a family/],
  ['a --service-cluster-ip-range 10.0.0.0/16,10.1.0.0/16', /is not one range for a family/],
  ['a --warnings-as-errors=maybe', /is not true or false/],
]
for (const [line, message] of REFUSED) {
  test(`gyro check ${line} is refused with exit code 2`, () => {
    assert.throws(
      () => checkOptions(line.split(' ').filter(Boolean)),
      (error) =>
        error instanceof GyropilotError && error.exitCode === 2 && message.test(error.message),
    )
  })
}

test('the help has an example of each way in, every flag and the exit codes', () => {
  for (const word of [
    'kustomize',
    'helm template',
    'Exit codes',
    '--pod-security',
    '-n, --namespace',
  ])
    assert.ok(helpText(100).includes(word), word)
})
