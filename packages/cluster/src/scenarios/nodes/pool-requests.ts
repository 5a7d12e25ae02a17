/** What pools of devices have, told once to who asks. */
import type { ResourceSlice } from '@gyropilot/api'
import { resources, resourcesOnRequest } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { DRIVER, deviceClaim } from './devices.ts'
import type { Scenario } from '../scenario.ts'

const SPARE_PARTS = 'parts.example.com'
/** Longer than any cache lags: an answer is given once, from what the caches have. */
const STEP_MS = 20_000
const CLEAN_UPS_MS = 25 * 60_000

const type = resourcesOnRequest.resourcepoolstatusrequests

const ask = (cluster: SimulatedCluster, name: string, driver: string) =>
  cluster.client.resource(type).create({ metadata: { name }, spec: { driver } })

const find = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(type, undefined, name)

/** Of a pool of this driver, which has so many slices. */
function sliceOf(
  name: string,
  driver: string,
  slices: number,
  devices: readonly string[],
): ResourceSlice {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name },
    spec: {
      driver,
      allNodes: true,
      pool: { name: 'store', generation: 1, resourceSliceCount: slices },
      devices: devices.map((device) => ({ name: device })),
    },
  }
}

/** As a scheduler does it, for somebody who is no pod. */
async function take(cluster: SimulatedCluster, name: string, device: string): Promise<void> {
  await cluster.create(deviceClaim(name))
  const result = { request: 'gpu', driver: DRIVER, pool: 'store', device }
  const status = {
    allocation: { devices: { results: [result] } },
    reservedFor: [{ apiGroup: 'example.com', resource: 'users', name: 'she', uid: 'hers' }],
  }
  await cluster.patch(
    resources.resourceclaims,
    'default',
    name,
    { type: 'merge', value: { status } },
    { subresource: 'status' },
  )
}

/** Answered two hours ago, about a pool of which the controller tells nothing yet. */
async function askLongAgo(cluster: SimulatedCluster, name: string): Promise<void> {
  await ask(cluster, name, SPARE_PARTS)
  const lastTransitionTime = formatTime(cluster.clock.nowMs() - 2 * 3_600_000)
  const conditions = [
    {
      type: 'Complete',
      status: 'True',
      reason: 'CalculationComplete',
      message: '',
      lastTransitionTime,
    },
  ]
  await cluster.client
    .resource(type)
    .patch(
      name,
      { type: 'merge', value: { status: { poolCount: 0, conditions } } },
      { subresource: 'status' },
    )
}

const touch = (cluster: SimulatedCluster, name: string) =>
  cluster.client.resource(type).patch(name, {
    type: 'merge',
    value: { metadata: { annotations: { 'example.com/at': `${cluster.virtualMs}` } } },
  })

function answerText(cluster: SimulatedCluster, name: string): string {
  const { poolCount, pools = [], conditions = [] } = find(cluster, name)?.status ?? {}
  const said = conditions.map(({ type: about, status, message }) => `${about}=${status} ${message}`)
  const told = pools.map(
    ({ driver, totalDevices, allocatedDevices, availableDevices }) =>
      `${driver} ${totalDevices} ${allocatedDevices} ${availableDevices}`,
  )
  return [poolCount, ...said, ...told].join(', ')
}

export const poolRequestScenarios: readonly Scenario[] = [
  {
    name: 'who asks for pools is answered once, when they are complete',
    controllers: ['resourcepoolstatusrequest-controller'],
    nodes: 0,
    featureGates: { DRAResourcePoolStatus: true },
    runtimeConfig: { 'resource.k8s.io/v1alpha3': true },
    async play(cluster) {
      await cluster.create(sliceOf('gpus', DRIVER, 1, ['gpu-0', 'gpu-1', 'gpu-2']))
      await take(cluster, 'taken', 'gpu-1')
      await cluster.create(sliceOf('upper', SPARE_PARTS, 2, ['bolt', 'nut']))
      await cluster.advance(STEP_MS)
      await ask(cluster, 'gpus', DRIVER)
      await ask(cluster, 'nothing', 'none.example.com')
      await ask(cluster, 'parts', SPARE_PARTS)
      await askLongAgo(cluster, 'old')
      await cluster.advance(STEP_MS)
      if (find(cluster, 'parts')?.status !== undefined) throw new Error('half a pool was told')
      await cluster.create(sliceOf('lower', SPARE_PARTS, 2, ['screw']))
      await cluster.advance(STEP_MS)
      await touch(cluster, 'parts')
      await take(cluster, 'late', 'gpu-2')
      // What is over is looked for every ten minutes.
      const isGone = (): boolean => find(cluster, 'old') === undefined
      if (!(await cluster.until(isGone, CLEAN_UPS_MS))) throw new Error('old never went')
    },
    *ends(cluster) {
      const wanted = {
        gpus: `1, Complete=True Calculated status for 1 pools, ${DRIVER} 3 1 2`,
        nothing: '0, Complete=True Calculated status for 0 pools',
        parts: `1, Complete=True Calculated status for 1 pools, ${SPARE_PARTS} 3 0 3`,
        old: '',
      }
      for (const [name, text] of Object.entries(wanted)) {
        const found = answerText(cluster, name)
        if (found !== text) yield `${name}: ${found} and not ${text}`
      }
    },
  },
]
