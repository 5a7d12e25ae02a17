/** FNV hashes of 32 bits over bytes. Kubernetes names things by both variants, which give different results. */
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** Multiply, then xor: names of ControllerRevisions. */
export function fnv1(bytes: Uint8Array): number {
  let hash = OFFSET
  for (const byte of bytes) hash = Math.imul(hash, PRIME) ^ byte
  return hash >>> 0
}

/** Xor, then multiply: pod template hashes. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = OFFSET
  for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME)
  return hash >>> 0
}
