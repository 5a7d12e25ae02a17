/** Smallest valid objects of the tests of cloud loops, and clouds of a table. */
import type { Node, NodeAddress, NodeStatus, Taint } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import type { Outcome, OutsideCall, Write } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'
import type { TestContext } from '@gyropilot/runtime/testing'
import type { KubernetesObject } from '@gyropilot/api'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'

interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly providerId?: string
  readonly podCidrs?: readonly string[]
  readonly addresses?: readonly NodeAddress[]
  /** Status of the Ready condition. Absent: there is none. */
  readonly ready?: string
  readonly conditions?: NodeStatus['conditions']
  readonly resourceVersion?: string
}

export function node(name: string, options: NodeOptions = {}): Node {
  const { labels, annotations, taints, providerId, podCidrs, addresses, ready } = options
  const conditions = ready === undefined ? options.conditions : [{ type: 'Ready', status: ready }]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `${name}-uid`,
      resourceVersion: options.resourceVersion,
      creationTimestamp: '2025-12-31T23:59:00Z',
      labels,
      annotations,
    },
    spec: { taints, providerID: providerId, podCIDRs: podCidrs },
    status: { addresses, conditions },
  } as Node
}

export const internalIp = (address: string): NodeAddress => ({ type: 'InternalIP', address })
export const externalIp = (address: string): NodeAddress => ({ type: 'ExternalIP', address })
export const hostName = (address: string): NodeAddress => ({ type: 'Hostname', address })

/** Answers calls outside from a table: a value, or an Error that the call rejects with. */
export function answers(
  table: Readonly<Record<string, unknown>>,
): (call: OutsideCall) => Outcome<unknown> | undefined {
  return ({ name }) => {
    if (!(name in table)) return undefined
    const answer = table[name]
    return answer instanceof Error
      ? { ok: false, error: answer, attempted: true }
      : { ok: true, object: answer }
  }
}

/** A provider that has these parts and is never called: for rules whose calls a table answers. */
export function partsOnly(...parts: readonly (keyof CloudProvider)[]): CloudProvider {
  const present = Object.fromEntries(parts.map((part) => [part, {}]))
  return { name: 'fake', hasClusterId: true, ...present }
}

/** A context with this provider; `configuration` is merged over the defaults. */
export function cloudContext(
  provider: CloudProvider | ((clock: TestContext<unknown>['clock']) => CloudProvider),
  cached: readonly KubernetesObject[] = [],
  configuration: Partial<ControllersConfiguration> = {},
): TestContext<ControllersConfiguration> {
  const context = testContext<ControllersConfiguration>({
    configuration: defaultControllersConfiguration,
    cached,
  })
  const made = typeof provider === 'function' ? provider(context.clock) : provider
  const cloud = { clusterName: 'c', provider: made }
  return {
    ...context,
    configuration: { ...defaultControllersConfiguration, ...configuration, cloud },
  }
}

/** The value of a strategic patch; undefined for other writes. */
export function patchValue<T>(write: Write | undefined): T | undefined {
  if (write?.verb !== 'patch' || write.patch.type !== 'strategic') return undefined
  return write.patch.value as T
}
