/** Something that must never be so, or was not so in the end. */
export interface Violation {
  readonly checker: string
  readonly message: string
  /** Virtual milliseconds since the cluster's start. */
  readonly atMs: number
}

export type Report = (checker: string, message: string) => void
