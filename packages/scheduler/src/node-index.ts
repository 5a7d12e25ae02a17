/** Nodes and the pods that count on them, kept up to date event by event: a try looks, and builds nothing. */
import { deepEqual } from '@gyropilot/api'
import type { Node, Pod, TolerationOptions } from '@gyropilot/api'
import type { NamespaceLabels } from './affinity-terms.ts'
import { NodeInfo, ZONE } from './node-info.ts'
import type { Snapshot } from './snapshot.ts'

export class NodeIndex implements Snapshot {
  readonly #infos = new Map<string, NodeInfo>()
  /** Where each counted pod counts: by uid. */
  readonly #placed = new Map<string, string>()
  readonly #repelling = new Set<NodeInfo>()
  readonly #inclined = new Set<NodeInfo>()
  #nodes: readonly NodeInfo[] | undefined
  readonly namespaceLabels: NamespaceLabels
  readonly tolerationOptions: TolerationOptions

  constructor(
    namespaceLabels: NamespaceLabels = () => undefined,
    tolerationOptions: TolerationOptions = {},
  ) {
    this.namespaceLabels = namespaceLabels
    this.tolerationOptions = tolerationOptions
  }

  get(name: string): NodeInfo | undefined {
    return this.#infos.get(name)
  }

  /** From each zone one in turn, so that those looked at first lie in all of them. */
  get nodes(): readonly NodeInfo[] {
    this.#nodes ??= alternating([...this.#infos.values()].filter(({ node }) => node !== undefined))
    return this.#nodes
  }

  get repelling(): readonly NodeInfo[] {
    return [...this.#repelling].filter(({ node }) => node !== undefined)
  }

  get inclined(): readonly NodeInfo[] {
    return [...this.#inclined].filter(({ node }) => node !== undefined)
  }

  /** False when nothing changed that could help a pod. */
  setNode(node: Node): boolean {
    const info = this.#info(node.metadata?.name ?? '')
    const before = info.node
    if (before === undefined || before.metadata?.labels?.[ZONE] !== node.metadata?.labels?.[ZONE])
      this.#nodes = undefined
    const helps = before === undefined || mayHelp(before, node)
    info.setNode(node)
    return helps
  }

  removeNode(name: string): void {
    const info = this.#infos.get(name)
    info?.setNode(undefined)
    this.#nodes = undefined
    if (info?.pods.size === 0) this.#infos.delete(name)
  }

  has(uid: string): boolean {
    return this.#placed.has(uid)
  }

  /** True when the pod itself says that it is there: it is more than a choice that waits to be written. */
  isSeen(uid: string): boolean {
    const info = this.#infos.get(this.#placed.get(uid) ?? '')
    return Boolean(info?.pods.get(uid)?.spec?.nodeName)
  }

  /** True when it was there already, and takes less of something now. */
  place(pod: Pod, nodeName: string): boolean {
    const uid = pod.metadata?.uid ?? ''
    const before = this.#placed.get(uid)
    if (before !== undefined && before !== nodeName) this.unplace(uid)
    this.#placed.set(uid, nodeName)
    const info = this.#info(nodeName)
    const takesLess = info.addPod(pod)
    this.#noteTerms(info)
    return takesLess
  }

  /** False when it counted nowhere. */
  unplace(uid: string): boolean {
    const nodeName = this.#placed.get(uid)
    if (nodeName === undefined) return false
    this.#placed.delete(uid)
    const info = this.#infos.get(nodeName)
    if (info === undefined) return false
    const removed = info.removePod(uid)
    this.#noteTerms(info)
    if (info.node === undefined && info.pods.size === 0) this.#infos.delete(nodeName)
    return removed
  }

  #noteTerms(info: NodeInfo): void {
    if (info.repelling.size > 0) this.#repelling.add(info)
    else this.#repelling.delete(info)
    if (info.inclined.size > 0) this.#inclined.add(info)
    else this.#inclined.delete(info)
  }

  #info(name: string): NodeInfo {
    let info = this.#infos.get(name)
    if (info === undefined) {
      info = new NodeInfo(name)
      this.#infos.set(name, info)
    }
    return info
  }
}

/**
 * Heartbeats and conditions are of no interest here: what they lead to comes as taints. A node that is cordoned helps nobody; another
 * taint may, where it takes the emptiest domain out of the count.
 */
function mayHelp(before: Node, after: Node): boolean {
  return (
    !deepEqual(before.metadata?.labels, after.metadata?.labels) ||
    !deepEqual(before.spec?.taints, after.spec?.taints) ||
    (before.spec?.unschedulable === true && after.spec?.unschedulable !== true) ||
    !deepEqual(before.status?.allocatable, after.status?.allocatable)
  )
}

function alternating(infos: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const info of infos) {
    const zone = info.node?.metadata?.labels?.[ZONE] ?? ''
    const own = zones.get(zone)
    if (own === undefined) zones.set(zone, [info])
    else own.push(info)
  }
  const lists = [...zones.values()]
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat()
}
