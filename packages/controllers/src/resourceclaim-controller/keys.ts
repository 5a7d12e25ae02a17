/** Keys of the queue: pods and claims share it. Contract: docs/behaviour/controllers/resourceclaim-controller.md. */
type Key = { readonly kind: 'pod' | 'claim'; readonly objectKey: string }

export function podKey(objectKey: string): string {
  return `pod:${objectKey}`
}

export function claimKey(objectKey: string): string {
  return `claim:${objectKey}`
}

export function parseKey(key: string): Key {
  const colon = key.indexOf(':')
  const kind = key.slice(0, colon) === 'pod' ? 'pod' : 'claim'
  return { kind, objectKey: key.slice(colon + 1) }
}
