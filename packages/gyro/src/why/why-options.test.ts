import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import type { Discovered } from '@gyropilot/client'
import { kind } from './example-facts.ts'
import { findKind } from './find-kind.ts'
import { helpText } from './help.ts'
import { whyOptions } from './why-options.ts'
import { span } from './words.ts'

const GIVEN: readonly (readonly [string, object])[] = [
  ['pod/web-0', { kind: 'pod', name: 'web-0', namespace: '', output: 'text' }],
  ['pod web-0', { kind: 'pod', name: 'web-0' }],
  ['pod/web-0 -n shop', { kind: 'pod', name: 'web-0', namespace: 'shop' }],
  ['-n shop pod web-0', { kind: 'pod', name: 'web-0', namespace: 'shop' }],
  ['-nshop pod/web-0', { name: 'web-0', namespace: 'shop' }],
  ['--namespace=shop pod/web-0 -o json', { name: 'web-0', namespace: 'shop', output: 'json' }],
  ['pod/a --context prod --kubeconfig f', { name: 'a', context: 'prod', kubeconfig: 'f' }],
  ['--help', { help: true }],
  ['-h pod', { help: true }],
]
for (const [line, wanted] of GIVEN) {
  test(`gyro why ${line}`, () => {
    const options = whyOptions(line.split(' '))
    for (const [name, value] of Object.entries(wanted))
      assert.equal(options[name as keyof typeof options], value, name)
  })
}

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['', /^name one object: 'gyro why KIND\/NAME'/],
  ['pod', /^"pod": name one object/],
  ['pod/', /^"pod\/": name one object/],
  ['/a', /name one object/],
  ['pod/a/b', /name one object/],
  ['pod a b', /^"pod a b": name one object/],
  ['pod/a b', /name one object/],
  ['pod/a --outptu json', /unknown flag --outptu: did you mean --output\?/],
  ['pod/a -o yaml', /^--output=yaml is not known: use text or json$/],
  ['pod/a -n', /flag needs an argument: 'n' in -n/],
]
for (const [line, wanted] of REFUSED) {
  test(`gyro why ${line} is refused with exit code 2`, () => {
    assert.throws(
      () => whyOptions(line.split(' ').filter(Boolean)),
      (error) =>
        error instanceof GyropilotError && error.exitCode === 2 && wanted.test(error.message),
    )
  })
}

test('the help has an example of each form and every flag', () => {
  for (const word of [
    'namespace/team-a',
    'Exit codes',
    '--kubeconfig',
    '--context',
    '-n, --namespace',
  ])
    assert.ok(helpText(100).includes(word), word)
})

const discovered: Discovered = {
  resources: [
    { ...kind('Pod'), shortNames: ['po'] },
    { ...kind('apps/Deployment'), shortNames: ['deploy'] },
    { ...kind('events.k8s.io/Event') },
    { ...kind('a.example.com/Widget'), shortNames: ['w'] },
    { ...kind('b.example.com/Widget') },
    { ...kind('b.example.com/W'), resource: 'ws' },
    { ...kind('authorization.k8s.io/Review'), verbs: ['create'] },
  ],
  versions: new Map(),
  failed: new Map(),
}
const KINDS: readonly (readonly [string, string])[] = [
  ['pod', '/Pod'],
  ['Pods', '/Pod'],
  ['PO', '/Pod'],
  ['deploy', 'apps/Deployment'],
  ['deployments.apps', 'apps/Deployment'],
  ['deployment.v1.apps', 'apps/Deployment'],
  ['widget', 'a.example.com/Widget'],
  ['widgets.b.example.com', 'b.example.com/Widget'],
  ['w', 'b.example.com/W'],
]
for (const [word, wanted] of KINDS) {
  test(`${word} means ${wanted}`, () => {
    const found = findKind(discovered, word)
    assert.equal(`${found.group}/${found.kind}`, wanted)
  })
}

test('a kind that nobody knows is refused with exit code 2 and what may be meant', () => {
  const refused = (word: string, failed = new Map<string, string>()): string => {
    try {
      findKind({ ...discovered, failed }, word)
    } catch (error) {
      assert.ok(error instanceof GyropilotError && error.code === 'KIND_UNKNOWN')
      assert.equal(error.exitCode, 2)
      return error.message
    }
    throw new Error('found')
  }
  assert.equal(
    refused('deploymnet'),
    'the server has no kind "deploymnet": did you mean deployment?',
  )
  assert.equal(
    refused('zebra-crossing'),
    'the server has no kind "zebra-crossing": see kubectl api-resources',
  )
  assert.match(refused('review'), /no kind "review"/, 'cannot be read')
  assert.match(
    refused('pods.metrics.k8s.io', new Map([['metrics.k8s.io/v1beta1', 'no answer']])),
    /its group may be one of those that could not be read: metrics.k8s.io\/v1beta1$/,
  )
})

const SPANS: readonly (readonly [number, string])[] = [
  [-5, '0s'],
  [59.9, '59s'],
  [60, '1m'],
  [200, '3m20s'],
  [3600, '1h'],
  [18_659, '5h10m'],
  [86_400, '1d'],
  [273_600, '3d4h'],
]
for (const [seconds, text] of SPANS)
  test(`${seconds} seconds are ${text}`, () => assert.equal(span(seconds * 1000), text))
