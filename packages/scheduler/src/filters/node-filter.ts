import type { NodeInfo } from '../node-info.ts'

/** Reasons why the node cannot take the pod; none: it can. */
export type NodeFilter = (info: NodeInfo) => readonly string[]

export interface PreparedFilter {
  /** Of a node that it refuses, for these reasons. */
  isCurable(info: NodeInfo, reasons: readonly string[]): boolean
  readonly check: NodeFilter
}
