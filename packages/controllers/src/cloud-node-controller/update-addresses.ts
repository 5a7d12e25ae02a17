/** The addresses of one node. Contract: docs/behaviour/controllers/cloud-node-controller.md, Address update. */
import { resources } from '@gyropilot/api'
import type { Node, NodeAddress } from '@gyropilot/api'
import { patch, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { PROVIDED_IP } from './config.ts'
import { addressesForProvidedIp } from './provided-ip.ts'

/** Of a node that is initialised, to what its cloud reports. Answers the error, if there was one. */
export function* updateAddresses(
  node: Node,
  reported: readonly NodeAddress[] | undefined,
): Reconcile<unknown> {
  // 3.
  if (reported === undefined || reported.length === 0) return undefined
  let wanted: readonly NodeAddress[]
  try {
    wanted = wantedAddresses(node, reported)
  } catch (error) {
    return error
  }
  // 6.
  if (!addressesChanged(node.status?.addresses ?? [], wanted)) return undefined
  // 7.
  const value = { status: { addresses: [...wanted, { $patch: 'replace' }] } }
  const change = patch(resources.nodes, node, { type: 'strategic', value }, 'status')
  const written = yield* write(change)
  return written.ok ? undefined : written.error
}

function wantedAddresses(
  { metadata, status }: Node,
  reported: readonly NodeAddress[],
): readonly NodeAddress[] {
  // 4.
  const hasHostname = reported.some(isHostname)
  const all = hasHostname
    ? reported
    : [...reported, ...(status?.addresses ?? []).filter(isHostname)]
  // 5.
  const provided = metadata?.annotations?.[PROVIDED_IP]
  return provided === undefined ? all : addressesForProvidedIp(provided, all)
}

/** By count, and by the last stored address of each new one's type. */
export function addressesChanged(
  stored: readonly NodeAddress[],
  wanted: readonly NodeAddress[],
): boolean {
  if (stored.length !== wanted.length) return true
  const lastOfType = new Map(stored.map(({ type, address }) => [type, address]))
  return wanted.some(({ type, address }) => lastOfType.get(type) !== address)
}

function isHostname({ type }: NodeAddress): boolean {
  return type === 'Hostname'
}
