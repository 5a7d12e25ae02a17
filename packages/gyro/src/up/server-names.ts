/** By which names and addresses the API server is asked for besides the usual ones: they stand in its certificate. Pure. */
import type { networkInterfaces } from 'node:os'

interface Machine {
  readonly hostname: string
  readonly interfaces: ReturnType<typeof networkInterfaces>
}

/** Of an address that stands for all of the machine: its name and what its interfaces have. */
export function serverNames(
  bindAddress: string,
  { hostname, interfaces }: Machine,
): readonly string[] {
  if (bindAddress !== '0.0.0.0' && bindAddress !== '::') return [bindAddress]
  const addresses = Object.values(interfaces)
    .flatMap((own) => own ?? [])
    .filter(({ family }) => bindAddress === '::' || family === 'IPv4')
    .map(({ address }) => address)
    // Nobody can ask for these without the interface of their own machine.
    .filter((address) => !address.startsWith('fe80:'))
  // A name of digits alone would pass for an address.
  const names = /[a-z]/i.test(hostname) ? [hostname] : []
  return [...new Set([bindAddress, ...names, ...addresses])]
}
