/**
 * The Lease by which a server says that it is there, and the end of those of servers that are not.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "What the server itself keeps".
 */
import { createHash } from 'node:crypto'
import { every, formatMicroTime, uuid } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource, Timer } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { loggingFailures } from '../storage/own-writes.ts'
import type { KeptKind, Keeper } from './keeper.ts'

const LEASES: KeptKind = {
  collection: 'leases.coordination.k8s.io',
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
}
const NAMESPACE = 'kube-system'
const COMPONENT = 'kube-apiserver'
const COMPONENT_LABEL = 'apiserver.kubernetes.io/identity'
const ADDRESS_ANNOTATION = 'kubernetes.io/peer-advertise-address'
const DURATION_SECONDS = 3600
const RENEWAL_MS = 10_000
const SWEEP_MS = 3_600_000
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

interface IdentityLeaseOptions {
  readonly keeper: Keeper
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Of the machine. */
  readonly hostname: string
  readonly advertiseAddress: string
  readonly securePort: number
  /** All leases of the namespace. */
  readonly leases: () => readonly Stored[]
}

/** `apiserver-` and a hash of the machine's name: a server that is started again takes the place of its former life. */
export function serverIdentity(hostname: string): string {
  const parts = [hostname, COMPONENT].map((text) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text)])
  })
  const hash = createHash('sha256').update(Buffer.concat(parts)).digest()
  return `apiserver-${base32(hash.subarray(0, 16))}`
}

/** Until the timers are cancelled. The lease of a former life is deleted, so that watchers see that this one is another. */
export function keepIdentityLease(options: IdentityLeaseOptions): readonly Timer[] {
  const { keeper, clock, random, logger, hostname } = options
  const name = serverIdentity(hostname)
  const holder = `${name}_${uuid(random)}`
  const metadata = { name, namespace: NAMESPACE }
  if (keeper.get(LEASES, { metadata }) !== undefined) keeper.delete(LEASES, { metadata })
  const renew = (): void => renewLease(options, name, holder)
  const sweep = (): void => deleteExpired(options)
  renew()
  sweep()
  return [
    every(
      clock,
      RENEWAL_MS,
      loggingFailures(logger, 'Renewing the Lease of the server failed', renew),
    ),
    every(
      clock,
      SWEEP_MS,
      loggingFailures(logger, 'Deleting expired Leases of servers failed', sweep),
    ),
  ]
}

/** Who holds it and what else somebody wrote into it stays. */
function renewLease(
  { keeper, clock, hostname, advertiseAddress, securePort }: IdentityLeaseOptions,
  name: string,
  holderIdentity: string,
): void {
  const host = advertiseAddress.includes(':') ? `[${advertiseAddress}]` : advertiseAddress
  const labels = { [COMPONENT_LABEL]: COMPONENT, 'kubernetes.io/hostname': hostname }
  const annotations = { [ADDRESS_ANNOTATION]: `${host}:${securePort}` }
  const renewal = {
    leaseDurationSeconds: DURATION_SECONDS,
    renewTime: formatMicroTime(clock.nowMs()),
  }
  const metadata = { name, namespace: NAMESPACE }
  const stored = keeper.get(LEASES, { metadata })
  if (stored === undefined) {
    const object = { metadata: { ...metadata, labels, annotations }, spec: {} }
    keeper.create(LEASES, { ...object, spec: { holderIdentity, ...renewal } })
    return
  }
  const { metadata: known, spec } = stored
  keeper.replace(LEASES, {
    ...stored,
    metadata: {
      ...known,
      labels: { ...known.labels, ...labels },
      annotations: { ...known.annotations, ...annotations },
    },
    spec: { ...spec, ...renewal },
  })
}

function deleteExpired({ keeper, clock, leases }: IdentityLeaseOptions): void {
  for (const lease of leases()) {
    if (lease['metadata'].labels?.[COMPONENT_LABEL] !== COMPONENT) continue
    const { renewTime, leaseDurationSeconds } = lease['spec'] ?? {}
    const isLive =
      renewTime !== undefined &&
      leaseDurationSeconds !== undefined &&
      Date.parse(renewTime) + leaseDurationSeconds * 1000 >= clock.nowMs()
    if (!isLive) keeper.delete(LEASES, lease)
  }
}

/** Without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let pending = 0
  let bits = 0
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += ALPHABET[(pending >> (bits - 5)) & 31]
    pending &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET[(pending << (5 - bits)) & 31]
}
