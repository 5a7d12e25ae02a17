import type { Node } from '@gyropilot/api'
import { InstanceNotFound, NotImplemented, errorOfKind } from '@gyropilot/cloud-provider'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { errorText } from '@gyropilot/foundation'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { askCloud } from './cloud-calls.ts'

/**
 * The provider ID that the old interface is asked by: the node's own, else one made of the provider's name and the instance.
 * InstanceNotFound and NotImplemented are handed on as they are.
 */
export function* providerIdOf(
  { metadata, spec }: Node,
  { name }: Pick<CloudProvider, 'name'>,
): Reconcile<Outcome<string>> {
  if (spec?.providerID) return { ok: true, object: spec.providerID }
  const instance = yield* askCloud('instances', 'instanceId', metadata?.name ?? '')
  if (instance.ok) return { ok: true, object: `${name}://${instance.object}` }
  if (isSpecial(instance.error)) return instance
  const message = `failed to get instance ID from cloud provider: ${errorText(instance.error)}`
  return { ...instance, error: new Error(message, { cause: instance.error }) }
}

function isSpecial(error: unknown): boolean {
  return (
    errorOfKind(error, InstanceNotFound) !== undefined ||
    errorOfKind(error, NotImplemented) !== undefined
  )
}
