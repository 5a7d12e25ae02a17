/** Autoscalers and the load they follow, on a whole cluster in virtual time. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec } from '@gyropilot/api'
import { deployment } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const SECOND_MS = 1_000
const LOOK_MS = 5_000
const MINUTE_MS = 60_000

/** Half of what its pods request. */
function autoscaler(spec: Partial<HorizontalPodAutoscalerSpec> = {}): HorizontalPodAutoscaler {
  return {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
        },
      ],
      ...spec,
    },
  } as HorizontalPodAutoscaler
}

/** Each pod requests 200m, so that 100m of the load are a pod's part. */
async function run(
  world: World,
  load: string,
  spec: Partial<HorizontalPodAutoscalerSpec> = {},
): Promise<void> {
  const annotations = { 'sim.kubelet/shared-cpu': load }
  const web = deployment('web', { annotations })
  const resourcesOfPod = { requests: { cpu: '200m' } }
  const { template } = web.spec!
  const containers = template.spec!.containers.map((container) => ({
    ...container,
    resources: resourcesOfPod,
  }))
  const measured = { ...template, spec: { ...template.spec!, containers } }
  await world
    .of(resources.deployments)
    .create({ ...web, spec: { ...web.spec!, template: measured } })
  await world.of(resources.horizontalpodautoscalers).create(autoscaler(spec))
}

async function replicas(world: World): Promise<number> {
  return (await world.find(resources.deployments, 'web'))?.spec?.replicas ?? -1
}

/** Sizes one after the other; autoscalers look every fifteen seconds. */
async function sizes(world: World, forMs: number): Promise<readonly number[]> {
  const seen: number[] = []
  for (let elapsedMs = 0; elapsedMs < forMs; elapsedMs += LOOK_MS) {
    const size = await replicas(world)
    if (seen.at(-1) !== size) seen.push(size)
    await world.advance(LOOK_MS)
  }
  return seen
}

async function status(world: World) {
  const found = await world.find(resources.horizontalpodautoscalers, 'web')
  const reason = (type: string) => findCondition(found?.status?.conditions, type)?.reason
  return {
    ...found?.status,
    able: reason('AbleToScale'),
    active: reason('ScalingActive'),
    limited: reason('ScalingLimited'),
  }
}

async function messages(world: World): Promise<readonly string[]> {
  const events = await world.list(resources.events)
  return events
    .filter(({ involvedObject }) => involvedObject.kind === 'HorizontalPodAutoscaler')
    .map(({ reason, message }) => `${reason} ${message}`)
}

scenario(
  'pods are added until their parts of the load are what was asked for, and stay that many',
  async (world) => {
    await run(world, '650m')
    assert.deepEqual(await sizes(world, 4 * MINUTE_MS), [1, 4, 7])
    const { currentReplicas, desiredReplicas, currentMetrics, ...reasons } = await status(world)
    assert.deepEqual([currentReplicas, desiredReplicas], [7, 7])
    assert.deepEqual(currentMetrics?.[0]?.resource?.current, {
      averageUtilization: 46,
      averageValue: '93m',
    })
    assert.equal(reasons.able, 'ReadyForNewScale')
    assert.equal(reasons.active, 'ValidMetricFound')
    assert.equal(reasons.limited, 'DesiredWithinRange')
  },
)

scenario(
  'a load that goes takes its pods with it when the stabilisation window has passed',
  async (world) => {
    await run(world, '100m,2m=600m,6m=100m')
    await world.advance(6 * MINUTE_MS - 10 * SECOND_MS)
    assert.equal(await replicas(world), 6)
    assert.deepEqual(await sizes(world, 4.5 * MINUTE_MS), [6])
    const held = await status(world)
    assert.deepEqual([held.able, held.desiredReplicas], ['ScaleDownStabilized', 6])
    assert.deepEqual(await sizes(world, 2 * MINUTE_MS), [6, 1])
    assert.ok(
      (await messages(world)).includes(
        'SuccessfulRescale New size: 1; reason: All metrics below target',
      ),
    )
  },
)

scenario(
  'policies say how fast: two pods a minute up, one pod a minute down, without a window',
  async (world) => {
    const behavior = {
      scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] },
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
      },
    } as const
    await run(world, '600m,5m=300m', { behavior })
    await world.advance(70 * SECOND_MS)
    assert.equal(await replicas(world), 3)
    assert.equal((await status(world)).limited, 'ScaleUpLimit')
    assert.deepEqual(await sizes(world, 3.5 * MINUTE_MS), [3, 5, 6])
    assert.deepEqual(await sizes(world, 70 * SECOND_MS), [6, 5])
    assert.equal((await status(world)).limited, 'ScaleDownLimit')
    assert.deepEqual(await sizes(world, 4 * MINUTE_MS), [5, 4, 3])
  },
)

scenario('a direction that is disabled is not taken', async (world) => {
  const behavior = { scaleDown: { selectPolicy: 'Disabled' } }
  await run(world, '400m,3m=100m', { behavior })
  assert.deepEqual(await sizes(world, 10 * MINUTE_MS), [1, 4])
})

scenario(
  'more load than the limits of the autoscaler allow ends at the limits, and says so',
  async (world) => {
    await run(world, '5', { maxReplicas: 6 })
    assert.deepEqual(await sizes(world, 2 * MINUTE_MS), [1, 4, 6])
    assert.equal((await status(world)).limited, 'TooManyReplicas')
  },
)

scenario('after a restart of the manager nothing goes down for one window', async (world) => {
  await run(world, '600m,4m=100m')
  await world.advance(8 * MINUTE_MS)
  assert.equal(await replicas(world), 6)
  world.restartManager()
  await world.advance(4.5 * MINUTE_MS)
  assert.equal(await replicas(world), 6)
  await world.until('it is small', 3 * MINUTE_MS, async () =>
    (await replicas(world)) === 1 ? true : undefined,
  )
})

scenario(
  'a target that nobody measures stays as it is: pods that request nothing',
  async (world) => {
    await world.of(resources.deployments).create(deployment('web', { replicas: 2 }))
    await world.of(resources.horizontalpodautoscalers).create(autoscaler())
    assert.deepEqual(await sizes(world, 2 * MINUTE_MS), [2])
    assert.equal((await status(world)).active, 'FailedGetResourceMetric')
    assert.ok(
      (await messages(world)).some((text) => /missing request for cpu in container c/.test(text)),
    )
  },
)
