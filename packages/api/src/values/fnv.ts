/**
 * FNV hashes of 32 bits over bytes. Kubernetes names things by both variants, which give different results. Counted loops: an
 * iterator over bytes costs five times as much until it is optimized, and a program may hash no more than a hundred templates.
 */
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** Multiply, then xor: names of ControllerRevisions. */
export function fnv1(bytes: Uint8Array): number {
  let hash = OFFSET
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash, PRIME) ^ bytes[i]!
  return hash >>> 0
}

/** Xor, then multiply: pod template hashes. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = OFFSET
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, PRIME)
  return hash >>> 0
}
