/**
 * Which lists and watches were decoded from bytes for the one who asked. Nobody else has their objects, so he may still
 * change them before he gives them on. What came within one process is the server's own and is never in here.
 */
const decoded = new WeakSet<object>()

export function markDecoded<T>(value: T): T {
  if (typeof value === 'object' && value !== null) decoded.add(value)
  return value
}

/** Of a list, or of the iterable that a watch was answered with. */
export function isDecodedForCaller(value: object): boolean {
  return decoded.has(value)
}
