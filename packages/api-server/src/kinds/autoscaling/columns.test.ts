import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricSpec, MetricStatus } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { autoscalerColumns } from './columns.ts'

const targets = autoscalerColumns.find(({ name }) => name === 'Targets')!

const shown = (metrics: readonly object[], currentMetrics: readonly object[] = []): unknown =>
  targets.cell(
    {
      spec: { metrics: metrics as readonly StoredOf<MetricSpec>[] },
      status: { currentMetrics: currentMetrics as readonly StoredOf<MetricStatus>[] },
    },
    0,
  )

const source = (type: string, target: object, name = 'm'): object => ({
  type,
  [`${type[0]!.toLowerCase()}${type.slice(1)}`]: { name, target },
})
const measured = (type: string, current: object): object => ({
  type,
  [`${type[0]!.toLowerCase()}${type.slice(1)}`]: { name: 'm', current },
})

test('what is measured stands before what is wanted, in the way it is wanted', () => {
  const cases: readonly (readonly [object, object | undefined, string])[] = [
    [source('Resource', { averageUtilization: 50 }, 'cpu'), undefined, 'cpu: <unknown>/50%'],
    [source('Resource', { averageUtilization: 50 }), measured('Resource', {}), 'm: <unknown>/50%'],
    [
      source('ContainerResource', { averageUtilization: 50 }),
      measured('ContainerResource', { averageUtilization: 7 }),
      'm: 7%/50%',
    ],
    [source('Resource', { averageValue: '1Gi' }), undefined, 'm: <unknown>/1Gi'],
    [source('Pods', { averageValue: '5' }), measured('Pods', { averageValue: '4' }), '4/5'],
    [source('Object', { value: '5' }), measured('Object', { value: '4' }), '4/5'],
    [
      source('External', { averageValue: '5' }),
      measured('External', { averageValue: '4' }),
      '4/5 (avg)',
    ],
    [source('Object', { averageValue: '5' }), undefined, '<unknown>/5 (avg)'],
  ]
  for (const [metric, status, text] of cases)
    assert.equal(shown([metric], status === undefined ? [] : [status]), text)
})

test('a status that measures in another way has none of what is wanted', () => {
  const average = { averageValue: '4' }
  assert.equal(shown([source('Object', { value: '5' })], [measured('Object', average)]), '<nil>/5')
  assert.equal(
    shown([source('External', { value: '5' })], [measured('External', average)]),
    '<nil>/5',
  )
  assert.equal(shown([source('Pods', { averageValue: '5' })], [measured('Pods', {})]), '<nil>/5')
  assert.equal(
    shown([source('External', { averageValue: '5' })], [measured('External', { value: '4' })]),
    '<unknown>/5 (avg)',
  )
})

test('two metrics are shown, and the others counted', () => {
  const metric = source('Pods', { averageValue: '5' })
  assert.equal(shown([]), '<none>')
  assert.equal(shown([metric, metric]), '<unknown>/5, <unknown>/5')
  assert.equal(shown([metric, metric, metric, metric]), '<unknown>/5, <unknown>/5 + 2 more...')
})
