import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { NodeInfo } from './node-info.ts'
import { countedGroup } from './counted-group.ts'
import { bestScored, scoreNodes } from './scores.ts'
import { snapshotOf } from './snapshot.ts'

function place(
  names: readonly string[],
  candidates: readonly Pod[],
  spread: boolean,
): Map<string, number> {
  const infos = names.map((name) => {
    const info = new NodeInfo(name)
    info.setNode(node({ name, allocatable: { cpu: '8', memory: '32Gi', pods: '110' } }))
    return info
  })
  for (const candidate of candidates) {
    const scores = scoreNodes(
      candidate,
      snapshotOf(infos),
      infos,
      spread ? countedGroup('default', 'all', () => true) : undefined,
    )
    bestScored(infos, scores)[0]!.addPod(candidate)
  }
  return new Map(infos.map((info) => [info.name, info.pods.size]))
}

test('Deployment of 6 over 3 equal nodes: 2 each', () => {
  const six = Array.from({ length: 6 }, (_, i) => pod({ name: `p${i}` }))
  assert.deepEqual([...place(['a', 'b', 'c'], six, true).values()], [2, 2, 2])
})

test('pods that belong together by nothing still go to the least allocated node', () => {
  const asking = Array.from({ length: 4 }, (_, i) =>
    pod({
      name: `p${i}`,
      spec: {
        containers: [
          { name: 'c', image: 'x', resources: { requests: { cpu: '1', memory: '4Gi' } } },
        ],
      },
    }),
  )
  assert.deepEqual([...place(['a', 'b'], asking, false).values()], [2, 2])
})

test('the best are all that nobody surpasses, in the order of the nodes', () => {
  const infos = ['c', 'a', 'b'].map((name) => new NodeInfo(name))
  const names = bestScored(infos, [7, 3, 7]).map(({ name }) => name)
  assert.deepEqual(names, ['c', 'b'])
})

test('taints and preferred affinity count by their share of the most there is, not of what lies between', () => {
  const infoOf = (taints: number, labels: Readonly<Record<string, string>>): NodeInfo => {
    const info = new NodeInfo(`n${taints}`)
    const all = Array.from({ length: taints }, (_, i) => ({
      key: `t${i}`,
      effect: 'PreferNoSchedule' as const,
    }))
    info.setNode(node({ name: info.name, labels, spec: { taints: all } }))
    return info
  }
  const likes = (...pairs: readonly (readonly [string, number])[]): Pod =>
    pod({
      name: 'x',
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: pairs.map(([key, weight]) => ({
              weight,
              preference: { matchExpressions: [{ key, operator: 'Exists' }] },
            })),
          },
        },
      },
    })
  const lead = (candidate: Pod, ...infos: readonly [NodeInfo, NodeInfo]): number => {
    const [first, second] = scoreNodes(candidate, snapshotOf(infos), infos, undefined)
    return first! - second!
  }
  assert.equal(lead(likes(), infoOf(1, {}), infoOf(2, {})), 150)
  assert.equal(lead(likes(), infoOf(0, {}), infoOf(2, {})), 300)
  assert.equal(
    lead(likes(['a', 50], ['b', 50]), infoOf(0, { a: '' }), infoOf(0, { a: '', b: '' })),
    -100,
  )
})

test('what containers do not ask for is assumed of sidecars too, and not of those beside a larger init container', () => {
  const infoOf = (name: string, ...pods: readonly Pod[]): NodeInfo => {
    const info = new NodeInfo(name)
    info.setNode(node({ name, allocatable: { cpu: '2', memory: '4Gi', pods: '110' } }))
    for (const each of pods) info.addPod(each)
    return info
  }
  const best = (...infos: readonly NodeInfo[]): readonly string[] =>
    bestScored(infos, scoreNodes(pod({ name: 'x' }), snapshotOf(infos), infos, undefined)).map(
      ({ name }) => name,
    )
  const sidecar = { name: 's', image: 'x', restartPolicy: 'Always' as const }
  const beside = ['a', 'b'].map((name) => pod({ name, spec: { initContainers: [sidecar] } }))
  const plain = ['c', 'd', 'e'].map((name) => pod({ name }))
  assert.deepEqual(best(infoOf('n1', ...beside), infoOf('n2', ...plain)), ['n2'])
  const asking = (name: string, cpu: string) => ({
    name,
    image: 'x',
    resources: { requests: { cpu, memory: '200Mi' } },
  })
  const main = { name: 'c', image: 'x', resources: { requests: { memory: '200Mi' } } }
  const init = pod({
    name: 'i',
    spec: { initContainers: [asking('i', '500m')], containers: [main] },
  })
  const more = pod({ name: 'm', spec: { containers: [asking('c', '550m')] } })
  assert.deepEqual(best(infoOf('n1', init), infoOf('n2', more)), ['n1'])
})
