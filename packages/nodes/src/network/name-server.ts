/** CoreDNS in a simulated pod, for pods that ask it: what the hosts plugin of its Corefile has. Contract: docs/behaviour/simulation/kubelet.md, Network. Pure. */
import type { Lookup, RecordType, Records } from '../shell/network.ts'

/** Addresses by full name, in lower case. */
export type Zone = ReadonlyMap<string, readonly string[]>

/** The Corefile that a command line names; undefined: it is no CoreDNS. */
export function corefileOf([program = '', ...args]: readonly string[]): string | undefined {
  if (!/(?:^|\/)coredns$/.test(program)) return undefined
  const at = args.findIndex((arg) => /^--?conf$/.test(arg))
  return (at === -1 ? undefined : args[at + 1]) ?? '/Corefile'
}

/** Rows within `hosts { ... }`; words of the plugin are no rows. */
export function zoneFrom(corefile: string): Zone {
  const zone = new Map<string, string[]>()
  for (const [, block = ''] of corefile.matchAll(/\bhosts\b[^{}\n]*\{([^{}]*)\}/g)) {
    for (const row of block.split('\n')) {
      const [address = '', ...names] = row.replace(/#.*/, '').trim().split(/\s+/)
      if (!/^[\d.]+$|:/.test(address)) continue
      for (const given of names) {
        const name = plain(given)
        zone.set(name, [...(zone.get(name) ?? []), address])
      }
    }
  }
  return zone
}

/** The first of the names, as a search list has it, that is there. */
export function lookupIn(zone: Zone, names: readonly string[]): Lookup {
  const found = names.map(plain).find((name) => zone.has(name))
  if (found === undefined) return { kind: 'unknown' }
  return { kind: 'found', name: found, addresses: zone.get(found)! }
}

export function recordsIn(zone: Zone, names: readonly string[], type: RecordType): Records {
  const found = lookupIn(zone, names)
  if (found.kind !== 'found') return { kind: 'unknown', records: [] }
  const { name, addresses } = found
  const records = addresses
    .filter((address) => type === (address.includes(':') ? 'AAAA' : 'A'))
    .map((data) => ({ name, type, data }))
  return { kind: 'found', records }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
