/**
 * Storage order is the order of the UTF-8 bytes of the key. UTF-16 code units sort alike, except that surrogates (which
 * stand for code points above U+FFFF) would come before U+E000..U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    if (x >= 0xd800 && y >= 0xd800) {
      const xSurrogate = x < 0xe000
      if (xSurrogate !== y < 0xe000) return xSurrogate ? 1 : -1
    }
    return x - y
  }
  return a.length - b.length
}
