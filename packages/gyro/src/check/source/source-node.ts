/** A value of a manifest that knows where it stands. */

/** Shared where an alias repeats an anchor. */
export interface SourceNode {
  /** Offset in the text of the file, in UTF-16 units. */
  readonly start: number
  /** The JSON value: what is sent to the server. Never edited. */
  readonly value: unknown
  readonly members?: ReadonlyMap<string, SourceMember>
  readonly items?: readonly SourceNode[]
}

export interface SourceMember {
  /** Where its key stands. */
  readonly keyStart: number
  readonly node: SourceNode
}

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
