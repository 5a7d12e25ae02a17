import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node, pod } from '@gyropilot/api/testing'
import { findFeasible, findNamed, namedNodes, nodesToFind } from './feasible-nodes.ts'
import { NodeIndex } from './node-index.ts'
import type { NodeInfo } from './node-info.ts'

test('how many nodes do: all below 100, then 50 % falling to 5 %, at least 100', () => {
  const table: readonly [number, number][] = [
    [0, 0],
    [99, 99],
    [100, 100],
    [150, 100],
    [250, 120],
    [1_000, 420],
    [5_000, 500],
    [6_000, 300],
    [20_000, 1_000],
  ]
  for (const [count, wanted] of table) assert.equal(nodesToFind(count), wanted, `${count} nodes`)
})

function indexOf(count: number): NodeIndex {
  const index = new NodeIndex()
  for (let at = 0; at < count; at++) index.setNode(node({ name: `n${at}` }))
  return index
}

const verdict = (info: NodeInfo) => ({ node: info.name, reasons: ['no'], curable: true })

test('a search stops when it has found enough, goes around, and says how far it came', () => {
  const { nodes } = indexOf(300)
  const wanted = nodesToFind(300)
  const first = findFeasible(nodes, 0, () => undefined)
  assert.deepEqual([first.feasible.length, first.looked], [wanted, wanted])
  const around = findFeasible(nodes, 290, (info) =>
    info.name === 'n291' ? verdict(info) : undefined,
  )
  assert.deepEqual([around.feasible.length, around.looked], [wanted, wanted + 1])
  assert.deepEqual(
    [around.feasible[0]?.name, around.feasible[9]?.name, around.verdicts[0]?.node],
    ['n290', 'n0', 'n291'],
  )
  const none = findFeasible(nodes, 7, verdict)
  assert.deepEqual([none.feasible.length, none.verdicts.length, none.looked], [0, 300, 300])
})

const on = (...names: string[]) =>
  pod({
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: names.map((name) => ({
              matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [name] }],
            })),
          },
        },
      },
    },
  })

test('pods that name their nodes are tried on those alone; the others are out by name', () => {
  assert.equal(namedNodes(pod()), undefined)
  assert.deepEqual(namedNodes(on('n1', 'n2')), new Set(['n1', 'n2']))
  const index = indexOf(3)
  const looked: string[] = []
  const search = findNamed(
    new Set(['n1', 'gone']),
    index,
    (name) => index.get(name),
    (info) => {
      looked.push(info.name)
      return verdict(info)
    },
  )
  assert.deepEqual(looked, ['n1'])
  assert.deepEqual(
    search.verdicts.map(({ node: name, reasons, curable }) => [name, reasons[0], curable]),
    [
      ['n1', 'no', true],
      ['n0', "node(s) didn't satisfy plugin(s) [NodeAffinity]", false],
      ['n2', "node(s) didn't satisfy plugin(s) [NodeAffinity]", false],
    ],
  )
  const found = findNamed(
    new Set(['n1']),
    index,
    (name) => index.get(name),
    () => undefined,
  )
  assert.deepEqual([found.feasible.map(({ name }) => name), found.verdicts], [['n1'], []])
})
