/** The machine of a node, as programs with its privileges see it. Contract: docs/behaviour/simulation/kubelet.md, Commands on the node. */
import type { FileTree } from '../files/file-tree.ts'

export interface Machine {
  /** As they are now, with what pods keep in folders of the node. */
  files(): FileTree
  /** Both paths show the same files from now on: a link, or a mount of the one at the other. */
  lead(path: string, target: string): void
  /** Something empty is mounted there. */
  mountEmpty(path: string): void
  /** With all that is below. */
  remove(path: string): void
  /** Files that are devices, by the number of the device. */
  readonly loops: Map<number, string>
}
