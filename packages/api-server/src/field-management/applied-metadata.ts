/** What server-side apply makes of custom resources' metadata. Contract: docs/behaviour/api-server/patch-and-apply.md. */
import { TIME_LAYOUT, parseGoTime } from '@gyropilot/foundation'
import type { Draft } from '@gyropilot/schema/objects'

const TIMES = ['creationTimestamp', 'deletionTimestamp']
const INTEGERS = ['generation', 'deletionGracePeriodSeconds']

/**
 * Of metadata that the server writes itself, what cannot be read is none: kube-apiserver asks the free-form object for it, which
 * answers nothing. Everything else in metadata is decoded and refused as in other writes.
 */
export function dropUnreadable(metadata: unknown): void {
  if (typeof metadata !== 'object' || metadata === null) return
  const draft = metadata as Draft
  for (const field of TIMES) if (!isTime(draft[field])) delete draft[field]
  for (const field of INTEGERS) if (!Number.isSafeInteger(draft[field])) delete draft[field]
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !('error' in parseGoTime(value, TIME_LAYOUT))
}
