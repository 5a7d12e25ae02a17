import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod, Taint } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { SchedulerWorld, asking } from './fixtures.ts'
import { topologySpread } from './filters/topology-spread.ts'
import { NodeInfo } from './node-info.ts'
import { scoreNodes } from './scores.ts'
import { snapshotOf } from './snapshot.ts'

const tolerations = [{ key: 'sla', operator: 'Gt', value: '900' } as const]

const tainted = (name: string, effect: Taint['effect']) =>
  node({
    name,
    labels: { zone: name },
    allocatable: { cpu: '1', pods: '10' },
    spec: { taints: [{ key: 'sla', value: '950', effect }] },
  })

function infoOf(object: ReturnType<typeof node>, pods: readonly Pod[] = []): NodeInfo {
  const info = new NodeInfo(object.metadata?.name ?? '')
  info.setNode(object)
  for (const each of pods) info.addPod(each)
  return info
}

for (const isOn of [false, true]) {
  const options = { comparisonOperators: isOn }

  test(`numbers of taints are compared only with the gate (${isOn}): by the filter`, async () => {
    const world = new SchedulerWorld({ TaintTolerationComparisonOperators: isOn })
    world.set(resources.nodes, tainted('n', 'NoSchedule'))
    world.set(resources.pods, asking('p', '1', { tolerations }))
    world.start()
    await world.clock.advance(100)
    assert.deepEqual(world.bound, isOn ? [['p', 'n']] : [])
    world.stop()
  })

  test(`numbers of taints are compared only with the gate (${isOn}): by the score`, () => {
    const infos = [infoOf(tainted('a', 'PreferNoSchedule')), infoOf(node({ name: 'b' }))]
    const of = (spec: object) =>
      scoreNodes(
        pod({ name: 'p', spec: { containers: [], ...spec } }),
        snapshotOf(infos, undefined, options),
        infos,
        undefined,
      )[0]!
    assert.equal(of({ tolerations }) - of({}), isOn ? 300 : 0)
  })

  test(`numbers of taints are compared only with the gate (${isOn}): by spreading`, () => {
    const labels = { app: 'web' }
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule' as const,
        nodeTaintsPolicy: 'Honor' as const,
        labelSelector: { matchLabels: labels },
      },
    ]
    const web = (name: string) =>
      pod({ name, labels, spec: { containers: [], tolerations, topologySpreadConstraints } })
    const full = infoOf(node({ name: 'full', labels: { zone: 'full' } }), [web('first')])
    const empty = infoOf(tainted('empty', 'NoSchedule'))
    const check = topologySpread(web('second'), snapshotOf([full, empty], undefined, options))!
    assert.equal(check(full).length, isOn ? 1 : 0)
  })
}
