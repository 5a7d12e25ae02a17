import type { Pod } from '@gyropilot/api'
import type { NodeServices } from './node-services.ts'

const NO_RANGE =
  'network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized'

/** The addresses that the pod has from now on; undefined: it was over before its node had addresses to give. */
export async function takeAddresses(
  { addresses, hostIps, recorder }: NodeServices,
  pod: Pod,
  life: AbortSignal,
  isOver: () => boolean,
): Promise<readonly string[] | undefined> {
  if (pod.spec?.hostNetwork === true) return hostIps
  if (!addresses.isKnown)
    recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'NetworkNotReady',
      message: NO_RANGE,
    })
  const taken = await addresses.take(life)
  if (!isOver()) return taken ?? hostIps
  addresses.release(taken ?? [])
  return undefined
}
