/** A version that the server has given out: a whole number above zero, of any length. */
export function isResourceVersion(text: string | undefined): text is string {
  return text !== undefined && /^[1-9][0-9]*$/.test(text)
}

/**
 * Orders versions of one resource; those of different resources are never compared (KEP-5504). Decimal texts of any length: the longer
 * one is greater.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
