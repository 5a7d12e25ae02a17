/**
 * Pod templates of one owner: are two the same, and the hash that stands in names and labels.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Pod template hash.
 */
import { hash } from 'node:crypto'
import { deepEqual, fnv1a, safeEncode } from '@gyropilot/api'
import type { PodTemplateSpec } from '@gyropilot/api'
import { podTemplateDump } from './pod-template-dump.ts'
import { dumpAmount } from './quantity-dump.ts'

export const TEMPLATE_HASH_LABEL = 'pod-template-hash'

const encoder = new TextEncoder()

/**
 * The value of `pod-template-hash`, and for DaemonSets of `controller-revision-hash`: what
 * Kubernetes computes, as long as the template has only fields of 1.36. A collision count of 0
 * differs from none.
 */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number): string {
  const text = encoder.encode(podTemplateDump(template))
  if (collisionCount === undefined) return safeEncode(String(fnv1a(text)))
  const bytes = new Uint8Array(text.length + 8)
  bytes.set(text)
  new DataView(bytes.buffer).setUint32(text.length, collisionCount, true)
  return safeEncode(String(fnv1a(bytes)))
}

/**
 * Templates in caches are shared and never edited, so their print stays true. A print has thousands of
 * characters and a large cluster tens of thousands of ReplicaSets, so its digest is kept.
 */
const digests = new WeakMap<PodTemplateSpec, string>()

/**
 * Semantically equal but for the hash label: absent and empty lists are the same, a scalar of zero
 * and an absent one too, quantities count by value.
 */
export function sameTemplate(
  left: PodTemplateSpec | undefined,
  right: PodTemplateSpec | undefined,
): boolean {
  if (left === right) return true
  if (!sameImages(left, right)) return false
  const [before, after] = [left ?? {}, right ?? {}]
  // Servers write the defaults into both, so that one made of the other is equal in every part: that is seen without a print.
  if (deepEqual(withoutHash(before), withoutHash(after))) return true
  return digestOf(before) === digestOf(after)
}

/** What a rollout most often changes, and cheap to see. */
function sameImages(
  left: PodTemplateSpec | undefined,
  right: PodTemplateSpec | undefined,
): boolean {
  const before = left?.spec?.containers ?? []
  const after = right?.spec?.containers ?? []
  return (
    before.length === after.length &&
    before.every(({ image }, index) => (image ?? '') === (after[index]!.image ?? ''))
  )
}

function digestOf(template: PodTemplateSpec): string {
  let digest = digests.get(template)
  if (digest === undefined) {
    digest = hash('sha256', podTemplateDump(withoutHash(template), dumpAmount), 'base64')
    digests.set(template, digest)
  }
  return digest
}

/** The template as its owner has it. */
export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  if (template.metadata?.labels?.[TEMPLATE_HASH_LABEL] === undefined) return template
  const { [TEMPLATE_HASH_LABEL]: _, ...labels } = template.metadata.labels
  return { ...template, metadata: { ...template.metadata, labels } }
}
