/**
 * Orders strings as Go, etcd and sort.Strings do: by code point (equally, by UTF-8 bytes). JavaScript's `<` compares
 * UTF-16 units, which puts U+E000..U+FFFF after the characters beyond them.
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left === right) continue
    const bothHigh = left >= 0xd800 && right >= 0xd800
    return (bothHigh ? rank(left) - rank(right) : left - right) < 0 ? -1 : 1
  }
  return a.length < b.length ? -1 : 1
}

/** Surrogates stand for code points above all others of one unit. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
}

/** A comparison by a string key: `pods.sort(byString((pod) => pod.metadata.name))`. */
export function byString<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => compareStrings(key(a), key(b))
}
