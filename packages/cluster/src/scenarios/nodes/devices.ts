/** Stories of devices, claims for them, and their taints. */
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { isPodActive, resources, resourcesOnRequest } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import type { Scenario } from '../scenario.ts'

const CLAIMS = 'resourceclaim-controller'
const TAINTS = 'device-taint-eviction-controller'
const RULES = resourcesOnRequest.devicetaintrules
const STEP_MS = 20_000
const PATIENCE_MS = 600_000

export const DRIVER = 'gpu.example.com'
export const TEMPLATE = 'one-gpu'
const ONE = { requests: [{ name: 'gpu', exactly: { deviceClassName: DRIVER } }] }

export function deviceTemplate(namespace = 'default'): ResourceClaimTemplate {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: TEMPLATE, namespace },
    spec: { spec: { devices: ONE } },
  }
}

export function deviceClaim(name: string, namespace = 'default'): ResourceClaim {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace },
    spec: { devices: ONE },
  }
}

interface DevicePodOptions {
  readonly namespace?: string
  /** The claim that it names; absent: one from the template. */
  readonly claim?: string
  /** How long it runs; absent: for ever. */
  readonly run?: string
}

export function podWithDevice(name: string, given: DevicePodOptions = {}): Pod {
  const { namespace = 'default', claim, run } = given
  const source =
    claim === undefined ? { resourceClaimTemplateName: TEMPLATE } : { resourceClaimName: claim }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(run && { annotations: { 'sim.kubelet/run': run } }) },
    spec: {
      restartPolicy: run === undefined ? 'Always' : 'Never',
      containers: [{ name: 'web', image: 'web:1', resources: { claims: [{ name: 'gpu' }] } }],
      resourceClaims: [{ name: 'gpu', ...source }],
    },
  }
}

export const publish = (cluster: SimulatedCluster, node: string, devices: number) =>
  cluster.patch(resources.nodes, undefined, node, {
    type: 'merge',
    value: { metadata: { annotations: { 'sim.kubelet/devices': `${DRIVER}=${devices}` } } },
  })

function running(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter((pod) => isPodActive(pod) && pod.status?.phase === 'Running')
    .map(({ metadata }) => metadata?.name)
    .toSorted()
    .join()
}

/** Names without what the server made up, with their number of users. */
function claimsOf(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.resourceclaims, 'default')
    .map(({ metadata, status }) => {
      const name = metadata?.generateName ?? metadata?.name
      const state = status?.allocation === undefined ? 'free' : 'allocated'
      return `${name} ${state} ${status?.reservedFor?.length ?? 0}`
    })
    .toSorted()
    .join()
}

function* expect(what: string, found: string, wanted: string): Iterable<string> {
  if (found !== wanted) yield `${what}: ${found} and not ${wanted}`
}

export const deviceScenarios: readonly Scenario[] = [
  {
    name: 'a device goes from pod to pod',
    controllers: [CLAIMS],
    nodes: 2,
    async play(cluster) {
      await publish(cluster, 'node-1', 1)
      await cluster.create(deviceTemplate())
      await cluster.create(podWithDevice('a', { run: '5s' }))
      await cluster.advance(STEP_MS)
      await cluster.create(podWithDevice('b'))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'b')
      await cluster.create(podWithDevice('c'))
      await cluster.advance(2 * STEP_MS)
    },
    *ends(cluster) {
      yield* expect('running', running(cluster), 'c')
      yield* expect('claims', claimsOf(cluster), 'c-gpu- allocated 1')
    },
  },
  {
    name: 'pods share a claim until it is deleted',
    controllers: [CLAIMS],
    async play(cluster) {
      await publish(cluster, 'node-1', 1)
      await cluster.create(deviceClaim('shared'))
      await cluster.create(podWithDevice('a', { claim: 'shared', run: '5s' }))
      await cluster.create(podWithDevice('b', { claim: 'shared' }))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.resourceclaims, 'default', 'shared')
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'b')
      await cluster.advance(2 * STEP_MS)
    },
    *ends(cluster) {
      yield* expect('running', running(cluster), '')
      yield* expect('claims', claimsOf(cluster), '')
    },
  },
  {
    name: 'a tainted device loses its pod',
    controllers: [TAINTS, CLAIMS],
    async play(cluster) {
      await publish(cluster, 'node-1', 2)
      await cluster.create(deviceTemplate())
      await cluster.create(podWithDevice('a'))
      // On the first device, else the taint is none of its business.
      if (!(await cluster.until(() => running(cluster) === 'a', PATIENCE_MS)))
        throw new Error('a never ran')
      const [slice] = cluster.objects.all(resources.resourceslices)
      const taints = [{ key: 'example.com/bad', effect: 'NoExecute' }]
      const devices = slice?.spec.devices?.map((device) =>
        device.name === 'gpu-0' ? { ...device, taints } : device,
      )
      await cluster.patch(resources.resourceslices, undefined, slice?.metadata?.name ?? '', {
        type: 'merge',
        value: { spec: { devices } },
      })
      await cluster.advance(3 * STEP_MS)
      await cluster.create(podWithDevice('b'))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* expect('running', running(cluster), 'b')
      yield* expect('claims', claimsOf(cluster), 'b-gpu- allocated 1')
    },
  },
  {
    name: 'a rule takes pods off the devices that it selects, and keeps others away',
    controllers: [TAINTS, CLAIMS],
    featureGates: { DRADeviceTaintRules: true },
    runtimeConfig: { 'resource.k8s.io/v1beta2': true },
    async play(cluster) {
      await publish(cluster, 'node-1', 1)
      await cluster.create(deviceTemplate())
      await cluster.create(podWithDevice('a'))
      if (!(await cluster.until(() => running(cluster) === 'a', PATIENCE_MS)))
        throw new Error('a never ran')
      await cluster.client.resource(RULES).create({
        metadata: { name: 'bad' },
        spec: {
          deviceSelector: { driver: DRIVER },
          taint: { key: 'example.com/bad', effect: 'NoExecute' },
        },
      })
      await cluster.until(() => running(cluster) === '', PATIENCE_MS)
      await cluster.create(podWithDevice('b'))
      await cluster.advance(3 * STEP_MS)
    },
    *ends(cluster) {
      yield* expect('running', running(cluster), '')
      yield* expect('claims', claimsOf(cluster), 'b-gpu- free 0')
      // How many went is counted since the manager's start.
      const told = cluster.objects.find(RULES, undefined, 'bad')?.status?.conditions?.at(0)
      yield* expect('the rule tells', `${told?.type} ${told?.status}`, 'EvictionInProgress False')
    },
  },
]
