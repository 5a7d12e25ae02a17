import type { Stored } from '@gyropilot/schema/objects'

/**
 * The pod that an endpoint leads to. Only what really is a pod of this namespace: who may write Endpoints or EndpointSlices must
 * not choose where the server connects to.
 */
export function endpointPod(
  { targetRef, addresses }: Stored,
  namespace: string,
  podNamed: (name: string) => Stored | undefined,
): Stored | undefined {
  if (targetRef?.kind !== 'Pod' || targetRef.namespace !== namespace) return undefined
  const pod = podNamed(targetRef.name)
  const own = pod?.['status']?.podIPs ?? []
  return own.some(({ ip }: Stored) => ip === addresses[0]) ? pod : undefined
}
