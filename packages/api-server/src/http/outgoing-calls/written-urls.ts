/** Paths and queries as Go writes them again after it has read them. */

/** Escapes are read, empty segments, `.` and `..` are resolved, and what must be is escaped again. No slash at the end. */
export function cleanedPath(path: string): string {
  const segments: string[] = []
  for (const segment of bytesOf(path).split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return inPath(`/${segments.join('/')}`)
}

/** Escapes are read, and what must be is escaped again. */
export function writtenPath(path: string): string {
  return inPath(bytesOf(path))
}

/** Sorted by name; pairs that cannot be read are left out, as those with a semicolon. */
export function writtenQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '' && !/;|%(?![0-9a-f]{2})/i.test(pair))
    .map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', ' ').split('=')
      return [bytesOf(name), bytesOf(value.join('='))] as const
    })
  // By bytes: in this form a character is one.
  return pairs
    .toSorted(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1))
    .map(([name, value]) => `${inQuery(name)}=${inQuery(value)}`)
    .join('&')
}

/** A character for each byte. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

function inPath(bytes: string): string {
  return bytes.replaceAll(/[^A-Za-z0-9\-_.~$&+,/:;=@]/g, escaped)
}

function inQuery(bytes: string): string {
  return bytes.replaceAll(/[^A-Za-z0-9\-_.~ ]/g, escaped).replaceAll(' ', '+')
}

function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
