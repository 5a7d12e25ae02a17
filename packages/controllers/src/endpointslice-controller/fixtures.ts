/** A Service and what surrounds it, for tests that sync again and again. */
import type { Endpoint, EndpointSlice, Node, Pod, Service } from '@gyropilot/api'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Outcome, Verdict, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive } from '@gyropilot/runtime/testing'
import type { Driven } from '@gyropilot/runtime/testing'
import { node, service, slice } from '../endpoint-support/fixtures.ts'
import type { SliceOptions } from '../endpoint-support/fixtures.ts'
import { portsKey } from '../endpoint-support/slice-ports.ts'
import type { SlicePort } from '../endpoint-support/slice-ports.ts'
import { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { SliceMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import type { SliceMemory } from './reconcile.ts'
import { Topology } from './topology.ts'

export const HTTP_PORTS: readonly SlicePort[] = [{ name: 'http', port: 8080, protocol: 'TCP' }]

/** A slice as this controller leaves it behind for `service()`. */
export function ownSlice(
  options: SliceOptions & {
    readonly owner?: Service
    readonly endpoints?: readonly Endpoint[]
    readonly ports?: readonly SlicePort[]
    readonly addressType?: EndpointSlice['addressType']
    readonly labels?: Readonly<Record<string, string>>
  } = {},
): EndpointSlice {
  const base = slice(options)
  const { owner = service(), endpoints = [], ports = HTTP_PORTS, labels } = options
  return {
    ...base,
    metadata: {
      ...base.metadata,
      labels: { ...base.metadata?.labels, ...labels },
      ownerReferences: [newControllerRef(owner, resources.services)],
    },
    addressType: options.addressType ?? 'IPv4',
    endpoints,
    ports,
  }
}

interface WorldOptions {
  readonly service?: Service
  readonly pods?: readonly Pod[]
  readonly nodes?: readonly Node[]
  readonly slices?: readonly EndpointSlice[]
  readonly maxEndpointsPerSlice?: number
}

/** The cache is the server: a write is seen at once. */
export class SliceWorld {
  service: Service
  pods: readonly Pod[]
  nodes: readonly Node[]
  slices: readonly EndpointSlice[]
  readonly metrics = new RecordingMetrics()
  readonly memory: SliceMemory
  readonly #maxEndpointsPerSlice: number
  #created = 0

  constructor(options: WorldOptions = {}) {
    this.service = options.service ?? service()
    this.pods = options.pods ?? []
    this.nodes = options.nodes ?? [node()]
    this.slices = options.slices ?? []
    this.#maxEndpointsPerSlice = options.maxEndpointsPerSlice ?? 100
    this.memory = {
      tracker: new SliceTracker(() => ''),
      triggerTimes: new TriggerTimes(),
      topology: new Topology(),
      metrics: new SliceMetrics(this.metrics, this.#maxEndpointsPerSlice),
    }
  }

  sync(fail?: (write: Write) => Outcome | undefined): Driven<Verdict> {
    this.memory.topology.setNodes(this.nodes)
    const { service, pods, slices, memory } = this
    const nodeNamed = (name: string): Node | undefined =>
      this.nodes.find(({ metadata }) => metadata?.name === name)
    return drive(
      reconcile({ key: 'ns/svc', service, pods, slices, nodeNamed }, memory, {
        maxEndpointsPerSlice: this.#maxEndpointsPerSlice,
      }),
      { onWrite: (write) => fail?.(write) ?? this.#apply(write) },
    )
  }

  /** Endpoints per slice, most first. */
  get sizes(): readonly number[] {
    return this.slices.map(sizeOf).toSorted((a, b) => b - a)
  }

  get endpoints(): readonly Endpoint[] {
    return this.slices.flatMap(({ endpoints }) => endpoints ?? [])
  }

  get portKeys(): readonly string[] {
    return this.slices.map(({ ports }) => portsKey(ports))
  }

  /** Zones that endpoints have hints for, and how many each. */
  get hintCounts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { hints } of this.endpoints) {
      for (const { name } of hints?.forZones ?? []) counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  #apply(write: Write): Outcome {
    if (write.verb === 'create') {
      const object = write.object as EndpointSlice
      const name = `${object.metadata?.generateName}${++this.#created}`
      const metadata = { ...object.metadata, name, uid: `${name}-uid`, generation: 1 }
      return this.#store({ ...object, metadata })
    }
    if (write.verb === 'update') {
      const object = write.object as EndpointSlice
      const known = this.slices.find((each) => each.metadata?.name === object.metadata?.name)
      const generation = (known?.metadata?.generation ?? 0) + 1
      const metadata = { ...object.metadata, uid: known?.metadata?.uid, generation }
      return this.#store({ ...object, metadata })
    }
    if (write.verb === 'delete') {
      this.slices = this.slices.filter(({ metadata }) => metadata?.name !== write.name)
      return { ok: true, object: {} }
    }
    throw new Error(`the controller does not ${write.verb}`)
  }

  #store(object: EndpointSlice): Outcome {
    const others = this.slices.filter(({ metadata }) => metadata?.name !== object.metadata?.name)
    this.slices = [...others, object]
    return { ok: true, object }
  }
}

export function sizeOf({ endpoints }: EndpointSlice): number {
  return endpoints?.length ?? 0
}

/** `create`, `update svc-1`, `delete svc-2` ... in order. */
export function writesOf(driven: Driven<unknown>): readonly string[] {
  return driven.writes.map((write) => {
    if (write.verb === 'create') return 'create'
    const name =
      write.verb === 'update' ? write.object.metadata?.name : 'name' in write && write.name
    return `${write.verb} ${name}`
  })
}

export function errorTextOf(driven: Driven<Verdict>): string | undefined {
  const { error } = driven.result
  return error instanceof Error ? error.message : undefined
}
