/**
 * Which volume should be attached to which node, and for whose sake.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Watches and keys. State only: no effects.
 */
import { compareStrings } from '@gyropilot/foundation'
import type { Pod } from '@gyropilot/api'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'

/** A volume that pods on a node need. */
export interface DesiredAttachment {
  readonly nodeName: string
  readonly spec: VolumeSpec
  /** By uid. */
  readonly pods: ReadonlyMap<string, Pod>
  /** That another node has the volume was told. */
  readonly isRefusalTold: boolean
  /** When it could not be attached for the last time, in elapsed milliseconds; 0: it has not been tried in vain. */
  readonly failedMs: number
}

interface Entry extends DesiredAttachment {
  readonly pods: Map<string, Pod>
  isRefusalTold: boolean
  failedMs: number
}

export class DesiredWorld {
  readonly #managed = new Set<string>()
  /** By unique volume name, then by node. */
  readonly #volumes = new Map<string, Map<string, Entry>>()
  /** Unique names of the volumes of a pod, by its uid; a pod is on one node for ever. */
  readonly #ofPod = new Map<string, Set<string>>()
  /** How many volumes each node needs; none is 0. */
  readonly #volumesOfNode = new Map<string, number>()
  readonly #touch: (volumeName: string) => void

  /** `touch` is told of each volume that is to be looked at again. */
  constructor(touch: (volumeName: string) => void) {
    this.#touch = touch
  }

  manage(nodeName: string): void {
    this.#managed.add(nodeName)
  }

  isManaged(nodeName: string): boolean {
    return this.#managed.has(nodeName)
  }

  /** A node that still has volumes here stays managed. */
  forget(nodeName: string): void {
    if (!this.#volumesOfNode.has(nodeName)) this.#managed.delete(nodeName)
  }

  /** The pod's newest form counts for events; a volume that is there already stays as it came. */
  add(pod: Pod, spec: VolumeSpec): void {
    const { nodeName = '' } = pod.spec ?? {}
    const uid = pod.metadata?.uid ?? ''
    const nodes = this.#volumes.get(spec.uniqueName) ?? new Map<string, Entry>()
    this.#volumes.set(spec.uniqueName, nodes)
    const known = nodes.get(nodeName)
    if (known === undefined) {
      const pods = new Map([[uid, pod]])
      nodes.set(nodeName, { nodeName, spec, pods, isRefusalTold: false, failedMs: 0 })
      this.#volumesOfNode.set(nodeName, (this.#volumesOfNode.get(nodeName) ?? 0) + 1)
      this.#touch(spec.uniqueName)
    } else known.pods.set(uid, pod)
    const volumes = this.#ofPod.get(uid) ?? new Set()
    this.#ofPod.set(uid, volumes.add(spec.uniqueName))
  }

  /** Of the pod, all volumes. */
  removePod(uid: string): void {
    for (const volumeName of this.#ofPod.get(uid) ?? []) this.#drop(volumeName, uid)
    this.#ofPod.delete(uid)
  }

  /** The volume from all its nodes: it cannot be attached any more. */
  removeVolume(volumeName: string): void {
    const uids = [...this.attachmentsOf(volumeName)].flatMap(({ pods }) => [...pods.keys()])
    for (const uid of uids) {
      this.#drop(volumeName, uid)
      const rest = this.#ofPod.get(uid)
      rest?.delete(volumeName)
      if (rest?.size === 0) this.#ofPod.delete(uid)
    }
  }

  refusalTold(volumeName: string, nodeName: string): void {
    const entry = this.#volumes.get(volumeName)?.get(nodeName)
    if (entry !== undefined) entry.isRefusalTold = true
  }

  attachFailed(volumeName: string, nodeName: string, nowMs: number): void {
    const entry = this.#volumes.get(volumeName)?.get(nodeName)
    if (entry !== undefined) entry.failedMs = nowMs
  }

  get(volumeName: string, nodeName: string): DesiredAttachment | undefined {
    return this.#volumes.get(volumeName)?.get(nodeName)
  }

  /**
   * Sorted: where it failed last goes last, else by node. Nodes that want what one alone can have thereby take turns, and one that
   * cannot attach it does not keep it from the others for ever.
   */
  attachmentsOf(volumeName: string): readonly DesiredAttachment[] {
    const nodes = this.#volumes.get(volumeName)?.values() ?? []
    return [...nodes].toSorted(
      (a, b) => a.failedMs - b.failedMs || compareStrings(a.nodeName, b.nodeName),
    )
  }

  /** Sorted. */
  volumeNames(): readonly string[] {
    return [...this.#volumes.keys()].toSorted(compareStrings)
  }

  /** Each pod once, as it was last seen. */
  pods(): readonly Pod[] {
    const found = new Map<string, Pod>()
    for (const nodes of this.#volumes.values())
      for (const { pods } of nodes.values()) for (const [uid, pod] of pods) found.set(uid, pod)
    return [...found.values()]
  }

  #drop(volumeName: string, uid: string): void {
    const nodes = this.#volumes.get(volumeName)
    if (nodes === undefined) return
    for (const [nodeName, entry] of nodes) {
      if (!entry.pods.delete(uid) || entry.pods.size > 0) continue
      nodes.delete(nodeName)
      this.#needsOneLess(nodeName)
      this.#touch(volumeName)
    }
    if (nodes.size === 0) this.#volumes.delete(volumeName)
  }

  #needsOneLess(nodeName: string): void {
    const left = (this.#volumesOfNode.get(nodeName) ?? 0) - 1
    if (left > 0) this.#volumesOfNode.set(nodeName, left)
    else this.#volumesOfNode.delete(nodeName)
  }
}
