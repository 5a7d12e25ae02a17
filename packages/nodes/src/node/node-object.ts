/** The Node object of a simulated node. Contract: docs/behaviour/simulation/kubelet.md, Node object. Pure. */
import {
  KUBERNETES_VERSION,
  amountOf,
  findCondition,
  isExtendedResource,
  semanticEqual,
} from '@gyropilot/api'
import type { Node, NodeCondition, NodeStatus } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'

export interface SimulatedNodeConfiguration {
  readonly name: string
  /** The node's own addresses, one of a family, shown as InternalIP and as hostIPs of its pods. */
  readonly hostIps: readonly string[]
  /** Set at registration when no node IPAM controller does it. */
  readonly podCidrs?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly {
    readonly key: string
    readonly value?: string
    readonly effect: string
  }[]
  /**
   * As a kubelet with --cloud-provider=external: the node waits for its cloud, and once it has addresses they are the cloud's to
   * change. Default false.
   */
  readonly hasCloud?: boolean
  /** Default: 8 cpu, 32Gi memory, 100Gi ephemeral-storage, 110 pods. */
  readonly capacity?: Readonly<Record<string, string>>
  /** Volumes of the storage driver that fit at a time. Default 128. */
  readonly volumeLimit?: number
}

const OS_IMAGE = 'Simulated Linux'
const FIRST_BOOT_ID = '00000000-0000-4000-8000-000000000001'

type Amounts = NonNullable<NodeStatus['capacity']>

const DEFAULT_CAPACITY: Amounts = {
  cpu: '8',
  'ephemeral-storage': '100Gi',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '32Gi',
  pods: '110',
}

/** Default hard eviction thresholds leave a tenth of the disk and 100Mi of memory to the system. */
function allocatableOf(capacity: Amounts): Amounts {
  const allocatable: Record<string, Amounts[string]> = { ...capacity }
  const gibibytes = /^(\d+)Gi$/
  const memory = gibibytes.exec(String(capacity['memory']))
  if (memory) allocatable.memory = `${Number(memory[1]) * 1024 - 100}Mi`
  const disk = gibibytes.exec(String(capacity['ephemeral-storage']))
  if (disk) allocatable['ephemeral-storage'] = String(Math.floor(Number(disk[1]) * 2 ** 30 * 0.9))
  return allocatable
}

/** Whether a node is one of these, in whatever process. */
export function isSimulated({ status }: Node): boolean {
  return status?.nodeInfo?.osImage === OS_IMAGE
}

const WAITS_FOR_CLOUD = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}

export function nodeObject(configuration: SimulatedNodeConfiguration, nowMs: number): Node {
  const { name, podCidrs, hasCloud = false, taints = [] } = configuration
  const allTaints = hasCloud ? [...taints, WAITS_FOR_CLOUD] : taints
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...configuration.labels,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...(podCidrs === undefined ? {} : { podCIDR: podCidrs[0], podCIDRs: [...podCidrs] }),
      ...(allTaints.length === 0
        ? {}
        : { taints: allTaints as NonNullable<Node['spec']>['taints'] }),
    },
    status: nodeStatus(configuration, undefined, nowMs),
  }
}

/**
 * The status a healthy node posts; transition times stay where nothing changed, and what others count on the node may be used.
 * `bootId` is that of a machine that was off.
 */
export function nodeStatus(
  configuration: SimulatedNodeConfiguration,
  stored: NodeStatus | undefined,
  nowMs: number,
  bootId: string = stored?.nodeInfo?.bootID || FIRST_BOOT_ID,
): NodeStatus {
  const capacity = { ...DEFAULT_CAPACITY, ...configuration.capacity }
  const isCloudsMatter = configuration.hasCloud === true && stored?.addresses !== undefined
  const addresses = [
    ...configuration.hostIps.map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: configuration.name },
  ]
  return {
    ...(isCloudsMatter ? {} : { addresses }),
    allocatable: allocatableOf({ ...stored?.capacity, ...capacity }),
    capacity,
    conditions: conditionsOf(stored, nowMs),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    features: { supplementalGroupsPolicy: true },
    nodeInfo: {
      architecture: 'amd64',
      bootID: bootId,
      containerRuntimeVersion: 'containerd://2.1.4',
      kernelVersion: '6.12.0-simulated',
      kubeProxyVersion: '',
      kubeletVersion: `v${KUBERNETES_VERSION}`,
      machineID: configuration.name,
      operatingSystem: 'linux',
      osImage: OS_IMAGE,
      systemUUID: configuration.name,
    },
  }
}

/** Extended resources of the node's allocatable that are not counted there any more. */
export function resourcesGone(
  { allocatable = {} }: NodeStatus,
  stored: NodeStatus | undefined,
): readonly string[] {
  return Object.keys(stored?.allocatable ?? {}).filter(
    (name) => isExtendedResource(name) && !Object.hasOwn(allocatable, name),
  )
}

/** Whether what others may have changed is stored as the node would say it, but for the times. */
export function isSaid(status: NodeStatus, stored: NodeStatus | undefined): boolean {
  return (
    areCounted(status.capacity, stored?.capacity) &&
    areCounted(status.allocatable, stored?.allocatable) &&
    resourcesGone(status, stored).length === 0 &&
    (status.addresses === undefined || semanticEqual(status.addresses, stored?.addresses)) &&
    (status.conditions ?? []).every((condition) => {
      const known = findCondition(stored?.conditions, condition.type)
      return (
        known?.status === condition.status &&
        known.reason === condition.reason &&
        known.message === condition.message
      )
    })
  )
}

/** In whatever words. */
function areCounted(amounts: Amounts = {}, stored: Amounts = {}): boolean {
  return Object.entries(amounts).every(([name, amount]) => {
    const known = stored[name]
    return known !== undefined && amountOf(name, known) === amountOf(name, amount)
  })
}

const HEALTHY = [
  [
    'MemoryPressure',
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const

function conditionsOf(stored: NodeStatus | undefined, nowMs: number): readonly NodeCondition[] {
  return HEALTHY.map(([type, status, reason, message]) => {
    const before = stored?.conditions?.find((condition) => condition.type === type)
    return {
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: formatTime(nowMs),
      lastTransitionTime:
        before?.status === status && before.lastTransitionTime
          ? before.lastTransitionTime
          : formatTime(nowMs),
    }
  })
}
