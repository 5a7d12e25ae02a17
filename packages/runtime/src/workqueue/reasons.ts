/** Why a key is in the queue. De-duplication keeps a small bounded set of them. */
export interface Reason {
  readonly cause: 'add' | 'update' | 'delete' | 'resync' | 'retry' | 'requeue-after' | 'other'
  /** `pods default/nginx-abc`, where an object caused it. */
  readonly object?: string
}

/** Enough to explain a run; a key that thousands of objects touch costs no more than this. */
export const MAX_REASONS_PER_KEY = 8

export const NO_REASONS: readonly Reason[] = []

/** Adds a reason unless it is known or the set is full. */
export function withReason(
  reasons: readonly Reason[],
  reason: Reason | undefined,
): readonly Reason[] {
  if (reason === undefined || reasons.length >= MAX_REASONS_PER_KEY) return reasons
  for (const known of reasons) {
    if (known.cause === reason.cause && known.object === reason.object) return reasons
  }
  return [...reasons, reason]
}
