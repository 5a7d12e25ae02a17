/** Texts up to here are hashed in full, longer ones at this many places. */
const HASHED_CHARACTERS = 32
const PRIME = 0x01000193

/** 32 bits, the same in every process. For tables that stand collisions: whoever chooses texts can choose them to collide. */
export function hashOfText(text: string): number {
  const { length } = text
  let hash = length
  if (length <= HASHED_CHARACTERS) {
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
    return mixedHash(hash)
  }
  // What differs is most often at the end: hashes, ordinals, random suffixes.
  const ends = HASHED_CHARACTERS / 2
  for (let i = length - ends; i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
  const step = Math.floor((length - ends) / ends)
  for (let i = 0; i < length - ends; i += step) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
  return mixedHash(hash)
}

/** Brings what only the upper bits tell into the lower ones, of which a table makes places. */
export function mixedHash(hash: number): number {
  return hash ^ (hash >>> 15)
}
