/**
 * FNV hashes over bytes. Kubernetes names things by both variants of 32 bits, which give different results. Counted loops: an
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

const OFFSET_128 = 0x6c62272e07bb014262b821756295c58dn
const PRIME_128 = 0x0000000001000000000000000000013bn
const MASK_128 = (1n << 128n) - 1n

/** Xor, then multiply, of 128 bits: the order of ports. Some 8 us for 80 bytes. */
export function fnv1a128(bytes: Uint8Array): bigint {
  let hash = OFFSET_128
  for (let i = 0; i < bytes.length; i++) hash = ((hash ^ BigInt(bytes[i]!)) * PRIME_128) & MASK_128
  return hash
}
