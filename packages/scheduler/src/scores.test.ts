import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { NodeInfo } from './node-info.ts'
import { podGroup } from './pod-group.ts'
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
      spread ? podGroup('default', 'all', () => true) : undefined,
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
