import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Labels, Pod, PodAffinityTerm } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { affinitySums } from './affinity-scores.ts'
import { NodeInfo } from './node-info.ts'
import { scoreNodes } from './scores.ts'
import { snapshotOf } from './snapshot.ts'

const HOSTNAME = 'kubernetes.io/hostname'
const ZONE = 'topology.kubernetes.io/zone'
const about = (app: string, topologyKey = HOSTNAME): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
})
const near = (podAffinityTerm: PodAffinityTerm, weight = 100) => ({
  podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm, weight }] },
})
const apart = (podAffinityTerm: PodAffinityTerm, weight = 100) => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm, weight }],
  },
})
const podOf = (name: string, app: string, affinity: object = {}, namespace = 'default'): Pod => {
  const made = pod({ name, labels: { app }, spec: { affinity } })
  return { ...made, metadata: { ...made.metadata, namespace } }
}
const infoOf = (name: string, zone: string, pods: readonly Pod[] = []): NodeInfo => {
  const info = new NodeInfo(name)
  const labels = { [HOSTNAME]: name, [ZONE]: zone }
  info.setNode(node({ name, labels, allocatable: { cpu: '8', memory: '32Gi', pods: '110' } }))
  for (const one of pods) info.addPod(one)
  return info
}
const three = (a: readonly Pod[] = [], b: readonly Pod[] = [], c: readonly Pod[] = []) => [
  infoOf('a', 'z1', a),
  infoOf('b', 'z1', b),
  infoOf('c', 'z2', c),
]
const sums = (
  candidate: Pod,
  infos: readonly NodeInfo[],
  labels: Readonly<Record<string, Labels>> = {},
) =>
  affinitySums(
    candidate,
    infos,
    snapshotOf(infos, (name) => labels[name]),
  )

test('own preferred terms: weight for each matching pod in the domain, less where they repel', () => {
  const infos = three([podOf('w1', 'web'), podOf('w2', 'web')], [], [podOf('d', 'db')])
  assert.deepEqual(sums(podOf('x', 'x', near(about('web'), 10)), infos), [20, 0, 0])
  assert.deepEqual(sums(podOf('x', 'x', near(about('web', ZONE), 10)), infos), [20, 20, 0])
  assert.deepEqual(sums(podOf('x', 'x', apart(about('web'), 10)), infos), [-20, 0, 0])
})

test('what pods that are there prefer, and what they require, counts for those that come', () => {
  const required = {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [about('web', ZONE)] },
  }
  const infos = three(
    [podOf('fan', 'fan', near(about('web'), 7))],
    [podOf('shy', 'shy', apart(about('web'), 5))],
    [podOf('strict', 'strict', required)],
  )
  assert.deepEqual(sums(podOf('x', 'web'), infos), [7, -5, 1])
  assert.equal(sums(podOf('x', 'other'), infos), undefined)
})

test('pods of other namespaces count only where a term says so', () => {
  const infos = three([podOf('w', 'web', {}, 'shop')], [podOf('v', 'web', {}, 'bank')])
  const named = { ...about('web'), namespaces: ['shop'] }
  const selected = { ...about('web'), namespaceSelector: { matchLabels: { team: 'money' } } }
  const all = { ...about('web'), namespaceSelector: {} }
  const labels = { shop: { team: 'goods' }, bank: { team: 'money' } }
  assert.equal(sums(podOf('x', 'x', near(about('web'), 1)), infos, labels), undefined)
  assert.deepEqual(sums(podOf('x', 'x', near(named, 1)), infos, labels), [1, 0, 0])
  assert.deepEqual(sums(podOf('x', 'x', near(selected, 1)), infos, labels), [0, 1, 0])
  assert.deepEqual(sums(podOf('x', 'x', near(all, 1)), infos, labels), [1, 1, 0])
  assert.deepEqual(
    sums(podOf('x', 'x', near({ ...selected, namespaces: ['shop'] }, 1)), infos, labels),
    [1, 1, 0],
  )
})

test('a count that is kept follows the pods of the node', () => {
  const infos = three()
  const asking = podOf('x', 'x', near(about('web'), 1))
  assert.equal(sums(asking, infos), undefined)
  infos[1]!.addPod(podOf('w', 'web'))
  assert.deepEqual(sums(asking, infos), [0, 1, 0])
  infos[1]!.removePod(podOf('w', 'web').metadata!.uid!)
  assert.equal(sums(asking, infos), undefined)
})

test('the pod goes where the sum is highest, lowest to highest being 0 to 100 of weight 2', () => {
  const infos = three([podOf('w1', 'web'), podOf('w2', 'web')], [podOf('w3', 'web')])
  const snapshot = snapshotOf(infos)
  const scores = (affinity: object) => {
    const found = scoreNodes(podOf('x', 'x', affinity), snapshot, infos, undefined)
    const plain = scoreNodes(podOf('x', 'x'), snapshot, infos, undefined)
    return infos.map((_, i) => found[i]! - plain[i]!)
  }
  assert.deepEqual(scores(near(about('web'))), [200, 100, 0])
  assert.deepEqual(scores(apart(about('web'))), [0, 100, 200])
  assert.deepEqual(scores(near(about('nobody'))), [0, 0, 0])
})
