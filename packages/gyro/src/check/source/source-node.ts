/** A value of a manifest that knows where it stands. */
import type { YamlMember, YamlNode } from '@gyropilot/foundation/yaml'

export type SourceNode = YamlNode
export type SourceMember = YamlMember

/** A key that stands in its map more than once: the last one wins, as in every reader of Kubernetes. */
export interface RepeatedKey {
  readonly key: string
  readonly start: number
}

/** What cannot be read, and where. */
export class SourceError extends Error {
  readonly start: number

  constructor(message: string, start: number) {
    super(message)
    this.name = 'SourceError'
    this.start = start
  }
}

export interface ParsedSource {
  /** Undefined: an empty document. */
  readonly root: SourceNode | undefined
  readonly repeatedKeys: readonly RepeatedKey[]
}
