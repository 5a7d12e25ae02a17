import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createErrors, updateErrors } from '../fixtures.ts'

const CANDIDATE = { group: 'coordination.k8s.io', version: 'v1beta1', kind: 'LeaseCandidate' }
const GOOD = {
  leaseName: 'kube-controller-manager',
  binaryVersion: '1.36.0',
  emulationVersion: '1.35.0',
  strategy: 'OldestEmulationVersion',
}

const CASES: readonly (readonly [string, object, readonly string[]])[] = [
  ['a good one', GOOD, []],
  ['versions alike', { ...GOOD, emulationVersion: '1.36.0' }, []],
  [
    'somebody else elects: no emulation version needed',
    { leaseName: 'l', binaryVersion: '1.36.0-rc.1+abc', strategy: 'example.com/mine' },
    [],
  ],
  [
    'nothing',
    {},
    [
      'spec.leaseName: Required value',
      'spec.binaryVersion: Required value',
      'spec.strategy: Required value',
    ],
  ],
  [
    'no emulation version',
    { ...GOOD, emulationVersion: undefined },
    [
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
  ],
  [
    'versions that are none',
    { ...GOOD, binaryVersion: 'v1.36.0', emulationVersion: '1.36' },
    [
      'spec.emulationVersion: Invalid value: "1.36": must be a valid semantic version',
      'spec.binaryVersion: Invalid value: "v1.36.0": must be a valid semantic version',
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
  ],
  [
    'emulates what it cannot know',
    { ...GOOD, emulationVersion: '1.37.0' },
    [
      'spec.binaryVersion: Invalid value: "1.36.0": must be greater than or equal to `emulationVersion`',
    ],
  ],
  [
    'an unknown strategy',
    { ...GOOD, strategy: 'Youngest' },
    [
      'spec.strategy.strategy: Unsupported value: "Youngest": supported values: "OldestEmulationVersion"',
    ],
  ],
  [
    'a strategy that is no name',
    { ...GOOD, strategy: 'a b/c' },
    [
      "spec.strategy.strategy: Invalid value: \"a b/c\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
]
for (const [title, spec, errors] of CASES) {
  test(`a lease candidate: ${title}`, () => {
    assert.deepEqual(createErrors(CANDIDATE, { metadata: { name: 'host_1' }, spec }), errors)
  })
}

test('its name is that of a key of a ConfigMap: host names, underscores, uids', () => {
  const named = (name: string) => createErrors(CANDIDATE, { metadata: { name }, spec: GOOD })
  assert.deepEqual(named('Node-1.example.com_0b5fa7b1-8c3c-4c7e-8a51-0d4bf3f2d9d4'), [])
  assert.match(named('a/b')[0]!, /^metadata\.name: Invalid value: "a\/b": a valid config key/)
})

test('its lease cannot change; all else can', () => {
  const change = (after: object) => updateErrors(CANDIDATE, { spec: GOOD }, { spec: after })
  assert.deepEqual(change({ ...GOOD, leaseName: 'other' }), [
    'spec.leaseName: Invalid value: "other": field is immutable',
  ])
  assert.deepEqual(change({ ...GOOD, binaryVersion: '1.37.0', emulationVersion: '1.36.0' }), [])
})
