/**
 * Which volume is attached to which node, as far as it is known, and what nodes are told of it.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md. State only: no effects.
 */
import { byString, compareStrings } from '@gyropilot/foundation'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'

export interface Attachment {
  readonly volumeName: string
  readonly nodeName: string
  /** False: an attach or a detach failed, or nothing but a VolumeAttachment tells of it. It may be attached. */
  readonly isConfirmed: boolean
  /** True until the node says that it does not use the volume. */
  readonly isMounted: boolean
  /** Since when it should be detached, in elapsed milliseconds. */
  readonly detachRequestedMs: number | undefined
}

type Entry = { -readonly [Member in keyof Attachment]: Attachment[Member] }

export class ActualWorld {
  /** By unique volume name, then by node. */
  readonly #volumes = new Map<string, Map<string, Entry>>()
  readonly #specs = new Map<string, VolumeSpec>()
  readonly #ofNode = new Map<string, Set<string>>()
  /** Volumes that the status of a node is to name. */
  readonly #reported = new Map<string, Set<string>>()
  /** Nodes whose status is to be written. */
  readonly #changed = new Set<string>()
  readonly #touch: (volumeName: string) => void

  /** `touch` is told of each volume that is to be looked at again. */
  constructor(touch: (volumeName: string) => void) {
    this.#touch = touch
  }

  /** Attached for certain: the node is told. A spec that is not given is left as it is known. */
  attached(volumeName: string, nodeName: string, spec?: VolumeSpec): void {
    this.#set(volumeName, nodeName, spec, true)
    this.report(volumeName, nodeName)
  }

  /** Perhaps attached: others may have it, and it will be detached where nobody needs it. */
  uncertain(volumeName: string, nodeName: string, spec?: VolumeSpec): void {
    this.#set(volumeName, nodeName, spec, false)
  }

  detached(volumeName: string, nodeName: string): void {
    this.unreport(volumeName, nodeName)
    const nodes = this.#volumes.get(volumeName)
    if (nodes === undefined || !nodes.delete(nodeName)) return
    if (nodes.size === 0) {
      this.#volumes.delete(volumeName)
      this.#specs.delete(volumeName)
    }
    const volumes = this.#ofNode.get(nodeName)
    volumes?.delete(volumeName)
    if (volumes?.size === 0) this.#ofNode.delete(nodeName)
    this.#touch(volumeName)
  }

  /** What the node says it uses; volumes that are attached later count as used until it says so again. */
  nodeUses(nodeName: string, inUse: readonly string[]): void {
    const used = new Set(inUse)
    for (const volumeName of this.#ofNode.get(nodeName) ?? []) {
      this.#volumes.get(volumeName)!.get(nodeName)!.isMounted = used.has(volumeName)
      this.#touch(volumeName)
    }
  }

  /** Answers since when the volume should be detached: from now, where it was not asked for before. */
  requestDetach(volumeName: string, nodeName: string, nowMs: number): number {
    const entry = this.#volumes.get(volumeName)?.get(nodeName)
    if (entry === undefined) return nowMs
    entry.detachRequestedMs ??= nowMs
    return entry.detachRequestedMs
  }

  /** Somebody needs the volume again. */
  withdrawDetach(volumeName: string, nodeName: string): void {
    const entry = this.#volumes.get(volumeName)?.get(nodeName)
    if (entry !== undefined) entry.detachRequestedMs = undefined
  }

  report(volumeName: string, nodeName: string): void {
    const volumes = this.#reported.get(nodeName) ?? new Set()
    this.#reported.set(nodeName, volumes)
    if (volumes.has(volumeName)) return
    volumes.add(volumeName)
    this.#changed.add(nodeName)
  }

  /** Whether the node had been told. */
  unreport(volumeName: string, nodeName: string): boolean {
    if (this.#reported.get(nodeName)?.delete(volumeName) !== true) return false
    this.#changed.add(nodeName)
    return true
  }

  /** The node is gone: nothing was told to one that takes its name. What is still attached to it stays to be told. */
  forgetReport(nodeName: string): void {
    if (this.#reported.get(nodeName)?.size === 0) this.#reported.delete(nodeName)
  }

  /** The status of the node is to be written, where there is anything that it was told. */
  statusNeeded(nodeName: string): void {
    if (this.#reported.has(nodeName)) this.#changed.add(nodeName)
  }

  /** Sorted; those that are taken are to be written, and marked again where that fails. */
  changedNodes(): readonly string[] {
    return [...this.#changed].toSorted(compareStrings)
  }

  isChanged(nodeName: string): boolean {
    return this.#changed.has(nodeName)
  }

  /** Sorted names of what the node's status is to say; the node does not count as changed any more. */
  takeReport(nodeName: string): readonly string[] {
    this.#changed.delete(nodeName)
    return [...(this.#reported.get(nodeName) ?? [])].toSorted(compareStrings)
  }

  get(volumeName: string, nodeName: string): Attachment | undefined {
    return this.#volumes.get(volumeName)?.get(nodeName)
  }

  /** Undefined: it was found attached, and no pod has said what it is. */
  specOf(volumeName: string): VolumeSpec | undefined {
    return this.#specs.get(volumeName)
  }

  /** Sorted by node. */
  attachmentsOf(volumeName: string): readonly Attachment[] {
    const nodes = this.#volumes.get(volumeName)?.values() ?? []
    return [...nodes].toSorted(byString(({ nodeName }) => nodeName))
  }

  /** Sorted. */
  nodesHolding(volumeName: string): readonly string[] {
    const held = this.attachmentsOf(volumeName).filter(({ isConfirmed }) => isConfirmed)
    return held.map(({ nodeName }) => nodeName)
  }

  volumesOf(nodeName: string): Iterable<string> {
    return this.#ofNode.get(nodeName) ?? []
  }

  volumeNames(): Iterable<string> {
    return this.#volumes.keys()
  }

  nodeNames(): readonly string[] {
    return [...this.#ofNode.keys()].toSorted(compareStrings)
  }

  #set(
    volumeName: string,
    nodeName: string,
    spec: VolumeSpec | undefined,
    isConfirmed: boolean,
  ): void {
    const nodes = this.#volumes.get(volumeName) ?? new Map<string, Entry>()
    this.#volumes.set(volumeName, nodes)
    if (spec !== undefined) this.#specs.set(volumeName, spec)
    const known = nodes.get(nodeName)
    if (known === undefined) {
      const detachRequestedMs = undefined
      nodes.set(nodeName, { volumeName, nodeName, isConfirmed, isMounted: true, detachRequestedMs })
    } else known.isConfirmed = isConfirmed
    const volumes = this.#ofNode.get(nodeName) ?? new Set()
    this.#ofNode.set(nodeName, volumes.add(volumeName))
    this.#touch(volumeName)
  }
}
