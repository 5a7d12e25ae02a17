/** `nslookup NAME [SERVER]` as busybox has it: addresses only. */
import { hostAndPort } from '@gyropilot/api'
import type { Command } from '../shell/process.ts'

const DNS_PORT = 53

export const nslookup: Command = async ({ args, place, out, err }) => {
  const [name, server, ...more] = args
  if (name === undefined || name.startsWith('-') || more.length > 0) {
    place.onUnknown?.(`nslookup ${args.join(' ')}`)
    await err('nslookup: simulated containers know a name, and a server after it\n')
    return 1
  }
  const network = place.network!
  const asked = server ?? network.resolver
  const found = await network.lookup(name)
  if (found.kind === 'elsewhere') place.onUnknown?.(name)
  await out(`Server:\t\t${asked}\nAddress:\t${hostAndPort(asked, DNS_PORT)}\n\n`)
  if (found.kind !== 'found') {
    await out(`** server can't find ${name}: NXDOMAIN\n\n`)
    return 1
  }
  for (const address of found.addresses) await out(`Name:\t${found.name}\nAddress: ${address}\n`)
  await out('\n')
  return 0
}
