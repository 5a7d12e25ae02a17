/** What the cloud says of a node. Contract: docs/behaviour/controllers/cloud-node-controller.md, Provider lookup. */
import type { Node, NodeAddress } from '@gyropilot/api'
import { NotImplemented, errorOfKind } from '@gyropilot/cloud-provider'
import type { CloudProvider, InstanceMetadata } from '@gyropilot/cloud-provider'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { askCloud } from '../cloud-support/cloud-calls.ts'
import { providerIdOf } from '../cloud-support/provider-id.ts'

type Answer<T> = Reconcile<Outcome<T>>

/** Undefined: the cloud does not answer for this node. */
export function* instanceMetadataOf(
  node: Node,
  provider: CloudProvider,
): Answer<InstanceMetadata | undefined> {
  if (provider.instancesV2 === undefined) return yield* fromOldInterface(node, provider)
  const found = yield* askCloud('instancesV2', 'instanceMetadata', node)
  if (!found.ok || found.object === undefined) return found
  const providerId = found.object.providerId || node.spec?.providerID
  if (!providerId)
    return failed(`cloud provider does not set node provider ID for node ${node.metadata?.name}`)
  return { ok: true, object: { ...found.object, providerId } }
}

/** Undefined: as of `instanceMetadataOf`. */
export function* nodeAddressesOf(
  node: Node,
  provider: CloudProvider,
): Answer<readonly NodeAddress[] | undefined> {
  if (provider.instancesV2 !== undefined) {
    const found = yield* askCloud('instancesV2', 'instanceMetadata', node)
    return found.ok ? { ok: true, object: found.object?.nodeAddresses } : found
  }
  const id = yield* knownProviderId(node, provider)
  return id.ok ? yield* addressesBy(id.object, node) : id
}

function* fromOldInterface(node: Node, provider: CloudProvider): Answer<InstanceMetadata> {
  const name = node.metadata?.name ?? ''
  const id = yield* knownProviderId(node, provider)
  if (!id.ok) return id
  const providerId = id.object
  const addresses = yield* addressesBy(providerId, node)
  if (!addresses.ok) return addresses
  const type = yield* firstOf(
    askCloud('instances', 'instanceTypeByProviderId', providerId),
    askCloud('instances', 'instanceType', name),
  )
  if (!type.ok) return type
  const metadata = { providerId, nodeAddresses: addresses.object, instanceType: type.object }
  if (provider.zones === undefined) return { ok: true, object: metadata }
  const zone = yield* firstOf(
    askCloud('zones', 'getZoneByProviderId', providerId),
    askCloud('zones', 'getZoneByNodeName', name),
  )
  if (!zone.ok) return zone
  const { failureDomain, region } = zone.object
  return { ok: true, object: { ...metadata, zone: failureDomain, region } }
}

/** Empty: the cloud has no such IDs. */
function* knownProviderId(node: Node, provider: CloudProvider): Answer<string> {
  const id = yield* providerIdOf(node, provider)
  if (!id.ok && errorOfKind(id.error, NotImplemented)) return { ok: true, object: '' }
  return id
}

function addressesBy(providerId: string, { metadata }: Node): Answer<readonly NodeAddress[]> {
  return firstOf(
    askCloud('instances', 'nodeAddressesByProviderId', providerId),
    askCloud('instances', 'nodeAddresses', metadata?.name ?? ''),
  )
}

/** What the second answers where the first fails. */
function* firstOf<T>(first: Answer<T>, second: Answer<T>): Answer<T> {
  const answer = yield* first
  return answer.ok ? answer : yield* second
}

function failed(message: string): { ok: false; error: Error; attempted: true } {
  return { ok: false, error: new Error(message), attempted: true }
}
