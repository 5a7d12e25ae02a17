import { fnv1 } from './fnv.ts'
import { safeEncode } from '../names.ts'

/**
 * The hash in names of ControllerRevisions, over their raw data as text. Equal to Kubernetes'.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, ControllerRevision history.
 */
export function revisionHash(data: string, collisionCount?: number | null): string {
  return safeEncode(String(fnv1(new TextEncoder().encode(`${data}${collisionCount ?? ''}`))))
}
