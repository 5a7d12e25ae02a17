import type { Pod } from '@gyropilot/api'
import type { NodeServices } from './node-services.ts'

const NO_RANGE =
  'network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized'

/** The address that the pod has from now on; undefined: it was over before its node had addresses to give. */
export async function takeAddress(
  { addresses, hostIp, recorder }: NodeServices,
  pod: Pod,
  life: AbortSignal,
  isOver: () => boolean,
): Promise<string | undefined> {
  if (pod.spec?.hostNetwork === true) return hostIp
  if (!addresses.isKnown)
    recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'NetworkNotReady',
      message: NO_RANGE,
    })
  const address = await addresses.take(life)
  if (!isOver()) return address ?? hostIp
  if (address !== undefined) addresses.release(address)
  return undefined
}
