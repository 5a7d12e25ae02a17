/** How often each fault happens. */
export interface FaultRates {
  /** Per write of a controller manager or operator: the process dies before or after it. */
  readonly crash: number
  /** Per request: the connection is reset, with what was asked done or not. */
  readonly reset: number
  /** Per request: no answer, with what was asked done or not. */
  readonly timeout: number
  /** Per request: 409 (updates), 429, 500 or 503. */
  readonly refusal: number
  /** Per read: answered from an older state. */
  readonly stale: number
  /** Per request: it arrives late, up to 5 s. */
  readonly slow: number
  /** Per event: it and all behind it come late, up to 10 s. */
  readonly lag: number
  /** Per event: the watch ends, and goes on where it was. */
  readonly break: number
  /** Per event: lost with all that follows for up to 10 s; the watcher is told 410 and lists again. */
  readonly gap: number
  /** Per event: everything is listed again at once, so that objects are seen twice. */
  readonly repeat: number
  /** Per virtual minute: a process stops for 1 to 40 s and goes on; for a leader that is longer than its lease. */
  readonly pause: number
  /** Per virtual minute: the machine of a process sleeps for 1 to 40 s: only its wall clock goes on meanwhile. */
  readonly suspension: number
  /** Per virtual minute: a process is killed at no particular moment. */
  readonly kill: number
  /** Per virtual minute: a process, or one of its connections, is cut off for 1 to 40 s. */
  readonly partition: number
  /** Per virtual minute: the API server restarts; half of the time its history is gone. */
  readonly restart: number
  /** Per virtual minute: what watches could go back to is forgotten. */
  readonly compaction: number
  /** Per virtual minute: the wall clock of one process jumps by up to 5 minutes. */
  readonly jump: number
  /** Per virtual minute: a node is gone for 10 s to 2 minutes. */
  readonly nodeloss: number
}

/** One of FAULT_KINDS. */
export type FaultKind = keyof FaultRates

const ALL: FaultRates = {
  crash: 0.01,
  reset: 0.01,
  timeout: 0.004,
  refusal: 0.02,
  stale: 0.05,
  slow: 0.02,
  lag: 0.01,
  break: 0.01,
  gap: 0.005,
  repeat: 0.002,
  pause: 0.3,
  suspension: 0.2,
  kill: 0.2,
  partition: 0.3,
  restart: 0.1,
  compaction: 0.3,
  jump: 0.3,
  nodeloss: 0.15,
}

/** Every kind of fault that strikes at random. */
export const FAULT_KINDS = Object.keys(ALL) as readonly FaultKind[]

/** Rates with which nothing goes wrong. */
export const NO_FAULTS = scaled(0)

/** All rates by one factor: 1 is a bad day, 0 a quiet one. */
export function scaled(factor: number, kinds: readonly FaultKind[] = FAULT_KINDS): FaultRates {
  return Object.fromEntries(
    FAULT_KINDS.map((kind) => [kind, kinds.includes(kind) ? ALL[kind] * factor : 0]),
  ) as unknown as FaultRates
}
