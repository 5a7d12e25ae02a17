/** Whether a machine is there, and whether it is switched on. Contract: docs/behaviour/controllers/cloud-node-lifecycle-controller.md, Provider questions. */
import type { Node } from '@gyropilot/api'
import { InstanceNotFound, NotImplemented, errorOfKind } from '@gyropilot/cloud-provider'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { askCloud } from '../cloud-support/cloud-calls.ts'
import { providerIdOf } from '../cloud-support/provider-id.ts'

const NO: Outcome<boolean> = { ok: true, object: false }

export function* machineExists(node: Node, provider: CloudProvider): Reconcile<Outcome<boolean>> {
  if (provider.instancesV2 !== undefined)
    return yield* askCloud('instancesV2', 'instanceExists', node)
  const id = yield* providerIdOf(node, provider)
  // Here alone: an answer about a known ID that says "not found" is an error.
  if (!id.ok) return errorOfKind(id.error, InstanceNotFound) ? NO : id
  return yield* askCloud('instances', 'instanceExistsByProviderId', id.object)
}

export function* machineIsShutDown(
  node: Node,
  provider: CloudProvider,
): Reconcile<Outcome<boolean>> {
  if (provider.instancesV2 !== undefined)
    return yield* askCloud('instancesV2', 'instanceShutdown', node)
  const id = yield* providerIdOf(node, provider)
  if (!id.ok) return errorOfKind(id.error, InstanceNotFound) ? NO : id
  const answer = yield* askCloud('instances', 'instanceShutdownByProviderId', id.object)
  return !answer.ok && errorOfKind(answer.error, NotImplemented) ? NO : answer
}
