import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NamedRuleWithOperations } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { rule } from './fixtures.ts'
import { kindsFor, matchedKinds } from './matched-kinds.ts'
import { discovered } from './testing/recorded.ts'

function kindsOf(...rules: readonly NamedRuleWithOperations[]): readonly string[] {
  const { result } = drive(matchedKinds(rules), {
    onRead: () => ({ ok: true, object: discovered as object }),
  })
  assert.ok('kinds' in result)
  return result.kinds.map(({ group, version, kind }) => `${group}/${version} ${kind}`)
}

const CORE = ['configmaps', 'endpoints', 'limitranges', 'namespaces', 'nodes', 'pods', 'secrets']
const NINE = [...CORE, 'services', 'serviceaccounts']

const CASES: readonly (readonly [string, readonly NamedRuleWithOperations[], readonly string[]])[] =
  [
    ['no rules', [], []],
    ['a rule', [rule(['apps'], ['v1'], ['deployments'])], ['apps/v1 Deployment']],
    [
      'sorted by group, version and kind, each once',
      [
        rule(['batch', 'apps'], ['v1'], ['jobs', 'deployments', 'daemonsets']),
        rule(['apps'], ['v1'], ['deployments']),
        rule(['autoscaling'], ['v2', 'v1'], ['horizontalpodautoscalers']),
      ],
      [
        'apps/v1 DaemonSet',
        'apps/v1 Deployment',
        'autoscaling/v1 HorizontalPodAutoscaler',
        'autoscaling/v2 HorizontalPodAutoscaler',
        'batch/v1 Job',
      ],
    ],
    [
      'a wildcard among groups skips the rule, and no other',
      [rule(['*'], ['v1'], ['deployments']), rule([''], ['v1'], ['pods'])],
      ['/v1 Pod'],
    ],
    [
      'a wildcard among versions skips the rule',
      [rule(['apps'], ['v1', '*'], ['deployments'])],
      [],
    ],
    [
      'wildcards and subresources are left out of the resources',
      [rule(['apps'], ['v1'], ['*', 'deployments', 'statefulsets/scale', '*/status'])],
      ['apps/v1 Deployment'],
    ],
    ['subresources only', [rule([''], ['v1'], ['pods/status'])], []],
    [
      'singular names and any case of letters are found',
      [rule(['apps'], ['v1'], ['deployment']), rule([''], ['v1'], ['Pod'])],
      ['/v1 Pod', 'apps/v1 Deployment'],
    ],
    ['short names are not', [rule(['apps'], ['v1'], ['deploy'])], []],
    ['groups are named in full', [rule(['networking'], ['v1'], ['ingresses'])], []],
    [
      'the empty group is any group',
      [rule([''], ['v1'], ['events', 'deployments'])],
      ['/v1 Event', 'apps/v1 Deployment', 'events.k8s.io/v1 Event'],
    ],
    [
      'what is not served is skipped',
      [rule(['nope.example.com', 'apps'], ['v1', 'v9'], ['things', 'deployments'])],
      ['apps/v1 Deployment'],
    ],
    [
      'nine kinds of a rule leave room for the next',
      [rule([''], ['v1'], NINE), rule(['apps'], ['v1'], ['deployments'])],
      [
        '/v1 ConfigMap',
        '/v1 Endpoints',
        '/v1 LimitRange',
        '/v1 Namespace',
        '/v1 Node',
        '/v1 Pod',
        '/v1 Secret',
        '/v1 Service',
        '/v1 ServiceAccount',
        'apps/v1 Deployment',
      ],
    ],
    [
      'repeated kinds count, and the rule that reaches ten is the last',
      [rule(['', 'apps'], ['v1'], Array(5).fill('deployments')), rule([''], ['v1'], ['pods'])],
      ['apps/v1 Deployment'],
    ],
    [
      'of the rule that reaches ten the first ten stay',
      [rule([''], ['v1'], [...NINE, 'podtemplates', 'resourcequotas'])],
      [
        '/v1 ConfigMap',
        '/v1 Endpoints',
        '/v1 LimitRange',
        '/v1 Namespace',
        '/v1 Node',
        '/v1 Pod',
        '/v1 PodTemplate',
        '/v1 ResourceQuota',
        '/v1 Secret',
        '/v1 ServiceAccount',
      ],
    ],
  ]
for (const [title, rules, kinds] of CASES)
  test(`kinds: ${title}`, () => assert.deepEqual(kindsOf(...rules), kinds))

test('rules that name nothing ask nothing', () => {
  const rules = [rule(['*'], ['v1'], ['pods']), rule([''], ['v1'], ['pods/status'])]
  const { effects, result } = drive(matchedKinds(rules))
  assert.deepEqual([effects, result], [[], { kinds: [] }])
})

test('versions are sorted whatever the order of the rules', () => {
  const scaler = (version: string) => rule(['autoscaling'], [version], ['horizontalpodautoscalers'])
  assert.deepEqual(kindsOf(scaler('v2'), scaler('v1')), [
    'autoscaling/v1 HorizontalPodAutoscaler',
    'autoscaling/v2 HorizontalPodAutoscaler',
  ])
})

test('a server that tells no singular has the kind in small letters', () => {
  const resources = discovered.resources.map((one) => ({ ...one, singular: '' }))
  const lookup = { group: 'apps', version: 'v1', resource: 'Deployment' }
  assert.equal(kindsFor({ ...discovered, resources }, lookup).length, 1)
})

test('discovery is read again where any of several resources is missing, and where none is it is not', () => {
  const known = rule(['apps'], ['v1'], ['deployments'])
  const reads = (...rules: readonly NamedRuleWithOperations[]): number =>
    drive(matchedKinds(rules), { onRead: () => ({ ok: true, object: discovered as object }) })
      .effects.length
  assert.equal(reads(known, rule(['batch'], ['v1'], ['jobs'])), 1)
  assert.equal(reads(known, rule(['acme.test'], ['v1'], ['things'])), 2)
})
