/** The machines behind nodes: each is there and runs, until somebody says otherwise. */
import type { Node, NodeAddress } from '@gyropilot/api'
import { InstanceNotFound } from '@gyropilot/cloud-provider'
import type { InstanceMetadata, InstancesV2 } from '@gyropilot/cloud-provider'
import type { CallFaults } from '@gyropilot/cloud-provider/in-memory'

export type MachineState = 'running' | 'stopped' | 'terminated'

interface MachinesOptions {
  readonly providerName: string
  readonly faults: CallFaults
  readonly region: string
  /** Machines are spread over them by the number at the end of their names. */
  readonly zones: readonly string[]
  addressOf(nodeName: string): string
}

export class Machines implements InstancesV2 {
  readonly #options: MachinesOptions
  readonly #states = new Map<string, MachineState>()

  constructor(options: MachinesOptions) {
    this.#options = options
  }

  /** Those that are not running. */
  get states(): ReadonlyMap<string, MachineState> {
    return this.#states
  }

  become(nodeName: string, state: MachineState): void {
    if (state === 'running') this.#states.delete(nodeName)
    else this.#states.set(nodeName, state)
  }

  instanceExists(node: Node, signal: AbortSignal): Promise<boolean> {
    return this.#call('instanceExists', node, signal, (state) => state !== 'terminated')
  }

  instanceShutdown(node: Node, signal: AbortSignal): Promise<boolean> {
    return this.#call('instanceShutdown', node, signal, (state) => state === 'stopped')
  }

  instanceMetadata(node: Node, signal: AbortSignal): Promise<InstanceMetadata> {
    return this.#call('instanceMetadata', node, signal, (state) => {
      if (state === 'terminated') throw new InstanceNotFound()
      return this.#metadata(node)
    })
  }

  /** Addresses that the kubelet said stay: its node is reached by them within the cluster. */
  #metadata(node: Node): InstanceMetadata {
    const { providerName, region, zones } = this.#options
    const name = nameOf(node)
    const own: NodeAddress = { type: 'ExternalIP', address: this.#options.addressOf(name) }
    const said = (node.status?.addresses ?? []).filter(({ type }) => type !== 'ExternalIP')
    return {
      providerId: `${providerName}://${name}`,
      instanceType: 'loopback.standard',
      nodeAddresses: [...said, own],
      zone: zones[numberOf(name) % zones.length],
      region,
    }
  }

  #call<T>(
    name: string,
    node: Node,
    signal: AbortSignal,
    work: (state: MachineState) => T,
  ): Promise<T> {
    return this.#options.faults.through(name, [node], signal, () =>
      work(this.#states.get(nameOf(node)) ?? 'running'),
    )
  }
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}

/** `node-12` is 12; a name without a number is spread by its letters. */
export function numberOf(nodeName: string): number {
  const [, digits] = /(\d{1,9})$/.exec(nodeName) ?? []
  if (digits !== undefined) return Number(digits)
  let sum = 0
  for (const character of nodeName) sum = (sum * 31 + character.codePointAt(0)!) % 65_521
  return sum
}
