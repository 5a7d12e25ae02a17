import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { NodeInfo, scoredAmounts } from './node-info.ts'

test('what a node counts for the score of free resources is the sum of its pods, whatever their containers ask for', () => {
  const random = new SeededRandom('containers')
  const chance = (share: number): boolean => random.next() < share
  const container = (name: string): Container => ({
    name,
    resources: {
      requests: {
        ...(chance(0.8) ? { cpu: `${Math.floor(random.next() * 900)}m` } : {}),
        ...(chance(0.8) ? { memory: `${Math.floor(random.next() * 900)}Mi` } : {}),
      },
    },
    ...(name.startsWith('init') && chance(0.5) ? { restartPolicy: 'Always' } : {}),
  })
  const podOf = (uid: string): Pod => {
    const containers = [container('a'), ...(chance(0.5) ? [container('b')] : [])]
    return {
      metadata: { name: uid, uid },
      spec: {
        containers,
        ...(chance(0.4) ? { initContainers: [container('init-a'), container('init-b')] } : {}),
        ...(chance(0.2) ? { resources: { requests: { cpu: '3' } } } : {}),
        ...(chance(0.2) ? { overhead: { memory: '10Mi' } } : {}),
      },
      status: {
        containerStatuses: containers.map(({ name }) => ({
          name,
          image: '',
          imageID: '',
          ready: true,
          restartCount: 0,
          ...(chance(0.3) ? { allocatedResources: { cpu: '2', memory: '2Gi' } } : {}),
        })),
      },
    }
  }
  const info = new NodeInfo('n')
  const pods = Array.from({ length: 200 }, (_, at) => podOf(`pod-${at}`))
  const sum = { cpu: 0, memory: 0 }
  for (const pod of pods) {
    info.addPod(pod)
    const { cpu, memory } = scoredAmounts(pod)
    sum.cpu += cpu
    sum.memory += memory
  }
  assert.deepEqual(info.scored, sum)
  for (const pod of pods) info.removePod(pod.metadata!.uid!)
  assert.deepEqual(info.scored, { cpu: 0, memory: 0 })
})

test('what is read of a node is of the node that was set last, and nothing when it is gone', () => {
  const hostname = 'kubernetes.io/hostname'
  const zone = 'topology.kubernetes.io/zone'
  const labels = { [hostname]: 'h', [zone]: 'z', 'example.com/a': 'b' }
  const taints = [{ key: 'k', effect: 'NoSchedule' }] as const
  const read = (info: NodeInfo): unknown[] => [
    ...[hostname, zone, 'example.com/a', 'constructor'].map((key) => info.label(key)),
    info.taints.length,
    info.unschedulable,
    info.allocatable.cpu,
  ]
  const info = new NodeInfo('n')
  const nothing = [undefined, undefined, undefined, undefined, 0, false, 0]
  assert.deepEqual(read(info), nothing)
  info.setNode({
    metadata: { name: 'n', labels },
    spec: { taints, unschedulable: true },
    status: { allocatable: { cpu: '2' } },
  })
  assert.deepEqual(read(info), ['h', 'z', 'b', undefined, 1, true, 2000])
  info.setNode({ metadata: { name: 'n', labels: { [zone]: 'y', constructor: 'c' } } })
  assert.deepEqual(read(info), [undefined, 'y', undefined, 'c', 0, false, 0])
  info.setNode(undefined)
  assert.deepEqual(read(info), nothing)
})
