import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExternalValues, readMetricValues, readPodMetrics } from './metric-answers.ts'

const QUANTITY =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

const podItem = (item: object) => ({ items: [{ metadata: { name: 'a' }, window: '30s', ...item }] })
const using = (usage: unknown) => podItem({ containers: [{ name: 'c', usage }] })

/** Texts as kube-controller-manager 1.36.2 has them. */
const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
  [
    'a quantity of another resource',
    () => readPodMetrics(using({ cpu: '1', memory: 'much' })),
    QUANTITY,
  ],
  ['an empty one', () => readExternalValues({ items: [{ value: '' }] }), QUANTITY],
  ['a truth', () => readMetricValues({ items: [{ value: true }] }), QUANTITY],
  ['no unit', () => readPodMetrics(podItem({ window: '5' })), 'time: missing unit in duration "5"'],
  ['no window', () => readPodMetrics(podItem({ window: null })), 'time: invalid duration ""'],
  [
    'a time that is none',
    () => readExternalValues({ items: [{ value: '1', timestamp: 'x' }] }),
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    'a time of a month that is none',
    () => readPodMetrics(podItem({ timestamp: '2026-13-28T05:48:08Z' })),
    'parsing time "2026-13-28T05:48:08Z": month out of range',
  ],
  [
    'a time without a zone',
    () => readPodMetrics(podItem({ timestamp: '2026-11-28T05:48:08' })),
    'parsing time "2026-11-28T05:48:08" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
  ],
  [
    'another kind',
    () => readPodMetrics({ kind: 'ConfigMapList', apiVersion: 'v1', items: [] }),
    'no kind "ConfigMapList" is registered for version "v1" in scheme "pkg/client/clientset/versioned/scheme/register.go:31"',
  ],
  [
    'another version',
    () => readPodMetrics({ kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1', items: [] }),
    'no kind "PodMetricsList" is registered for version "metrics.k8s.io/v1" in scheme "pkg/client/clientset/versioned/scheme/register.go:31"',
  ],
  [
    'a kind that is a number',
    () => readPodMetrics({ kind: 5, apiVersion: 'metrics.k8s.io/v1beta1' }),
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
  ],
  [
    'a time that is a number',
    () => readExternalValues({ items: [{ value: '1', timestamp: 5 }] }),
    'json: cannot unmarshal number into Go struct field ExternalMetricValue.items.timestamp of type string',
  ],
  [
    'a name that is a number, though all else could be read',
    () => readPodMetrics({ items: [{ metadata: { name: 5 } }] }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.items.metadata.name of type string',
  ],
  [
    'a quantity behind a wrong type comes first',
    () => readMetricValues({ items: [{ windowSeconds: 1.5 }, { value: 'x' }] }),
    QUANTITY,
  ],
  [
    'a part of a second',
    () => readMetricValues({ items: [{ windowSeconds: 1.5 }] }),
    'json: cannot unmarshal number 1.5 into Go struct field MetricValue.items.windowSeconds of type int64',
  ],
  [
    'a text for a list',
    () => readPodMetrics({ items: 'x' }),
    'json: cannot unmarshal string into Go struct field PodMetricsList.items of type []v1beta1.PodMetrics',
  ],
  [
    'labels that are a number',
    () => readMetricValues({ items: [{ metric: { selector: { matchLabels: 5 } } }] }),
    'json: cannot unmarshal number into Go struct field LabelSelector.items.metric.selector.matchLabels of type map[string]string',
  ],
  [
    'a list for amounts',
    () => readPodMetrics(using([])),
    'json: cannot unmarshal array into Go struct field ContainerMetrics.items.containers.usage of type v1.ResourceList',
  ],
]
for (const [title, read, message] of REFUSED)
  test(`nothing is left of an answer with ${title}`, () => assert.throws(read, { message }))

test('what is null or unknown is as if it were not there, and a null quantity is nothing', () => {
  assert.deepEqual(readPodMetrics({ items: null }), [])
  assert.deepEqual(readPodMetrics({}), [])
  // Of a kind that is known and not what was asked for nothing is taken; of none, what was asked for.
  const { items } = podItem({})
  for (const head of [
    { kind: 'NodeMetricsList', apiVersion: 'metrics.k8s.io/v1beta1' },
    { kind: 'PodMetrics', apiVersion: 'metrics.k8s.io/v1beta1' },
    { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1alpha1' },
    { kind: 'Status', apiVersion: 'v1' },
  ])
    assert.deepEqual(readPodMetrics({ ...head, items }), [])
  for (const head of [
    {},
    { kind: '', apiVersion: '' },
    { apiVersion: 'metrics.k8s.io/v1beta1' },
    { kind: 'PodMetricsList' },
  ])
    assert.equal(readPodMetrics({ ...head, items }).length, 1)
  assert.deepEqual(readPodMetrics({ items: [null] }), [{}])
  assert.deepEqual(readPodMetrics(using({ cpu: null }))[0]?.containers?.[0]?.usage, { cpu: '0' })
  const item = { value: null, timestamp: null, windowSeconds: null, more: [1] }
  const [read] = readMetricValues({ items: [item] })
  assert.deepEqual([read?.value, read?.timestamp, read?.windowSeconds], ['0', undefined, undefined])
})

test('a number is a quantity like its text, and so is a text with blanks around it', () => {
  const values = [5, 1.5, ' 2 ', '500m'].map((value) => ({ value }))
  assert.deepEqual(
    readExternalValues({ items: values }).map(({ value }) => value),
    ['5', '1.5', '2', '500m'],
  )
})

test('integers beyond 2^53, which are read as bigints, are taken as far as an int64 goes', () => {
  const value = 9_007_199_254_740_993n
  const read = (more: object) => readExternalValues({ items: [{ value, ...more }] })
  assert.deepEqual(read({}), [{ value: '9007199254740993' }])
  assert.deepEqual(read({ window: value }), [{ value: '9007199254740993', window: value }])
  assert.throws(() => read({ window: 2n ** 63n }), {
    message:
      'json: cannot unmarshal number 9223372036854775808 into Go struct field ExternalMetricValue.items.window of type int64',
  })
})
