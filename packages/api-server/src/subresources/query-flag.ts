/** A boolean in a query as Go reads it: there, and anything but `0` and `false` (`True` of Python's client, and nothing at all). */
export function isAsked(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && !['false', '0'].includes(text.toLowerCase())
}
