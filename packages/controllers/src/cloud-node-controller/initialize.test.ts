import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../cloud-support/fixtures.ts'
import { UNINITIALIZED_TAINT } from './config.ts'
import { initialized, isUninitialized } from './initialize.ts'

const taint = (key: string, effect: 'NoSchedule' | 'NoExecute' = 'NoSchedule') => ({ key, effect })

test('a node is uninitialised by the key of its taint, whatever its value and effect', () => {
  assert.equal(isUninitialized(node('n')), false)
  assert.equal(isUninitialized(node('n', { taints: [taint('other')] })), false)
  const uninitialized = [{ ...taint(UNINITIALIZED_TAINT, 'NoExecute'), value: 'x' }]
  assert.equal(isUninitialized(node('n', { taints: uninitialized })), true)
})

test('type, zone and region stand under both their keys and overwrite what was there', () => {
  const before = node('n', { labels: { 'topology.kubernetes.io/zone': 'old', mine: 'x' } })
  const { metadata } = initialized(before, { instanceType: 't', zone: 'z', region: 'r' })
  assert.deepEqual(metadata?.labels, {
    mine: 'x',
    'beta.kubernetes.io/instance-type': 't',
    'node.kubernetes.io/instance-type': 't',
    'failure-domain.beta.kubernetes.io/zone': 'z',
    'topology.kubernetes.io/zone': 'z',
    'failure-domain.beta.kubernetes.io/region': 'r',
    'topology.kubernetes.io/region': 'r',
  })
})

test('what the cloud does not know is left alone', () => {
  const before = node('n', { labels: { 'topology.kubernetes.io/zone': 'old' } })
  const after = initialized(before, { instanceType: '', zone: '' })
  assert.deepEqual(after.metadata?.labels, { 'topology.kubernetes.io/zone': 'old' })
  assert.equal(after.spec?.providerID, undefined)
})

test('Given additional labels with some reserved or present, then only the free ones are added', () => {
  const additionalLabels = {
    'topology.kubernetes.io/rack': '1',
    'kubernetes.io/x': '1',
    'a.b.k8s.io/x': '1',
    'k8s.io/x': '1',
    'topology.k8s.io/region': '1',
    present: 'new',
    free: 'f',
    'mykubernetes.io/x': 'f',
    'example.com/k8s.io': 'f',
  }
  const before = node('n', { labels: { present: 'old' } })
  assert.deepEqual(initialized(before, { additionalLabels }).metadata?.labels, {
    present: 'old',
    free: 'f',
    'mykubernetes.io/x': 'f',
    'example.com/k8s.io': 'f',
  })
})

test('Given a provider ID already set or not implemented, then it is kept or left empty', () => {
  const set = initialized(node('n', { providerId: 'a://1' }), { providerId: 'b://2' })
  assert.equal(set.spec?.providerID, 'a://1')
  assert.equal(initialized(node('n'), { providerId: 'b://2' }).spec?.providerID, 'b://2')
  assert.equal('providerID' in initialized(node('n'), { providerId: '' }).spec!, true)
  assert.equal(initialized(node('n'), { providerId: '' }).spec?.providerID, undefined)
})

test('all taints with the cloud key go; other taints stay in order', () => {
  const taints = [
    taint('a'),
    taint(UNINITIALIZED_TAINT),
    taint('b'),
    taint(UNINITIALIZED_TAINT, 'NoExecute'),
  ]
  const { spec } = initialized(node('n', { taints }), {})
  assert.deepEqual(spec?.taints, [taint('a'), taint('b')])
  const only = initialized(node('n', { taints: [taint(UNINITIALIZED_TAINT)] }), {})
  assert.equal(only.spec?.taints, undefined)
})
