/** Keys of the queue: pods, PodGroups and claims share it. Contract: docs/behaviour/controllers/resourceclaim-controller.md. */
type Key = { readonly kind: 'pod' | 'podgroup' | 'claim'; readonly objectKey: string }

export function podKey(objectKey: string): string {
  return `pod:${objectKey}`
}

export function podGroupKey(objectKey: string): string {
  return `podgroup:${objectKey}`
}

export function claimKey(objectKey: string): string {
  return `claim:${objectKey}`
}

export function parseKey(key: string): Key {
  const colon = key.indexOf(':')
  return { kind: key.slice(0, colon) as Key['kind'], objectKey: key.slice(colon + 1) }
}
