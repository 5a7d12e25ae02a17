/** Hashes that names are made of. Contract: docs/behaviour/controllers/shared-controller-utils.md, Pod template hash. */
import { canonicalJson } from './canonical-json.ts'
import { fnv1, fnv1a } from './fnv.ts'
import type { PodTemplateSpec } from './generated/core-v1.ts'
import { safeEncode } from './names.ts'

/**
 * The value of label `pod-template-hash`: one to ten characters of `456789bcdf`. Deterministic and sensitive to every change of the
 * template and to `collisionCount`, of which 0 differs from undefined. Not equal to what Kubernetes computes,
 * whose input is a print of Go structs: match existing objects by content.
 */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number | null): string {
  const text = new TextEncoder().encode(canonicalJson(template))
  if (collisionCount === undefined || collisionCount === null)
    return safeEncode(String(fnv1a(text)))
  const bytes = new Uint8Array(text.length + 8)
  bytes.set(text)
  new DataView(bytes.buffer).setUint32(text.length, collisionCount, true)
  return safeEncode(String(fnv1a(bytes)))
}

/** The hash in names of ControllerRevisions, over their raw data as text. Equal to Kubernetes'. */
export function revisionHash(data: string, collisionCount?: number | null): string {
  return safeEncode(String(fnv1(new TextEncoder().encode(`${data}${collisionCount ?? ''}`))))
}
